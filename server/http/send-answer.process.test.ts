import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Chunks } from '../streams/chunks.ts';
import { sendChunks } from './send-answer.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

const pieceBytes = 512 * 1024;

/** Pieces in one buffer that is filled anew for each, with the piece's number. */
class OneBuffer implements Chunks<'lent'> {
  readonly ownership = 'lent';
  readonly count: number;
  readonly #buffer = Buffer.alloc(pieceBytes);
  given = 0;
  closed = 0;

  constructor(count: number) {
    this.count = count;
  }

  async next(): Promise<Buffer | undefined> {
    this.#buffer.fill(0xff);
    await sleep(0);
    if (this.given === this.count) return undefined;
    this.given += 1;
    return this.#buffer.fill(this.given);
  }

  close(): Promise<void> {
    this.#buffer.fill(0xff);
    this.closed += 1;
    return Promise.resolve();
  }
}

/** Serves these pieces once; the promise is of what `sendChunks` made of it. */
async function serve(chunks: Chunks, size: number) {
  const outcome = Promise.withResolvers<string>();
  const answer = async (response: ServerResponse) => {
    await sendChunks(response, { chunks, size }, () => response.writeHead(200, ['content-length', String(size)]));
  };
  const server = createServer((_request, response) => {
    answer(response).then(
      () => outcome.resolve('sent'),
      (error: Error) => outcome.resolve(error.message),
    );
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { port: (server.address() as AddressInfo).port, outcome: outcome.promise };
}

/** A client that asks and then reads nothing; it resolves when the server sends no more. */
async function deafClient(port: number, chunks: OneBuffer) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  for (let before = 0; before === 0 || before !== chunks.given;) {
    before = chunks.given;
    await sleep(100);
  }
  return socket;
}

describe('pieces that are sent', () => {
  it('arrive whole from a buffer that is filled anew for each', async () => {
    const { port } = await serve(new OneBuffer(40), 40 * pieceBytes);
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    const expected = Buffer.concat(Array.from({ length: 40 }, (_, n) => Buffer.alloc(pieceBytes, n + 1)));
    expect(Buffer.from(await answer.arrayBuffer()).equals(expected)).toBe(true);
  });

  it('are closed once all were handed over', async () => {
    const chunks = new OneBuffer(3);
    const { port, outcome } = await serve(chunks, 3 * pieceBytes);
    await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
    expect([await outcome, chunks.closed]).toEqual(['sent', 1]);
  });

  it('are not asked for while the client does not read', async () => {
    const chunks = new OneBuffer(1_000);
    const { port } = await serve(chunks, 1_000 * pieceBytes);
    (await deafClient(port, chunks)).destroy();
    // The system buffers a few MiB.
    expect(chunks.given).toBeLessThan(100);
  });

  it('are closed when the client goes away before it has read them', async () => {
    const chunks = new OneBuffer(1_000);
    const { port, outcome } = await serve(chunks, 1_000 * pieceBytes);
    (await deafClient(port, chunks)).destroy();
    expect([await outcome, chunks.closed]).toEqual(['sent', 1]);
  });

  it('are closed only when the piece that was asked for has come', async () => {
    const steps: string[] = [];
    const asked = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const chunks: Chunks = {
      ownership: 'lent',
      async next() {
        asked.resolve();
        await arrived.promise;
        steps.push('read');
        return Buffer.alloc(1);
      },
      close() {
        steps.push('closed');
        return Promise.resolve();
      },
    };
    const { port, outcome } = await serve(chunks, 2);
    const client = connect(port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await asked.promise;
    client.destroy();
    await sleep(50);
    arrived.resolve();
    await outcome;
    expect(steps).toEqual(['read', 'closed']);
  });

  it.each([
    ['fewer', 3 * pieceBytes, `the body ended after ${2 * pieceBytes} of ${3 * pieceBytes} bytes`],
    ['more', pieceBytes + 1, `the body has more than the ${pieceBytes + 1} bytes that were announced`],
  ])('cut the connection where they are %s than announced', async (_name, size, message) => {
    const chunks = new OneBuffer(2);
    const { port, outcome } = await serve(chunks, size);
    await expect(fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.arrayBuffer())).rejects.toThrow();
    expect([await outcome, chunks.closed]).toEqual([message, 1]);
  });
});
