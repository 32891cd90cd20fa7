import { once } from 'node:events';
import { connect as connectTcp, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { issueCertificate, makeCa } from '../../platform/tls/issue-certificate.ts';
import { cipherSuites } from '../../platform/tls/tls-files.ts';
import { type RequestHandler, readWholeBody } from './contract/request.ts';
import { createS3Server } from './s3-server.ts';
import { createRequestListener } from './request-listener.ts';

const nextRequestId = () => '0123456789ABCDEF';
const head = (method: string, more = '') => `${method} /object HTTP/1.1\r\nHost: test\r\n${more}\r\n`;

async function* endless(signal: AbortSignal) {
  if (!signal.aborted) await once(signal, 'abort');
  yield Buffer.alloc(0);
}

/** Answers with the body of the request, not before the end of the connection's other half has arrived; that of DELETE has no end. */
const handle: RequestHandler = async ({ body, method }) => {
  const bytes = await readWholeBody(body, { maxBytes: 1 << 20, tooLarge: () => new Error('too large') });
  await sleep(50);
  const answer = { status: 200, headers: {} };
  if (method !== 'DELETE')
    return { ...answer, body: { kind: 'bytes', bytes: Buffer.from(`${method}:${bytes.toString()};`) } };
  return { ...answer, body: { kind: 'endless', chunks: endless } };
};

const kinds = ['HTTP', 'HTTPS'] as const;
type Kind = (typeof kinds)[number];
const servers: ReturnType<typeof createS3Server>[] = [];
const ports = { HTTP: 0, HTTPS: 0 };

beforeAll(async () => {
  const log = createLogger({ name: 'test', level: 'silent' });
  const validForMs = 3_600_000;
  const issuer = await makeCa({ commonName: 'test ca', validForMs });
  const { certPem, keyPem } = await issueCertificate({
    commonName: 'test',
    issuer,
    ipAddresses: ['127.0.0.1'],
    validForMs,
  });
  for (const kind of kinds) {
    const secure = kind === 'HTTPS';
    const listener = createRequestListener({ handle, secure, nextRequestId, log });
    const tls = secure
      ? {
          tls: {
            cert: Buffer.from(certPem),
            key: Buffer.from(keyPem),
            minVersion: 'TLSv1.2' as const,
            ciphers: cipherSuites,
          },
        }
      : {};
    const made = createS3Server({ listener, nextRequestId, ...tls });
    servers.push(made);
    made.server.listen(0, '127.0.0.1');
    await once(made.server, 'listening');
    ports[kind] = (made.server.address() as AddressInfo).port;
  }
});
afterAll(() => Promise.all(servers.map(({ connections }) => connections.drain(0))));

/** Sends bytes, closes the sending half, and returns what arrives before the server closes its half. */
async function send(kind: Kind, request: string): Promise<string> {
  const options = { port: ports[kind], host: '127.0.0.1', allowHalfOpen: true };
  const socket: Socket = kind === 'HTTP' ? connectTcp(options) : connectTls({ ...options, rejectUnauthorized: false });
  await once(socket, kind === 'HTTP' ? 'connect' : 'secureConnect');
  socket.end(request);
  return text(socket);
}

describe.each(kinds)('a client that closes its sending half (%s)', (kind) => {
  it('gets the answer to its request', async () => {
    expect(await send(kind, head('GET'))).toMatch(/^HTTP\/1\.1 200 [^]*GET:;$/);
  });

  it('gets the answer to its upload', async () => {
    expect(await send(kind, `${head('PUT', 'Content-Length: 5\r\n')}hello`)).toMatch(/^HTTP\/1\.1 200 [^]*PUT:hello;$/);
  });

  it('gets the answers to all requests that it has sent', async () => {
    const received = await send(kind, `${head('PUT', 'Content-Length: 1\r\n')}1${head('GET')}${head('GET')}`);
    expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
  });

  it('is told that its body is not whole', async () => {
    expect(await send(kind, `${head('PUT', 'Content-Length: 9\r\n')}hello`)).toMatch(
      /^HTTP\/1\.1 400 [^]*<Code>IncompleteBody</,
    );
  });

  it('is told that its head is not whole', async () => {
    expect(await send(kind, 'GET / HTTP/1.1\r\nHost')).toMatch(/^HTTP\/1\.1 400 [^]*<Code>InvalidRequest</);
  });

  it('ends an answer that has no end', async () => {
    expect(await send(kind, head('DELETE'))).toMatch(/^HTTP\/1\.1 200 [^]*\r\n0\r\n\r\n$/);
  });

  it('has its connection closed if it has sent nothing', async () => {
    expect(await send(kind, '')).toBe('');
  });
});
