import { once } from 'node:events';
import { Agent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { issueCertificate, makeCa } from '../../../platform/tls/issue-certificate.ts';
import { type BodySink, receiveDirectly } from './direct-body.ts';

let server: Server | undefined;
afterEach(() => server?.close());

const agent = new Agent();

/** Requests 10 bytes of a server that answers as the test says, and returns what the sink got. */
async function receive(
  answer: (socket: Socket, request: string) => void,
  options: { readonly sink?: BodySink; readonly signal?: AbortSignal; readonly status?: 200 | 206 } = {},
) {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => answer(socket, bytes.toString()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outgoing = { secure: false, host, method: 'GET', target: '/a?b', headers: { host, 'x-a': 'b' } };
  const taken: string[] = [];
  const headers: unknown[] = [];
  const expected = {
    status: options.status ?? 200,
    length: 10,
    onHeaders: (one: object) => headers.push(one),
  } as const;
  const sink: BodySink = (bytes) => {
    taken.push(bytes.toString());
    return options.sink?.(bytes);
  };
  const signal = options.signal ?? new AbortController().signal;
  const received = await receiveDirectly(outgoing, agent, signal, expected, sink);
  return { received, body: taken.join(''), headers };
}

const head = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-C: d\r\n\r\n';

describe('a body that is received directly', () => {
  it('reaches the sink with the headers', async () => {
    let request = '';
    const answer = await receive((socket, text) => {
      request = text;
      socket.write(`${head}0123456789`);
    });
    expect(answer).toEqual({ received: 10, body: '0123456789', headers: [{ 'content-length': '10', 'x-c': 'd' }] });
    expect(request).toMatch(/^GET \/a\?b HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\nx-a: b\r\nconnection: close\r\n\r\n$/);
  });

  it('may come in many parts', async () => {
    const { received, body } = await receive((socket) => {
      void (async () => {
        for (const byte of `${head}0123456789`) {
          socket.write(byte);
          await sleep(1);
        }
      })();
    });
    expect([received, body]).toEqual([10, '0123456789']);
  });

  it('waits for a sink that is busy', async () => {
    let busy = 0;
    const { received, body } = await receive(
      (socket) => {
        socket.setNoDelay().write(`${head}01`);
        setTimeout(() => socket.write('2345'), 20);
        setTimeout(() => socket.write('6789'), 40);
      },
      {
        sink: async () => {
          busy += 1;
          expect(busy).toBe(1);
          await sleep(30);
          busy -= 1;
        },
      },
    );
    expect([received, body]).toEqual([10, '0123456789']);
  });

  it('is cut at the expected length', async () => {
    expect((await receive((socket) => socket.write(`${head}0123456789abc`))).body).toBe('0123456789');
  });

  it.each([
    ['another status', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 10\r\n\r\n0123456789'],
    ['another length', 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n01234567890'],
    [
      'chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n',
    ],
    ['an answer before it', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789'],
    ['another protocol', 'HTTP/1.0 200 OK\r\nContent-Length: 10\r\n\r\n0123456789'],
    ['a line without a name', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\nnonsense\r\n\r\n0123456789'],
    ['no answer', ''],
  ])('is left to the ordinary way with %s', async (_, text) => {
    expect(await receive((socket) => socket.end(text))).toEqual({ received: 0, body: '', headers: [] });
  });

  it('tells how much came before the connection broke', async () => {
    expect(await receive((socket) => socket.end(`${head}0123`))).toMatchObject({ received: 4, body: '0123' });
    // A reset before the client has read would take the bytes from it.
    const came = Promise.withResolvers<void>();
    const reset = (socket: Socket) => {
      socket.write(`${head}0123`);
      void came.promise.then(() => socket.resetAndDestroy());
    };
    const sink = () => {
      came.resolve();
      return undefined;
    };
    expect(await receive(reset, { sink })).toMatchObject({ received: 4, body: '0123' });
  });

  it('ends with the command', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const { received } = await receive((socket) => socket.write(`${head}01`), {
      signal,
      sink: () => {
        setTimeout(() => controller.abort(), 5);
        return undefined;
      },
    });
    expect(received).toBe(2);
    expect((await receive(() => undefined, { signal })).received).toBe(0);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no space');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('no space'))],
  ])('fails when the sink %s', async (_, sink) => {
    await expect(receive((socket) => socket.write(`${head}0123`), { sink })).rejects.toThrow('no space');
  });
});

describe('a large body over TLS', () => {
  const whole = Buffer.from(Uint32Array.from({ length: 2 ** 20 }, (_, index) => index).buffer);

  /** Requests the body from a server that ends the connection after it; the sink takes a while for each part. */
  async function receiveSlowly(): Promise<{ readonly received: number; readonly body: Buffer; readonly most: number }> {
    const issuer = await makeCa({ commonName: 'someone', validForMs: 3_600_000 });
    const issued = await issueCertificate({ commonName: 'server', issuer, validForMs: 3_600_000 });
    const answers = createTlsServer({ cert: issued.certPem, key: issued.keyPem }, (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () =>
        socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${whole.length}\r\n\r\n`), whole])),
      );
    });
    server = answers;
    await once(answers.listen(0, '127.0.0.1'), 'listening');
    const host = `127.0.0.1:${(answers.address() as AddressInfo).port}`;
    const outgoing = { secure: true, host, method: 'GET', target: '/', headers: { host } };
    const parts: Buffer[] = [];
    let [busy, max] = [0, 0];
    const received = await receiveDirectly(
      outgoing,
      new HttpsAgent({ rejectUnauthorized: false }),
      new AbortController().signal,
      { status: 200, length: whole.length },
      async (bytes) => {
        busy += 1;
        max = Math.max(max, busy);
        await sleep(parts.length % 8 === 0 ? 5 : 0);
        parts.push(Buffer.from(bytes));
        busy -= 1;
      },
    );
    return { received, body: Buffer.concat(parts), most: max };
  }

  it('comes whole, part by part, to a sink that is busy', async () => {
    const { received, body, most: max } = await receiveSlowly();
    expect([received, max]).toEqual([whole.length, 1]);
    expect(body.equals(whole)).toBe(true);
  });
});
