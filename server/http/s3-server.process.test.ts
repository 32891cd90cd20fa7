import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { ownChunks } from '../streams/chunks.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { connectRaw, sendRaw } from '../../test/support/process/raw-http.ts';
import { type Answer, type RequestHandler, type IncomingRequest, readWholeBody } from './contract/request.ts';
import { createS3Server } from './s3-server.ts';
import { chunksOf } from '../objects/contract/body-source.ts';
import { createRequestListener } from './request-listener.ts';
import { answerFailure } from '../process/dispatch.ts';

const servers: ReturnType<typeof createS3Server>[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(servers.splice(0).map(({ connections }) => connections.drain(0)));
});

const nextRequestId = () => '0123456789ABCDEF';

async function serve(
  handle: RequestHandler,
  crossOrigin?: (request: IncomingRequest) => Promise<Record<string, string>>,
): Promise<string> {
  const log = createLogger({ name: 'test', level: 'silent' });
  const listener = createRequestListener({
    handle,
    answerFailure,
    secure: false,
    nextRequestId,
    log,
    ...(crossOrigin && { crossOrigin }),
  });
  const made = createS3Server({ listener, nextRequestId });
  servers.push(made);
  const { server } = made;
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function readAll(request: IncomingRequest): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunksOf(request.body)));
}

const readWhole = ({ body }: IncomingRequest) =>
  readWholeBody(body, { maxBytes: 1_000, tooLarge: () => new Error('too large') });

const text = (body: string, status = 200): Answer => ({
  status,
  headers: {},
  body: { kind: 'bytes', bytes: Buffer.from(body) },
});
const refuse: RequestHandler = () => Promise.reject(new S3Error('AccessDenied'));
const head = (method: string, more = '') => `${method} /b/k HTTP/1.1\r\nHost: test\r\nConnection: close\r\n${more}\r\n`;

const streaming =
  (size: number, chunks: () => AsyncGenerator<Buffer>): RequestHandler =>
  () =>
    Promise.resolve({ status: 200, headers: {}, body: { kind: 'chunks', size, chunks: ownChunks(chunks()) } });

describe('a page on another origin', () => {
  const crossOrigin = vi.fn(() =>
    Promise.resolve({ 'access-control-allow-origin': 'https://app.example', vary: 'Origin' }),
  );
  const headers = { origin: 'https://app.example' };

  it.each([
    ['an answer', () => Promise.resolve(text('hello')), 200],
    [
      'a body in chunks',
      streaming(5, async function* () {
        yield Buffer.from('hello');
      }),
      200,
    ],
    ['a refusal', refuse, 403],
    ['a defect', () => Promise.reject(new Error('defect')), 500],
  ] as const)('gets its headers with %s', async (_, handle, status) => {
    const answer = await fetch(`${await serve(handle, crossOrigin)}/b/k`, { headers });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, headers.origin]);
    expect(answer.headers.get('vary')).toBe('Origin');
  });

  it.each([
    ['an answer', () => Promise.resolve(text('hello')), 200],
    ['a refusal', refuse, 403],
    ['a defect', () => Promise.reject(new Error('defect')), 500],
  ] as const)('is named by Vary to a cache that keeps %s to a request without an origin', async (_, handle, status) => {
    const answer = await fetch(`${await serve(handle, crossOrigin)}/b/k`);
    expect([answer.status, answer.headers.get('vary')]).toEqual([status, expect.stringMatching(/^Origin,/)]);
    const ofNoPage = await fetch(`${await serve(handle)}/b/k`);
    expect(ofNoPage.headers.get('vary')).toBeNull();
  });

  it('costs a request without an origin nothing', async () => {
    crossOrigin.mockClear();
    const answer = await fetch(`${await serve(refuse, crossOrigin)}/b/k`);
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
    expect(crossOrigin).not.toHaveBeenCalled();
  });
});

describe('answers', () => {
  it('carry ids, length and the name of the server', async () => {
    const url = await serve(() => Promise.resolve(text('hello')));
    const answer = await fetch(`${url}/b/k`);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-length': '5',
      server: 'Coffer',
      'x-amz-id-2': 'coffer',
      'x-amz-request-id': '0123456789ABCDEF',
    });
  });

  it('to HEAD have the length of the answer to GET, and no body', async () => {
    const url = await serve(() => Promise.resolve(text('hello')));
    const answer = await sendRaw(url, head('HEAD'));
    expect(answer).toMatchObject({ status: 200, body: '' });
    expect(answer.head).toContain('content-length: 5');
  });

  it('of refused HEAD requests have no body', async () => {
    const answer = await sendRaw(await serve(refuse), head('HEAD'));
    expect(answer).toMatchObject({ status: 403, body: '' });
  });

  it('name code, message, resource and request of a refusal', async () => {
    const answer = await fetch(`${await serve(refuse)}/b/k`);
    expect(await answer.text()).toMatch(
      /<Error><Code>AccessDenied<\/Code><Message>Access Denied\.<\/Message>.*<Resource>\/b\/k<\/Resource><RequestId>0123456789ABCDEF<\/RequestId>/,
    );
  });

  it('are JSON for a refusal below the admin path', async () => {
    const answer = await fetch(`${await serve(refuse)}/minio/admin/v3/info`);
    expect(await answer.json()).toMatchObject({ Code: 'AccessDenied', RequestId: '0123456789ABCDEF' });
  });

  it('to a defect reveal nothing of it', async () => {
    const url = await serve(() => Promise.reject(new TypeError('secret of the inside')));
    const answer = await fetch(`${url}/b/k`);
    expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining('secret')]);
  });
});

const withHeader =
  (value: string): RequestHandler =>
  () =>
    Promise.resolve({ status: 200, headers: { 'x-amz-meta-note': value }, body: { kind: 'empty' } });

describe('heads of answers', () => {
  it.each(['a\r\nx-forged: 1', 'a\nb', 'a\u0000b', 'a\u0100b'])('never carry %j', async (value) => {
    const answer = await sendRaw(await serve(withHeader(value)), head('GET'));
    expect(answer.status).toBe(500);
    expect(answer.head).not.toContain('x-amz-meta-note');
  });

  it('carry bytes beyond ASCII as they came, beside a body of any bytes', async () => {
    const body = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const url = await serve(() =>
      Promise.resolve({
        status: 200,
        headers: { 'x-amz-meta-note': 'gr\u00fc\u00df' },
        body: { kind: 'bytes', bytes: body },
      }),
    );
    const answer = await fetch(url);
    expect(answer.headers.get('x-amz-meta-note')).toBe('gr\u00fc\u00df');
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(body);
  });

  it('end the connection of a server that closes, and say so once', async () => {
    const url = await serve(() => Promise.resolve(text('hello')));
    servers[0]?.connections.startClosing();
    const answer = await sendRaw(url, 'GET /b/k HTTP/1.1\r\nHost: test\r\n\r\n');
    expect(answer.head.toLowerCase().split('connection: ')).toEqual([
      expect.any(String),
      expect.stringMatching(/^close/),
    ]);
  });
});

describe('bodies in memory', () => {
  it.each([0, 1, 4_096, 12 * 1_024, 12 * 1_024 + 1, 200_000])('of %i bytes arrive as they are', async (size) => {
    const bytes = Buffer.alloc(size);
    for (let at = 0; at < size; at++) bytes[at] = (at * 31) % 256;
    const answer = await fetch(
      await serve(() => Promise.resolve({ status: 200, headers: {}, body: { kind: 'bytes', bytes } })),
    );
    expect(answer.headers.get('content-length')).toBe(String(size));
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it.each([204, 304])('are not sent with %i, nor a length', async (status) => {
    const answer = await sendRaw(await serve(() => Promise.resolve(text('hello', status))), head('GET'));
    expect(answer).toMatchObject({ status, body: '' });
  });
});

describe('streams', () => {
  it('arrive whole', async () => {
    const url = await serve(
      streaming(200_000, async function* () {
        for (let n = 0; n < 2; n++) yield Buffer.alloc(100_000, n);
      }),
    );
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(200_000);
  });

  it('that fail before the first byte are answered as errors', async () => {
    const url = await serve(
      // oxlint-disable-next-line require-yield -- it fails before it yields
      streaming(5, async function* () {
        throw new Error('unreadable');
      }),
    );
    expect((await fetch(url)).status).toBe(500);
  });

  it('that fail later cut the connection', async () => {
    const url = await serve(
      streaming(10, async function* () {
        yield Buffer.from('hello');
        throw new Error('unreadable');
      }),
    );
    await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow();
  });

  it('that end early cut the connection', async () => {
    const url = await serve(
      streaming(10, async function* () {
        yield Buffer.from('hello');
      }),
    );
    await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow();
  });

  it('are given up when the reader goes away', async () => {
    const given = Promise.withResolvers<void>();
    const url = await serve(
      streaming(1e12, async function* () {
        try {
          for (;;) yield Buffer.alloc(1_000_000);
        } finally {
          given.resolve();
        }
      }),
    );
    const connection = connectRaw(url);
    connection.send(head('GET'));
    await connection.until('200 OK');
    connection.socket.destroy();
    await given.promise;
  });
});

describe('slow answers', () => {
  it('that come soon are answered as they are', async () => {
    const early = Buffer.from('<x/>');
    const url = await serve(() =>
      Promise.resolve({
        status: 200,
        headers: {},
        body: { kind: 'slow', early, result: Promise.resolve(text('<x/>late', 412)) },
      }),
    );
    const answer = await fetch(url);
    expect([answer.status, await answer.text()]).toEqual([412, '<x/>late']);
  });

  it('that take long send their status and spaces, and end with the document', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const asked = Promise.withResolvers<void>();
    const result = Promise.withResolvers<Answer>();
    const url = await serve(() => {
      asked.resolve();
      const body = { kind: 'slow', early: Buffer.from('<?xml?>'), result: result.promise } as const;
      return Promise.resolve({ status: 200, headers: { 'content-type': 'application/xml' }, body });
    });
    const answer = fetch(url);
    await asked.promise;
    await vi.advanceTimersByTimeAsync(30_000);
    expect((await answer).status).toBe(200);
    result.resolve(text('<?xml?><Error/>', 412));
    expect(await (await answer).text()).toBe('<?xml?>  <Error/>');
  });
});

describe('uploads', () => {
  it('that are refused while they are sent see the answer, not a reset', async () => {
    const connection = connectRaw(await serve(refuse));
    connection.send('PUT /b/k HTTP/1.1\r\nHost: test\r\nContent-Length: 12000000\r\n\r\n');
    for (let n = 0; n < 12; n++) connection.send(Buffer.alloc(1_000_000));
    expect(await connection.closed()).toMatchObject({ status: 403, reset: false });
  });

  it('that are refused in their middle see the answer, not a reset', async () => {
    const url = await serve(async (request) => {
      for await (const chunk of chunksOf(request.body)) if (chunk.length > 0) throw new S3Error('BadDigest');
      return text('');
    });
    const connection = connectRaw(url);
    connection.send('PUT /b/k HTTP/1.1\r\nHost: test\r\nContent-Length: 12000000\r\n\r\n');
    for (let n = 0; n < 12; n++) connection.send(Buffer.alloc(1_000_000));
    expect(await connection.closed()).toMatchObject({ status: 400, reset: false });
  });

  it('keep the connection when the refused body was small', async () => {
    const connection = connectRaw(await serve(refuse));
    for (let n = 1; n <= 2; n++) {
      connection.send('PUT /b/k HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nhello');
      const received = await connection.until('</Error>', n);
      expect(received.split('403 Forbidden')).toHaveLength(n + 1);
    }
    connection.socket.destroy();
  });

  it('get 100 Continue only when their body is read', async () => {
    const put = 'PUT /b/k HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n';
    const rejected = connectRaw(await serve(refuse));
    rejected.send(put);
    expect(await rejected.until('</Error>')).not.toContain('100 Continue');
    rejected.socket.destroy();

    const wanted = connectRaw(await serve(async (request) => text((await readAll(request)).toString())));
    wanted.send(put);
    await wanted.until('100 Continue');
    wanted.send('hello');
    expect(await wanted.until('hello')).toContain('200 OK');
    wanted.socket.destroy();
  });

  it('can be read whole, in however many chunks they come', async () => {
    const url = await serve(async (request) => text(`<${(await readWhole(request)).toString()}>`));
    const connection = connectRaw(url);
    connection.send('PUT /b/k HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n');
    await connection.until('100 Continue');
    for (const letter of 'hello') {
      connection.send(letter);
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
    expect(await connection.until('<hello>')).toContain('200 OK');
    connection.socket.destroy();
  });

  it.each([
    ['chunk by chunk', readAll],
    ['whole', readWhole],
  ])('that are cut fail for who reads them %s', async (_how, read) => {
    const seen = Promise.withResolvers<unknown>();
    const url = await serve(async (request) => {
      await read(request).catch(seen.resolve);
      return text('');
    });
    const connection = connectRaw(url);
    connection.send('PUT /b/k HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhello');
    connection.socket.on('connect', () => connection.socket.end());
    expect(await seen.promise).toBeInstanceOf(Error);
  });
});

describe('malformed requests', () => {
  it.each([
    ['no HTTP at all', 'hello there\r\n\r\n'],
    ['a bad length', 'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: ten\r\n\r\n'],
    ['two lengths', 'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n'],
    ['control characters in a header', 'GET / HTTP/1.1\r\nHost: a\r\nx-y: a\u0000b\r\n\r\n'],
    ['too long a head', `GET / HTTP/1.1\r\nHost: a\r\nx-y: ${'a'.repeat(40_000)}\r\n\r\n`],
    ['no host', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ])('with %s are answered 400 in XML', async (_what, request) => {
    const answer = await sendRaw(await serve(() => Promise.resolve(text('fine'))), request);
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('<Error><Code>') });
  });
});
