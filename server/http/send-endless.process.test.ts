import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { sendEndless } from './send-answer.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

type Chunks = (signal: AbortSignal) => AsyncIterable<Buffer>;

/** Asks a server that answers with these pieces; `sent` settles as `sendEndless` does. */
async function ask(chunks: Chunks, beatMs?: number) {
  const sent = Promise.withResolvers<void>();
  // The test checks the failure after it has read the answer.
  sent.promise.catch(() => undefined);
  const server = createServer((_request, response: ServerResponse) => {
    response.writeHead(200);
    sendEndless(response, { chunks }, beatMs).then(sent.resolve, sent.reject);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const outgoing = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }).end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { answer, sent: sent.promise };
}

describe('an answer without an end', () => {
  it('begins before there is a line, with spaces in between', async () => {
    const { answer } = await ask(async function* (signal) {
      await once(signal, 'abort');
      yield Buffer.alloc(0);
    }, 10);
    const [first] = (await once(answer, 'data')) as [Buffer];
    expect(first.toString()).toMatch(/^ +$/);
    answer.destroy();
  });

  it('sends chunks as they come, and ends when there are no more', async () => {
    const { answer, sent } = await ask(async function* () {
      yield Buffer.from('{"a":1}\n');
      await Promise.resolve();
      yield Buffer.from('{"b":2}\n');
    });
    const text = (await answer.toArray()).join('');
    expect(text).toBe('{"a":1}\n{"b":2}\n');
    await sent;
  });

  it('aborts the source when the client disconnects', async () => {
    const told = Promise.withResolvers<void>();
    const { answer, sent } = await ask(async function* (signal) {
      yield Buffer.from('x\n');
      await once(signal, 'abort');
      told.resolve();
    });
    await once(answer, 'data');
    answer.destroy();
    await told.promise;
    await sent;
  });

  it('asks for no more than a client takes', async () => {
    let asked = 0;
    const { answer, sent } = await ask(async function* (signal) {
      for (; !signal.aborted; asked += 1) yield Buffer.alloc(256 * 1024);
    });
    // Nothing is read: what the system buffers is all that was asked for.
    let before = -1;
    while (before !== asked) {
      before = asked;
      await sleep(200);
    }
    expect(asked).toBeLessThan(200);
    answer.destroy();
    await sent;
  });

  it('cuts the connection where the source fails', async () => {
    const { answer, sent } = await ask(async function* () {
      yield Buffer.from('x\n');
      await Promise.reject(new Error('broken'));
    });
    await expect(answer.toArray()).rejects.toThrow('aborted');
    await expect(sent).rejects.toThrow('broken');
  });
});
