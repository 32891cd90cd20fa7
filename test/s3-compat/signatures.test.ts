import { crc32 } from 'node:zlib';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListBucketsCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { beforeAll, describe, expect, it } from 'vitest';
import { sendRaw } from '../support/process/raw-http.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { signByHand } from '../support/server/sign-by-hand.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import type { ServerAccess } from '../support/server/start-server.ts';

const Bucket = 'signed';
let server: ServerAccess;
let s3: S3Client;
beforeAll(async () => {
  server = await sharedServer();
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
  await s3.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'content' }));
});

const content = async (Key: string) => {
  const answer = await s3.send(new GetObjectCommand({ Bucket, Key }));
  return answer.Body?.transformToString();
};
const put = (Key: string, payload: string, headers: Record<string, string>) =>
  signByHand(server, { method: 'PUT', path: `/${Bucket}/${Key}`, payload, headers });
const code = (body: string) => /<Code>(.*?)<\/Code>/.exec(body)?.[1];

/** Sends a signed request with this body; its length is not among what is signed. */
async function send(signed: ReturnType<typeof put>, parts: readonly (Buffer | string)[]) {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const head = signed.head.replace('\r\n\r\n', `\r\ncontent-length: ${body.length}\r\n\r\n`);
  const answer = await sendRaw(server.s3, Buffer.concat([Buffer.from(head), body]));
  return { status: answer.status, code: code(answer.body), head: answer.head };
}

describe('who', () => {
  it.each([
    ['has the wrong secret', { accessKeyId: 'root', secretAccessKey: 'wrong-password' }, 'SignatureDoesNotMatch'],
    ['is unknown', { accessKeyId: 'nobody', secretAccessKey: 'root-password' }, 'InvalidAccessKeyId'],
  ])('%s is refused', async (_what, credentials, expected) => {
    const other = s3Client(server, { credentials });
    expect(await refusal(other.send(new ListBucketsCommand({})))).toEqual({ code: expected, status: 403 });
  });

  it('does not sign may do nothing', async () => {
    for (const [method, path] of [
      ['GET', '/'],
      ['GET', `/${Bucket}/k`],
      ['PUT', `/${Bucket}/x`],
      ['DELETE', `/${Bucket}`],
    ]) {
      const answer = await fetch(`${server.s3}${path}`, { method: method ?? '' });
      expect([answer.status, code(await answer.text())]).toEqual([403, 'AccessDenied']);
    }
  });

  it('has a clock that is off is told so', async () => {
    const now = new Date(Date.now() - 3_600_000);
    const { head } = signByHand(server, { method: 'GET', path: '/', payload: 'UNSIGNED-PAYLOAD', now });
    const answer = await sendRaw(server.s3, head);
    expect([answer.status, code(answer.body)]).toEqual([403, 'RequestTimeTooSkewed']);
  });
});

describe('presigned URLs', () => {
  it('give an object to who has them', async () => {
    const url = await getSignedUrl(s3, new GetObjectCommand({ Bucket, Key: 'k' }), { expiresIn: 60 });
    expect(await (await fetch(url)).text()).toBe('content');
  });

  it('take an object', async () => {
    const url = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key: 'up' }), { expiresIn: 60 });
    expect((await fetch(url, { method: 'PUT', body: 'uploaded' })).status).toBe(200);
    expect(await content('up')).toBe('uploaded');
  });

  it('replace headers of the answer', async () => {
    const command = new GetObjectCommand({
      Bucket,
      Key: 'k',
      ResponseContentType: 'text/html',
      ResponseContentDisposition: 'attachment; filename="ü.html"',
    });
    const answer = await fetch(await getSignedUrl(s3, command));
    expect(answer.headers.get('content-type')).toBe('text/html');
    expect(Buffer.from(answer.headers.get('content-disposition') ?? '', 'latin1').toString()).toBe(
      'attachment; filename="ü.html"',
    );
  });

  it('end when they expire, and hold for nothing else', async () => {
    const signingDate = new Date(Date.now() - 120_000);
    const command = new GetObjectCommand({ Bucket, Key: 'k' });
    const old = await fetch(await getSignedUrl(s3, command, { expiresIn: 60, signingDate }));
    expect([old.status, code(await old.text())]).toEqual([403, 'AccessDenied']);
    const url = new URL(await getSignedUrl(s3, command, { expiresIn: 60 }));
    url.pathname = `/${Bucket}/up`;
    const other = await fetch(url);
    expect([other.status, code(await other.text())]).toEqual([403, 'SignatureDoesNotMatch']);
  });
});

describe('bodies', () => {
  // Only the last chunk may have less than 8,192 bytes.
  const first = 'hello '.padEnd(8_192, '.');
  const whole = `${first}world`;
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(whole));
  const crc = sum.toString('base64');
  const streaming = { 'x-amz-decoded-content-length': String(whole.length), 'content-encoding': 'aws-chunked,gzip' };
  const trailing = { ...streaming, 'x-amz-trailer': 'x-amz-checksum-crc32' };
  const bodyChunks = [Buffer.from(first), Buffer.from('world'), Buffer.alloc(0)];
  const none = Buffer.alloc(0);

  it('that were signed whole are checked', async () => {
    const answer = await send(put('whole', '0'.repeat(64), {}), ['hello']);
    expect(answer).toMatchObject({ status: 400, code: 'XAmzContentSHA256Mismatch' });
    expect((await refusal(content('whole'))).code).toBe('NoSuchKey');
  });

  it('of signed chunks are put together, and the framing is not stored as an encoding', async () => {
    const signed = put('chunks', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', streaming);
    expect(await send(signed, [...bodyChunks.map((chunk) => signed.chunk(chunk)), '\r\n'])).toMatchObject({
      status: 200,
    });
    const stored = await s3.send(new GetObjectCommand({ Bucket, Key: 'chunks' }));
    expect(stored.ContentEncoding).toBe('gzip');
    expect(await stored.Body?.transformToString()).toBe(whole);
  });

  it('of signed chunks with a trailer are checked by it', async () => {
    const signed = put('trailer', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', trailing);
    const chunks = bodyChunks.map((chunk) => signed.chunk(chunk));
    const answer = await send(signed, [...chunks, signed.trailer([`x-amz-checksum-crc32:${crc}`])]);
    expect(answer).toMatchObject({ status: 200, head: expect.stringContaining(`x-amz-checksum-crc32: ${crc}`) });
    expect(await content('trailer')).toBe(whole);
  });

  it('of signed chunks that are too small are refused, and of unsigned ones taken', async () => {
    const small = { 'x-amz-decoded-content-length': '2', 'content-encoding': 'aws-chunked' };
    const body = (request: ReturnType<typeof put>) => ['a', 'b', ''].map((text) => request.chunk(Buffer.from(text)));
    const signed = put('small-chunks', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', small);
    expect(await send(signed, [...body(signed), '\r\n'])).toMatchObject({ status: 403, code: 'InvalidChunkSizeError' });
    expect((await refusal(content('small-chunks'))).code).toBe('NoSuchKey');
    const unsigned = put('small-chunks', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', {
      ...small,
      'x-amz-trailer': 'x-amz-checksum-crc32',
    });
    const total = Buffer.alloc(4);
    total.writeUInt32BE(crc32('ab'));
    const trailer = unsigned.trailer([`x-amz-checksum-crc32:${total.toString('base64')}`]);
    expect(await send(unsigned, [...body(unsigned), trailer])).toMatchObject({ status: 200 });
  });

  it('of unsigned chunks with a trailer are checked by it', async () => {
    const signed = put('unsigned', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', trailing);
    const chunks = bodyChunks.map((chunk) => signed.chunk(chunk));
    expect(await send(signed, [...chunks, signed.trailer([`x-amz-checksum-crc32:${crc}`])])).toMatchObject({
      status: 200,
    });
    const wrong = put('unsigned-wrong', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', trailing);
    const bad = await send(wrong, [...chunks, wrong.trailer(['x-amz-checksum-crc32:AAAAAA=='])]);
    expect([bad.status, bad.code]).toEqual([400, expect.stringMatching(/BadDigest|XAmzContentChecksumMismatch/)]);
  });

  it.each([
    ['a forged chunk', (chunk: Buffer) => Buffer.from(chunk.toString('latin1').replace('world', 'w0rld'), 'latin1')],
    ['a forged signature', (chunk: Buffer) => Buffer.from(chunk.toString('latin1').replace(/=./, '=x'), 'latin1')],
    ['framing that is none', () => Buffer.from('zz\r\n')],
    ['a chunk of monstrous size', () => Buffer.from('ffffffffffffffff;chunk-signature=0\r\n')],
    ['an early end', () => none],
  ])('with %s are refused, and nothing is stored', async (what, forge) => {
    const Key = what.replaceAll(' ', '-');
    const signed = put(Key, 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', streaming);
    const chunks = bodyChunks.map((chunk) => signed.chunk(chunk));
    const answer = await send(signed, [chunks[0] ?? none, forge(chunks[1] ?? none)]);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect((await refusal(content(Key))).code).toBe('NoSuchKey');
  });

  it('come with metadata in UTF-8, which is signed as the bytes it is', async () => {
    const signed = put('utf-8', 'UNSIGNED-PAYLOAD', { 'x-amz-meta-name': 'grün' });
    expect(await send(signed, ['x'])).toMatchObject({ status: 200 });
    const answer = await fetch(await getSignedUrl(s3, new GetObjectCommand({ Bucket, Key: 'utf-8' })));
    expect(answer.headers.get('x-amz-meta-name')).toBe(`=?UTF-8?B?${Buffer.from('grün').toString('base64')}?=`);
  });

  it('must declare their length', async () => {
    const { head } = put('undeclared', 'UNSIGNED-PAYLOAD', { 'transfer-encoding': 'chunked' });
    const answer = await sendRaw(server.s3, `${head}5\r\nhello\r\n0\r\n\r\n`);
    expect([answer.status, code(answer.body)]).toEqual([411, 'MissingContentLength']);
  });
});
