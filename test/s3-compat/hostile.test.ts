import * as fc from 'fast-check';
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRaw, sendRaw } from '../support/process/raw-http.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { signByHand } from '../support/server/sign-by-hand.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const Bucket = 'hostile';
let server: RunningServer;
let s3: S3Client;
beforeAll(async () => {
  server = await startServer();
  await untilReady(server);
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
});
afterAll(() => server.stop());

const code = (body: string) => /<Code>(.*?)<\/Code>/.exec(body)?.[1];

/** A signed request with this body. */
async function ask(
  method: string,
  path: string,
  options: { query?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
) {
  const body = Buffer.from(options.body ?? '');
  const { head } = signByHand(server, {
    method,
    path,
    ...(options.query === undefined ? {} : { query: options.query }),
    headers: { 'content-length': String(body.length), ...options.headers },
    payload: 'UNSIGNED-PAYLOAD',
  });
  const answer = await sendRaw(server.s3, Buffer.concat([Buffer.from(head, 'latin1'), body]));
  return { ...answer, code: code(answer.body) };
}

describe('documents', () => {
  const cases = [
    ['not XML', 'hello'],
    ['cut short', '<Delete><Object><Key>a</Key>'],
    ['of another root', '<Other/>'],
    [
      'with a document type',
      '<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]><Delete><Object><Key>&e;</Key></Object></Delete>',
    ],
    ['of a million levels', '<a>'.repeat(100_000)],
    ['of bytes', Buffer.from([0xff, 0xfe, 0, 1])],
  ] as const;
  it.each(cases)('%s are refused by DeleteObjects', async (_what, body) => {
    expect(await ask('POST', `/${Bucket}`, { query: 'delete=', body })).toMatchObject({
      status: 400,
      code: 'MalformedXML',
    });
  });

  it.each(cases)('%s are refused by PutBucketEncryption', async (_what, body) => {
    expect(await ask('PUT', `/${Bucket}`, { query: 'encryption=', body })).toMatchObject({
      status: 400,
      code: 'MalformedXML',
    });
  });

  it('of 1,001 keys are refused', async () => {
    const body = `<Delete>${'<Object><Key>a</Key></Object>'.repeat(1_001)}</Delete>`;
    expect(await ask('POST', `/${Bucket}`, { query: 'delete=', body })).toMatchObject({
      status: 400,
      code: 'MalformedXML',
    });
  });

  it('that are too large are refused before they are read', async () => {
    const { head } = signByHand(server, {
      method: 'POST',
      path: `/${Bucket}`,
      query: 'delete=',
      headers: { 'content-length': '900000000' },
      payload: 'UNSIGNED-PAYLOAD',
    });
    const connection = connectRaw(server.s3);
    connection.send(head);
    expect(await connection.until('</Error>')).toContain('400 Bad Request');
    connection.socket.destroy();
  });
});

describe('subresources', () => {
  it.each([
    ['GET', '', 'intelligent-tiering=', 501, 'NotImplemented'],
    ['GET', '/k', 'torrent=', 501, 'NotImplemented'],
    ['GET', '/k', 'no-such-subresource=', 501, 'NotImplemented'],
    ['PUT', '', 'analytics=', 501, 'NotImplemented'],
    ['DELETE', '/k', 'acl=', 405, 'MethodNotAllowed'],
    ['DELETE', '', 'logging=', 405, 'MethodNotAllowed'],
    ['PUT', '/k', 'policy=', 400, 'InvalidRequest'],
    ['DELETE', '/k', 'lifecycle=', 400, 'InvalidRequest'],
    ['DELETE', '', 'uploadId=a', 400, 'InvalidRequest'],
    ['DELETE', '/k', 'tagging=&acl=', 400, 'InvalidArgument'],
  ])('%s %s?%s is refused, and changes nothing', async (method, path, query, status, code) => {
    await s3.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'kept' }));
    expect(await ask(method, `/${Bucket}${path}`, { query })).toMatchObject({ status, code });
    const answer = await s3.send(new GetObjectCommand({ Bucket, Key: 'k' }));
    expect(await answer.Body?.transformToString()).toBe('kept');
  });

  it.each([
    ['PATCH', `/${Bucket}`],
    ['DELETE', '/'],
  ])('%s %s is not allowed', async (method, path) => {
    expect(await ask(method, path)).toMatchObject({ status: 405, code: 'MethodNotAllowed' });
  });
});

describe('paths', () => {
  it.each([
    '/%ff',
    `/${Bucket}/%ff`,
    `/${Bucket}/%zz`,
    `/${Bucket}/a%00b`,
    '/../x',
    '/..%2f..%2fetc/passwd',
    '/.well-known/x',
  ])('%s are refused', async (path) => {
    const answer = await ask('GET', path);
    expect([path, answer.status]).toEqual([path, 400]);
  });
});

describe('uploads that are cut', () => {
  it('leave nothing that can be read', async () => {
    const length = 3_000_000;
    const { head } = signByHand(server, {
      method: 'PUT',
      path: `/${Bucket}/cut`,
      headers: { 'content-length': String(length) },
      payload: 'UNSIGNED-PAYLOAD',
    });
    const connection = connectRaw(server.s3);
    connection.send(head);
    connection.send(Buffer.alloc(length - 1));
    await new Promise((resolve) => {
      connection.socket.once('drain', resolve);
    });
    connection.socket.destroy();
    expect((await refusal(s3.send(new HeadObjectCommand({ Bucket, Key: 'cut' })))).status).toBe(404);
  });

  it('in a chunk leave nothing either', async () => {
    const { head } = signByHand(server, {
      method: 'PUT',
      path: `/${Bucket}/cut-chunk`,
      headers: { 'content-length': '100', 'x-amz-decoded-content-length': '11' },
      payload: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    });
    const connection = connectRaw(server.s3);
    connection.send(`${head}b\r\nhello world`);
    connection.socket.end();
    await connection.closed();
    expect((await refusal(s3.send(new HeadObjectCommand({ Bucket, Key: 'cut-chunk' })))).status).toBe(404);
  });
});

describe('any request', () => {
  const token = fc.stringMatching(/^[A-Za-z0-9-]{1,20}$/);
  const amzHeader = fc.constantFrom(
    'x-amz-copy-source',
    'x-amz-copy-source-range',
    'x-amz-checksum-crc32',
    'x-amz-checksum-mode',
    'x-amz-sdk-checksum-algorithm',
    'x-amz-trailer',
    'x-amz-decoded-content-length',
    'x-amz-metadata-directive',
    'x-amz-server-side-encryption',
    'x-amz-server-side-encryption-context',
    'x-amz-storage-class',
    'x-amz-object-attributes',
    'x-amz-meta-__proto__',
    'content-md5',
    'content-encoding',
    'if-match',
    'if-none-match',
    'if-modified-since',
    'if-range',
    'range',
    'expires',
  );
  const parameter = fc.constantFrom(
    'uploads',
    'uploadId',
    'partNumber',
    'delete',
    'list-type',
    'max-keys',
    'prefix',
    'delimiter',
    'marker',
    'continuation-token',
    'encoding-type',
    'versionId',
    'versions',
    'key-marker',
    'attributes',
    'response-content-type',
    'location',
    'encryption',
  );
  const value = fc.stringMatching(/^[\x21-\x7e]{0,40}$/);
  const request = fc.record({
    method: fc.constantFrom('GET', 'HEAD', 'PUT', 'POST', 'DELETE'),
    path: fc.constantFrom('/', `/${Bucket}`, `/${Bucket}/k`, `/${Bucket}/other/`, '/no-such-bucket/k'),
    headers: fc.dictionary(fc.oneof({ weight: 5, arbitrary: amzHeader }, { weight: 1, arbitrary: token }), value, {
      maxKeys: 4,
    }),
    query: fc.array(fc.tuple(parameter, fc.oneof(value, fc.constantFrom('', '1', '2', 'null', 'url'))), {
      maxLength: 3,
    }),
    body: fc.string({ maxLength: 200 }),
  });

  it('is answered, and never by a failure of the server', async () => {
    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, headers, query, body }) => {
        const pairs = query.map(([name, text]) => `${name}=${encodeURIComponent(text).replaceAll(/[!'()*]/g, '')}`);
        const lower = Object.fromEntries(
          Object.entries(headers)
            .map(([name, text]) => [name.toLowerCase(), text.trim()] as const)
            .filter(
              ([name]) => !/^(host|connection|content-length|transfer-encoding|expect|upgrade|x-amz-date)$/.test(name),
            ),
        );
        const answer = await ask(method, path, {
          ...(pairs.length === 0 ? {} : { query: [...new Set(pairs)].sort().join('&') }),
          headers: lower,
          body,
        });
        expect([200, 204, 206, 304, 400, 403, 404, 405, 409, 411, 412, 416, 501]).toContain(answer.status);
      }),
      { numRuns: 150 },
    );
    expect(server.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  it('of raw bytes is answered or closed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const connection = connectRaw(server.s3);
        connection.socket.end(Buffer.concat([Buffer.from(bytes), Buffer.from('\r\n\r\n')]));
        const answer = await connection.closed();
        expect(Number.isNaN(answer.status) || answer.status === 400).toBe(true);
      }),
      { numRuns: 50 },
    );
    expect((await fetch(`${server.s3}/minio/health/live`)).status).toBe(200);
  });
});
