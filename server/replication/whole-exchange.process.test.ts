import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errors } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { openPool, type PoolRequest } from '../outbox/http-pool.ts';
import { WholeExchange } from './whole-exchange.ts';

let server: Server;
let exchange: WholeExchange;
let connections = 0;

async function answering(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  open?: typeof openPool,
  idleMs = 10_000,
): Promise<WholeExchange> {
  connections = 0;
  server = createServer(answer).on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  exchange = new WholeExchange({
    origin: `http://127.0.0.1:${port}`,
    connections: 2,
    idleMs,
    keepMs: 4_000,
    maxAnswerBytes: 1_000,
    open,
  });
  return exchange;
}

afterEach(async () => {
  exchange.close(new Error('the test is over'));
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const get: PoolRequest = { method: 'GET', path: '/', headers: {} };

describe('an exchange with bodies in memory', () => {
  it('sends the body and the bytes of headers, and returns status, headers and text', async () => {
    const asked = await answering((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { url, headers } = request;
        response.writeHead(201, { etag: '"e"' });
        response.end([url, headers['content-length'], headers['x-amz-meta-a'], Buffer.concat(chunks)].join(' '));
      });
    });
    const body = Buffer.from('hello');
    const headers = { 'content-length': '5', 'x-amz-meta-a': 'Ã¼' };
    const answer = await asked.send({ method: 'PUT', path: '/b/k?versionId=1', headers, body });
    expect(answer).toMatchObject({ status: 201, headers: { etag: '"e"' } });
    expect(answer.text).toBe('/b/k?versionId=1 5 Ã¼ hello');
  });

  it('uses its connections again', async () => {
    const asked = await answering((_request, response) => response.end());
    for (let at = 0; at < 20; at += 1) await asked.send(get);
    expect(connections).toBeLessThanOrEqual(2);
  });

  it('returns a redirect as it is', async () => {
    const asked = await answering((_request, response) => response.writeHead(307, { location: '/elsewhere' }).end());
    expect(await asked.send(get)).toMatchObject({ status: 307, headers: { location: '/elsewhere' } });
  });

  it('returns a refusal that comes before the body was read', async () => {
    const asked = await answering((_request, response) =>
      response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>'),
    );
    const body = Buffer.alloc(8 * 1024 * 1024);
    const answer = await asked.send({ method: 'PUT', path: '/', headers: {}, body });
    expect(answer).toMatchObject({ status: 403, text: '<Error><Code>AccessDenied</Code></Error>' });
  });

  it('refuses an answer that is too long, and goes on', async () => {
    const asked = await answering((request, response) =>
      response.end('x'.repeat(request.url === '/long' ? 1_001 : 1_000)),
    );
    await expect(asked.send({ ...get, path: '/long' })).rejects.toThrow('longer than 1000 bytes');
    expect((await asked.send(get)).text).toHaveLength(1_000);
  });

  it('refuses an answer with a header that is too long', async () => {
    const asked = await answering((_request, response) => response.setHeader('x-long', 'x'.repeat(20_000)).end());
    await expect(asked.send(get)).rejects.toThrow('the header of its answer is longer than 16384 bytes');
  });

  it('rejects where the connection breaks before the answer', async () => {
    const asked = await answering((request) => request.socket.destroy());
    await expect(asked.send(get)).rejects.toThrow('it ended the connection before its answer');
  });

  it('says how long it waited for an answer', async () => {
    const asked = await answering(() => undefined, undefined, 100);
    await expect(asked.send(get)).rejects.toThrow('it did not answer within 100 ms');
  });

  it('says how long it waited for the rest of an answer', async () => {
    const asked = await answering((_request, response) => response.write('a part'), undefined, 100);
    await expect(asked.send(get)).rejects.toThrow('it did not continue its answer within 100 ms');
  });

  it('says how long it waited for a connection', async () => {
    const late = new errors.ConnectTimeoutError();
    const asked = await answering(
      () => undefined,
      (origin, options) => openPool(origin, { ...options, connect: (_options, callback) => callback(late, null) }),
    );
    await expect(asked.send(get)).rejects.toThrow('it did not take a connection within 10 s');
  });

  it('opens its connections again after it could not', async () => {
    let tries = 0;
    const asked = await answering(
      (_request, response) => response.end('served'),
      (origin, options) => {
        tries += 1;
        return tries === 1 ? Promise.reject(new Error('not now')) : openPool(origin, options);
      },
    );
    await expect(asked.send(get)).rejects.toThrow('not now');
    expect((await asked.send(get)).text).toBe('served');
  });

  it('ends a request at its signal', async () => {
    const stop = new AbortController();
    const asked = await answering(() => stop.abort(new Error('stopped')));
    await expect(asked.send({ ...get, signal: stop.signal })).rejects.toThrow('stopped');
    await expect(asked.send({ ...get, signal: stop.signal })).rejects.toThrow('stopped');
  });

  it('ends all requests when it is closed, and takes no more', async () => {
    const asked = await answering(() => asked.close(new Error('closed')));
    await expect(asked.send(get)).rejects.toThrow('closed');
    await expect(asked.send(get)).rejects.toThrow('closed');
  });
});
