import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { connectRaw, sendRaw } from '../../test/support/process/raw-http.ts';
import { type Answer, type IncomingRequest, type RequestHandler, readWholeBody } from './contract/request.ts';
import { createS3Server } from './s3-server.ts';
import { createRequestListener } from './request-listener.ts';

const servers: ReturnType<typeof createS3Server>[] = [];
afterEach(() => Promise.all(servers.splice(0).map(({ connections }) => connections.drain(0))));

const nextRequestId = () => '0123456789ABCDEF';

async function serve(handle: RequestHandler): Promise<string> {
  const log = createLogger({ name: 'test', level: 'silent' });
  const listener = createRequestListener({ handle, secure: false, nextRequestId, log });
  const made = createS3Server({ listener, nextRequestId });
  servers.push(made);
  await new Promise<void>((resolve) => {
    made.server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(made.server.address() as AddressInfo).port}`;
}

const text = (body: string): Answer => ({
  status: 200,
  headers: {},
  body: { kind: 'bytes', bytes: Buffer.from(body) },
});
const readWhole = ({ body }: IncomingRequest) =>
  readWholeBody(body, { maxBytes: 1 << 20, tooLarge: () => new Error('too large') });

/** A store of one value, which is slow to write: `PUT` sets it, `GET` reads it, `/refused` and `/read` refuse. */
function slowStore(): { handle: RequestHandler; readonly running: () => number } {
  let value = 'nothing';
  let running = 0;
  let max = 0;
  const handle: RequestHandler = async (request) => {
    running += 1;
    max = Math.max(max, running);
    try {
      if (request.rawPath === '/refused') throw new S3Error('AccessDenied');
      const body = request.method === 'PUT' ? (await readWhole(request)).toString() : '';
      await sleep(5);
      if (request.method === 'PUT') value = body;
      return text(`${request.rawPath}=${value};`);
    } finally {
      running -= 1;
    }
  };
  return { handle, running: () => max };
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: test\r\n${more}\r\n`;
const put = (path: string, body: string) =>
  `PUT ${path} HTTP/1.1\r\nHost: test\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const statuses = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
const last = 'Connection: close\r\n';

describe('pipelined requests', () => {
  it('run one after the other, and are answered in order', async () => {
    const { handle, running } = slowStore();
    const connection = connectRaw(await serve(handle));
    connection.send(put('/1', 'a') + get('/2') + put('/3', 'b') + get('/4') + get('/5', last));
    const { head, body } = await connection.closed();
    const received = head + body;
    expect(received.match(/\/\d=\w+;/g)).toEqual(['/1=a;', '/2=a;', '/3=b;', '/4=b;', '/5=b;']);
    expect(running()).toBe(1);
  });

  it('are not harmed by one that is refused, with or without its body', async () => {
    const connection = connectRaw(await serve(slowStore().handle));
    const large = 'x'.repeat(100_000);
    connection.send(
      put('/1', 'a') + get('/refused') + get('/2') + put('/refused', large) + put('/3', large) + get('/4', last),
    );
    const { head, body } = await connection.closed();
    expect(statuses(head + body)).toEqual([200, 403, 200, 403, 200, 200]);
    expect(body).toContain(`/4=${large};`);
  });

  it('are answered before one that is malformed', async () => {
    const connection = connectRaw(await serve(slowStore().handle));
    connection.send(`${put('/1', 'a')}${get('/2')}NONSENSE\r\n\r\n`);
    const { head, body } = await connection.closed();
    expect(statuses(head + body)).toEqual([200, 200, 400]);
  });

  it('end with one that closes the connection', async () => {
    const connection = connectRaw(await serve(slowStore().handle));
    connection.send(put('/1', 'a') + get('/2', last) + put('/3', 'b'));
    const { head, body } = await connection.closed();
    expect(statuses(head + body)).toEqual([200, 200]);
  });

  it('are limited in number: the first are answered, and the connection is closed', async () => {
    const { handle } = slowStore();
    const connection = connectRaw(await serve(handle));
    connection.send(get('/1').repeat(1_000));
    const { head, body } = await connection.closed();
    const answered = statuses(head + body);
    expect(answered.length).toBeGreaterThan(50);
    expect(answered.length).toBeLessThanOrEqual(101);
    expect((head + body).split(/connection: close/i)).toHaveLength(2);
  });

  it('wait on their own connection alone', async () => {
    const first = Promise.withResolvers<void>();
    const url = await serve(async ({ rawPath }) => {
      if (rawPath === '/slow') await first.promise;
      return text(`${rawPath};`);
    });
    const connection = connectRaw(url);
    connection.send(get('/slow') + get('/after', last));
    expect(await (await fetch(`${url}/other`)).text()).toBe('/other;');
    first.resolve();
    const { head, body } = await connection.closed();
    expect((head + body).match(/\/\w+;/g)).toEqual(['/slow;', '/after;']);
  });

  it('do not run when their connection is gone', async () => {
    const first = Promise.withResolvers<void>();
    const seen: string[] = [];
    const url = await serve(async ({ rawPath }) => {
      seen.push(rawPath);
      if (rawPath === '/slow') await first.promise;
      return text('x');
    });
    const connection = connectRaw(url);
    connection.send(get('/slow') + get('/after'));
    await expect.poll(() => seen).toEqual(['/slow']);
    connection.socket.resetAndDestroy();
    await sleep(50);
    first.resolve();
    await sleep(50);
    expect(seen).toEqual(['/slow']);
  });
});

async function* twoLines() {
  yield await Promise.resolve(Buffer.from('one\n'));
  yield Buffer.from('two\n');
}

const old = (method: string, path: string, more = '') => `${method} ${path} HTTP/1.0\r\n${more}\r\n`;

describe('HTTP/1.0', () => {
  it('needs no host, and ends the connection', async () => {
    const { head, body } = await sendRaw(await serve(() => Promise.resolve(text('hello'))), old('GET', '/b'));
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(head.toLowerCase()).toContain('connection: close');
    expect(head.toLowerCase()).not.toContain('transfer-encoding');
    expect(body).toBe('hello');
  });

  it('keeps the connection where the client asks for it', async () => {
    const connection = connectRaw(await serve(({ rawPath }) => Promise.resolve(text(`${rawPath};`))));
    connection.send(old('GET', '/1', 'Connection: keep-alive\r\n'));
    expect((await connection.until('/1;')).toLowerCase()).toContain('connection: keep-alive');
    connection.send(old('GET', '/2'));
    expect((await connection.closed()).body).toContain('/2;');
  });

  it('gets answers of unknown length without chunks', async () => {
    const url = await serve(() =>
      Promise.resolve({ status: 200, headers: {}, body: { kind: 'endless', chunks: () => twoLines() } }),
    );
    const { head, body } = await sendRaw(url, old('GET', '/b', 'Connection: keep-alive\r\n'));
    expect(head.toLowerCase()).not.toContain('transfer-encoding');
    expect(body).toBe('one\ntwo\n');
  });

  it('is not told to continue', async () => {
    const url = await serve(async (request) => text((await readWhole(request)).toString()));
    const { head, body } = await sendRaw(url, `${old('PUT', '/b', 'Expect: 100-continue\r\nContent-Length: 2\r\n')}hi`);
    expect(head).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(body).toBe('hi');
  });
});

describe('Expect: 100-continue', () => {
  const expecting = `PUT /b HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`;

  it('is refused before the body is sent', async () => {
    const connection = connectRaw(await serve(() => Promise.reject(new S3Error('AccessDenied'))));
    connection.send(expecting);
    const answer = await connection.until('\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).not.toContain('100 Continue');
    connection.socket.destroy();
  });

  it('waits for its turn among pipelined requests', async () => {
    const { handle } = slowStore();
    const connection = connectRaw(await serve(handle));
    connection.send(put('/1', 'a') + expecting);
    const before = await connection.until('100 Continue');
    expect(before.indexOf('/1=a;')).toBeGreaterThan(0);
    expect(before.indexOf('100 Continue')).toBeGreaterThan(before.indexOf('/1=a;'));
    connection.send('hello');
    await connection.until('/b=hello;');
    connection.send(get('/2', last));
    expect((await connection.closed()).body).toContain('/2=hello;');
  });
});
