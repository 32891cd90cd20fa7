import { CreateBucketCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, it } from 'vitest';
import { sendRaw } from '../support/process/raw-http.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { signByHand } from '../support/server/sign-by-hand.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import type { ServerAccess } from '../support/server/start-server.ts';

const Bucket = 'headers';
let server: ServerAccess;
beforeAll(async () => {
  server = await sharedServer();
  await s3Client(server).send(new CreateBucketCommand({ Bucket }));
});

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
    ['x-amz-meta-plain', 'a b'],
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

  it('and repeated metadata is joined by a comma, as it is signed', async () => {
    const { head } = signByHand(server, {
      method: 'PUT',
      path: `/${Bucket}/repeated`,
      headers: { 'content-length': '1', 'x-amz-meta-many': '1, one,2' },
      payload: 'UNSIGNED-PAYLOAD',
    });
    const repeated = head.replace(/x-amz-meta-many: 1, one,2/i, 'x-amz-meta-many: 1, one\r\nX-Amz-Meta-Many: 2');
    expect(repeated).not.toBe(head);
    expect((await sendRaw(server.s3, Buffer.from(`${repeated}x`))).status).toBe(200);
    expect((await ask('HEAD', '/repeated')).head).toContain('\r\nx-amz-meta-many: 1, one,2\r\n');
  });

  it('but for metadata that is not ASCII, which is encoded as in RFC 2047, through a copy too', async () => {
    const sent = {
      'x-amz-meta-latin': 'caf\u00e9',
      'x-amz-meta-utf8': Buffer.from('grün 中').toString('latin1'),
      'x-amz-meta-quoted': '=?ISO-8859-1?Q?caf=E9?=',
    };
    const seen = [`=?UTF-8?B?${base64('café')}?=`, `=?UTF-8?B?${base64('grün 中')}?=`, `=?UTF-8?B?${base64('café')}?=`];
    await ask('PUT', '/source', sent);
    await ask('PUT', '/copy', { 'x-amz-copy-source': `/${Bucket}/source` });
    for (const path of ['/source', '/copy']) {
      const { head } = await ask('HEAD', path);
      for (const [index, name] of Object.keys(sent).entries())
        expect(head).toContain(`\r\n${name}: ${seen[index]}\r\n`);
    }
  });

  it('with the AWS SDK, which does not decode them', async () => {
    const s3 = s3Client(server);
    const Metadata = { a: 'é' };
    await s3.send(new PutObjectCommand({ Bucket, Key: 'by-sdk', Metadata, Body: Buffer.from('x') }));
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'by-sdk' }));
    expect(head.Metadata).toEqual({ a: `=?UTF-8?B?${base64('é')}?=` });
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

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
