import { CreateBucketCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRaw } from '../support/process/raw-http.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { signByHand } from '../support/server/sign-by-hand.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

const Bucket = 'headers';
let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
  await untilReady(server);
  await s3Client(server).send(new CreateBucketCommand({ Bucket }));
});
afterAll(() => server.stop());

async function ask(method: string, path: string, headers: Record<string, string> = {}, body = '') {
  const { head } = signByHand(server, {
    method,
    path: `/${Bucket}${path}`,
    headers: { 'content-length': String(body.length), ...headers },
    payload: 'UNSIGNED-PAYLOAD',
    encoding: 'latin1',
  });
  return sendRaw(server.s3, Buffer.from(head + body, 'latin1'));
}

describe('what an object is described by leaves as the bytes that came', () => {
  it.each([
    ['x-amz-meta-latin', 'caf\u00e9 \u00a0\u0085\u00ff'],
    ['x-amz-meta-utf8', Buffer.from('grün 中').toString('latin1')],
    ['x-amz-meta-blank', '\u00a0\u0085 a\u00a0'],
    ['x-amz-meta-encoded', '=?UTF-8?B?w6k=?='],
    ['content-disposition', 'attachment; filename="caf\u00e9.txt"'],
    ['content-encoding', 'deflate, gzip'],
    ['content-encoding', 'br ,gzip'],
    ['cache-control', 'no-cache,  max-age=0'],
  ])('%s: %s', async (name, value) => {
    for (const body of ['x', 'x'.repeat(200_000)]) {
      // The signature covers runs of blanks as one.
      const signed = name === 'cache-control' ? value.replaceAll('  ', ' ') : value;
      const put = await ask('PUT', '/k', { [name]: signed }, body);
      expect([put.status, put.body]).toEqual([200, '']);
      for (const method of ['GET', 'HEAD']) {
        expect((await ask(method, '/k')).head).toContain(`\r\n${name}: ${signed}`);
      }
    }
  });

  it('through a copy too, and with the AWS SDK', async () => {
    const value = 'caf\u00e9 \u00ff';
    await ask('PUT', '/source', { 'x-amz-meta-a': value });
    await ask('PUT', '/copy', { 'x-amz-copy-source': `/${Bucket}/source` });
    expect((await ask('HEAD', '/copy')).head).toContain(`\r\nx-amz-meta-a: ${value}\r\n`);
    const s3 = s3Client(server);
    const Metadata = { a: 'é' };
    await s3.send(new PutObjectCommand({ Bucket, Key: 'by-sdk', Metadata, Body: Buffer.from('x') }));
    expect((await s3.send(new HeadObjectCommand({ Bucket, Key: 'by-sdk' }))).Metadata).toEqual(Metadata);
  });

  it('without aws-chunked, which is the framing of the request', async () => {
    for (const [sent, kept] of [
      ['aws-chunked, deflate, gzip', 'deflate, gzip'],
      ['gzip,aws-chunked', 'gzip'],
      ['br, AWS-chunked ,gzip', 'br,gzip'],
      ['aws-chunked,', undefined],
      ['aws-chunked', undefined],
    ] as const) {
      await ask('PUT', '/k', { 'content-encoding': sent }, 'x');
      expect(/\r\ncontent-encoding: (.*)\r\n/.exec((await ask('GET', '/k')).head)?.[1]).toBe(kept);
    }
  });
});
