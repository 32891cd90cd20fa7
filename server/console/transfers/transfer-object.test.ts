import { describe, expect, it } from 'vitest';
import type { SessionS3Answer } from '../services.ts';
import { copyObject, deleteObject, etagOfCopy, type SendS3 } from './transfer-object.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

const from = { bucket: 'docs', key: 'a' };
const to = { bucket: 'other', key: 'b' };

type Operation = Parameters<SendS3>[0];

/** Answers each operation, and remembers it. */
function double(answerOf: (operation: Operation) => Partial<SessionS3Answer> | Error) {
  const sent: Operation[] = [];
  const send: SendS3 = (operation) => {
    sent.push(operation);
    const answer = answerOf(operation);
    if (answer instanceof Error) return Promise.reject(answer);
    return Promise.resolve({ headers: {}, document: Buffer.alloc(0), ...answer });
  };
  return { sent, send };
}

const head = (headers: Readonly<Record<string, string>> = {}) => ({
  headers: { etag: '"e1"', 'content-length': '5', ...headers },
});

it('copies, and deletes, the object that it saw', async () => {
  const { sent, send } = double(() => head());
  const etag = await copyObject(send, from, to, true);
  await deleteObject(send, from, etag);
  expect(sent.map(({ method, headers }) => [method, headers])).toEqual([
    ['HEAD', { 'x-amz-checksum-mode': 'ENABLED' }],
    ['PUT', { 'x-amz-copy-source': '/docs/a', 'x-amz-copy-source-if-match': '"e1"' }],
    ['DELETE', { 'if-match': '"e1"' }],
  ]);
});

it('reports the failure of a copy in parts also where its upload cannot be aborted', async () => {
  const { send } = double(({ method, query }) => {
    if (method === 'HEAD') return head({ 'content-length': String(6 * 1024 ** 3) });
    if (query === 'uploads') return { document: Buffer.from('<R><UploadId>u</UploadId></R>') };
    if (method === 'PUT') return { error: { code: 'SlowDown', message: 'slow' } };
    return new ResponseError('InternalError', 'the abort failed');
  });
  await expect(copyObject(send, from, to, true)).rejects.toThrow('slow');
});

it.each([
  ['the same body and metadata', head({ 'x-amz-meta-a': '1' }), true],
  ['another body', head({ etag: '"e2"', 'x-amz-meta-a': '1' }), false],
  ['other metadata', head({ 'x-amz-meta-a': '2' }), false],
  ['more metadata', head({ 'x-amz-meta-a': '1', 'x-amz-meta-b': '1' }), false],
  ['other tags', head({ 'x-amz-meta-a': '1', 'x-amz-tagging-count': '1' }), false],
  ['nothing', { error: { code: 'NoSuchKey', message: '' } }, false],
])('finds a copy in %s: %j', async (_, target, is) => {
  const { send } = double(({ key }) => (key === 'a' ? head({ 'x-amz-meta-a': '1' }) : target));
  expect(await etagOfCopy(send, from, to)).toBe(is ? '"e1"' : undefined);
});

it('does not compare ETags of objects in parts: they depend on the sizes of the parts', async () => {
  const { send } = double(() => head({ etag: '"e1-2"' }));
  expect(await etagOfCopy(send, from, to)).toBeUndefined();
});

describe('a copy in parts', () => {
  const large = { 'content-length': String(6 * 1024 ** 3) };

  it('begins with all that its source has, and names the checksums of its parts', async () => {
    const kept = {
      'x-amz-meta-a': '=?UTF-8?B?w7w=?=',
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'arn:aws:kms:own',
      'x-amz-object-lock-legal-hold': 'ON',
    };
    const { sent, send } = double(({ method, query }) => {
      if (method === 'HEAD') {
        return head({ ...large, ...kept, 'x-amz-tagging-count': '1', 'x-amz-checksum-sha256': 'c2hh' });
      }
      if (query === 'tagging') {
        const tag = '<Tag><Key>a b</Key><Value>c+d</Value></Tag>';
        return { document: Buffer.from(`<Tagging><TagSet>${tag}</TagSet></Tagging>`) };
      }
      if (query === 'uploads') return { document: Buffer.from('<R><UploadId>u</UploadId></R>') };
      if (method === 'PUT') {
        return { document: Buffer.from('<R><ETag>e</ETag><ChecksumSHA256>cGFydA==</ChecksumSHA256></R>') };
      }
      return {};
    });
    await copyObject(send, from, to, true);
    const [begin, end] = sent.filter(({ method }) => method === 'POST');
    expect(begin?.headers).toEqual({
      ...kept,
      'x-amz-tagging': 'a%20b=c%2Bd',
      'x-amz-checksum-algorithm': 'SHA256',
      'x-amz-checksum-type': 'COMPOSITE',
    });
    expect(end?.body?.match(/<ChecksumSHA256>cGFydA==/g)).toHaveLength(6);
  });

  it('is not begun where its tags are hidden', async () => {
    const { sent, send } = double(() => head({ ...large, 'x-coffer-hidden': 'tags' }));
    await expect(copyObject(send, from, to, true)).rejects.toMatchObject({ code: 'TagsHidden' });
    expect(sent.map(({ method }) => method)).toEqual(['HEAD']);
  });
});

it('does not take an object for a copy that lacks the encryption of its source', async () => {
  const { send } = double(({ key }) => (key === 'a' ? head({ 'x-amz-server-side-encryption': 'AES256' }) : head()));
  expect(await etagOfCopy(send, from, to)).toBeUndefined();
});

it('takes an object for a copy that its bucket has encrypted', async () => {
  const { send } = double(({ key }) => (key === 'b' ? head({ 'x-amz-server-side-encryption': 'AES256' }) : head()));
  expect(await etagOfCopy(send, from, to)).toBe('"e1"');
});
