import { createHash } from 'node:crypto';
import {
  ChecksumAlgorithm,
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectAclCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type GetObjectCommandInput,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, it } from 'vitest';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import type { ServerAccess } from '../support/server/start-server.ts';
import { hasherOf } from '../../platform/checksums/hashers.ts';

const Bucket = 'objects';
let server: ServerAccess;
let s3: S3Client;
beforeAll(async () => {
  server = await sharedServer();
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
});

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');
const put = (Key: string, Body: Uint8Array | string, more: Partial<PutObjectCommandInput> = {}) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
const get = (Key: string, more: Partial<GetObjectCommandInput> = {}) =>
  s3.send(new GetObjectCommand({ Bucket, Key, ...more }));
const bytesOf = async (Key: string, more: Partial<GetObjectCommandInput> = {}) =>
  Buffer.from((await (await get(Key, more)).Body?.transformToByteArray()) ?? []);

/** Bytes that differ from place to place, so that a shifted range shows. */
function pattern(size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  bytes.fill(7, size - (size % 4));
  return bytes;
}

describe('an object', () => {
  it.each([0, 1, 128 * 1024 - 1, 128 * 1024 + 1, 5 * 1024 ** 2])('of %i bytes comes back as it went', async (size) => {
    const body = pattern(size);
    const { ETag } = await put(`size/${size}`, body);
    expect(ETag).toBe(`"${md5(body)}"`);
    expect((await bytesOf(`size/${size}`)).equals(body)).toBe(true);
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key: `size/${size}` }));
    expect([head.ContentLength, head.ETag]).toEqual([size, ETag]);
  });

  it('keeps its headers and metadata', async () => {
    await put('described', 'x', {
      ContentType: 'text/plain; charset=utf-8',
      ContentEncoding: 'gzip',
      ContentDisposition: 'attachment; filename="a.txt"',
      ContentLanguage: 'en',
      CacheControl: 'max-age=60',
      Expires: new Date('2030-01-01T00:00:00Z'),
      Metadata: { colour: 'blue', 'two-words': 'a b' },
    });
    expect(await get('described')).toMatchObject({
      ContentType: 'text/plain; charset=utf-8',
      ContentEncoding: 'gzip',
      ContentDisposition: 'attachment; filename="a.txt"',
      ContentLanguage: 'en',
      CacheControl: 'max-age=60',
      ExpiresString: 'Tue, 01 Jan 2030 00:00:00 GMT',
      Metadata: { colour: 'blue', 'two-words': 'a b' },
      AcceptRanges: 'bytes',
    });
  });

  it('refuses more than 2 KiB of metadata', async () => {
    const Metadata = { long: 'a'.repeat(2_049) };
    expect(await refusal(put('described-at-length', 'x', { Metadata }))).toEqual({
      code: 'MetadataTooLarge',
      status: 400,
    });
  });

  it.each(
    Object.values(ChecksumAlgorithm).filter((name) =>
      ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256', 'MD5'].includes(name),
    ),
  )('is checked by %s, and tells it again', async (algorithm) => {
    const stored = await put(`sum/${algorithm}`, 'checked', { ChecksumAlgorithm: algorithm });
    const told = await get(`sum/${algorithm}`, { ChecksumMode: 'ENABLED' });
    const field = `Checksum${algorithm}` as 'ChecksumCRC32';
    expect(told[field]).toBe(stored[field]);
    expect(told[field]).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(await told.Body?.transformToString()).toBe('checked');
  });

  it.each(['SHA512', 'XXHASH64', 'XXHASH3', 'XXHASH128'] as const)(
    'is checked by %s, which the SDK does not compute',
    async (algorithm) => {
      const hasher = hasherOf(algorithm);
      hasher.update(Buffer.from('checked'));
      const checksum = { [`Checksum${algorithm}`]: hasher.digest().toString('base64') };
      const Key = `sum/${algorithm}`;
      await put(Key, 'checked', checksum);
      const head = await s3.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
      expect(head).toMatchObject({ ...checksum, ChecksumType: 'FULL_OBJECT' });
    },
  );

  it('refuses a checksum that does not fit, and stores nothing', async () => {
    const wrong = put('sum/wrong', 'checked', {
      ChecksumSHA256: createHash('sha256').update('other').digest('base64'),
    });
    expect((await refusal(wrong)).code).toMatch(/BadDigest|XAmzContentChecksumMismatch/);
    expect((await refusal(get('sum/wrong'))).code).toBe('NoSuchKey');
  });

  it.each([
    ['that is not one', 'not base64!', 'InvalidDigest'],
    ['of other bytes', createHash('md5').update('other').digest('base64'), 'BadDigest'],
  ])('refuses a Content-MD5 %s', async (_what, ContentMD5, code) => {
    expect(await refusal(put('md5', 'body', { ContentMD5 }))).toEqual({ code, status: 400 });
  });

  it('that does not exist is told so', async () => {
    expect(await refusal(get('nothing'))).toEqual({ code: 'NoSuchKey', status: 404 });
    expect((await refusal(s3.send(new HeadObjectCommand({ Bucket, Key: 'nothing' })))).status).toBe(404);
  });

  it('has no tags and a private ACL', async () => {
    await put('plain', 'x');
    expect((await s3.send(new GetObjectTaggingCommand({ Bucket, Key: 'plain' }))).TagSet).toEqual([]);
    expect((await s3.send(new GetObjectAclCommand({ Bucket, Key: 'plain' }))).Grants).toHaveLength(1);
  });

  it('tells its attributes', async () => {
    await put('attributes', 'four');
    const ObjectAttributes = ['ETag', 'ObjectSize', 'StorageClass'] as const;
    const told = await s3.send(
      new GetObjectAttributesCommand({ Bucket, Key: 'attributes', ObjectAttributes: [...ObjectAttributes] }),
    );
    expect(told).toMatchObject({ ETag: md5(Buffer.from('four')), ObjectSize: 4, StorageClass: 'STANDARD' });
  });
});

describe('names of objects', () => {
  it.each([
    '../../etc/passwd',
    './x',
    'a//b',
    'a/../b',
    '/leading',
    'trailing/',
    'ünïcödé/日本/🎉',
    'quotes\'"<>&',
    'spaces and+plus%20percent',
    'question?mark#hash',
    '.',
    '__proto__',
    'a'.repeat(1_024),
  ])('may be %s', async (Key) => {
    await put(Key, Key);
    expect((await bytesOf(Key)).toString()).toBe(Key);
    const listed = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: Key, EncodingType: 'url' }));
    expect(listed.Contents?.map((entry) => decodeURIComponent((entry.Key ?? '').replaceAll('+', ' ')))).toContain(Key);
    await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    expect((await refusal(get(Key))).code).toBe('NoSuchKey');
  });

  it('refuse 1,025 bytes', async () => {
    expect(await refusal(put('a'.repeat(1_025), 'x'))).toEqual({ code: 'KeyTooLongError', status: 400 });
  });
});

describe('ranges', () => {
  const small = pattern(1_000);
  const large = pattern(300_000);
  beforeAll(async () => {
    await put('ranged/small', small);
    await put('ranged/large', large);
    await put('ranged/empty', '');
  });

  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=10-19', 10, 20],
    ['bytes=990-', 990, 1_000],
    ['bytes=-10', 990, 1_000],
    ['bytes=-5000', 0, 1_000],
    ['bytes=500-5000', 500, 1_000],
  ])('%s gives those bytes', async (Range, start, end) => {
    const answer = await get('ranged/small', { Range });
    expect(answer.ContentRange).toBe(`bytes ${start}-${end - 1}/1000`);
    expect(Buffer.from((await answer.Body?.transformToByteArray()) ?? [])).toEqual(small.subarray(start, end));
  });

  it('cross the boundaries of what is stored', async () => {
    expect(
      (await bytesOf('ranged/large', { Range: 'bytes=65530-131080' })).equals(large.subarray(65_530, 131_081)),
    ).toBe(true);
  });

  it.each([
    ['past the end', 'ranged/small', 'bytes=1000-'],
    ['of no bytes', 'ranged/small', 'bytes=-0'],
    ['of an empty object', 'ranged/empty', 'bytes=0-'],
  ])('%s are refused', async (_what, Key, Range) => {
    expect(await refusal(get(Key, { Range }))).toEqual({ code: 'InvalidRange', status: 416 });
  });

  it.each(['bytes=20-10', 'bytes=a-b', 'lines=1-2', 'bytes=0-1,5-6'])('%s counts as absent', async (Range) => {
    expect(await bytesOf('ranged/small', { Range })).toEqual(small);
  });

  it('hold only while If-Range does', async () => {
    const { ETag } = await s3.send(new HeadObjectCommand({ Bucket, Key: 'ranged/small' }));
    const ifRange = async (value: string) => {
      const command = new GetObjectCommand({ Bucket, Key: 'ranged/small', Range: 'bytes=0-9' });
      command.middlewareStack.add(
        (next) => (args) => {
          (args.request as { headers: Record<string, string> }).headers['if-range'] = value;
          return next(args);
        },
        { step: 'build' },
      );
      return (await s3.send(command)).ContentLength;
    };
    expect(await ifRange(ETag ?? '')).toBe(10);
    expect(await ifRange('"other"')).toBe(1_000);
  });

  it('are told to HEAD', async () => {
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'ranged/small', Range: 'bytes=0-9' }));
    expect([head.ContentLength, head.ContentRange]).toEqual([10, 'bytes 0-9/1000']);
  });
});

describe('conditions', () => {
  const Key = 'conditional';
  let etag: string;
  const past = new Date('2001-01-01T00:00:00Z');
  const future = new Date('2100-01-01T00:00:00Z');
  beforeAll(async () => {
    etag = (await put(Key, 'x')).ETag ?? '';
  });

  it.each([
    ['If-Match of another', { IfMatch: '"other"' }, 412],
    ['If-Unmodified-Since before', { IfUnmodifiedSince: past }, 412],
    ['If-None-Match of anything', { IfNoneMatch: '*' }, 304],
    ['If-Modified-Since after', { IfModifiedSince: future }, 304],
  ])('%s stops a GET', async (_what, condition, status) => {
    expect((await refusal(get(Key, condition))).status).toBe(status);
  });

  it('that hold let a GET through', async () => {
    const answer = await get(Key, { IfMatch: etag, IfNoneMatch: '"other"', IfModifiedSince: past });
    expect(answer.$metadata.httpStatusCode).toBe(200);
    await answer.Body?.transformToByteArray();
  });

  it('304 has no body and tells the ETag', async () => {
    const error: unknown = await get(Key, { IfNoneMatch: etag }).catch((error: unknown) => error);
    expect((error as { $response: { headers: Record<string, string> } }).$response.headers).toMatchObject({ etag });
  });

  it('If-None-Match: * puts only what is not there', async () => {
    expect((await refusal(put(Key, 'y', { IfNoneMatch: '*' }))).code).toBe('PreconditionFailed');
    await put('conditional/new', 'y', { IfNoneMatch: '*' });
  });

  it('If-Match puts only over what is known', async () => {
    expect((await refusal(put(Key, 'y', { IfMatch: '"other"' }))).code).toBe('PreconditionFailed');
    await put(Key, 'x', { IfMatch: etag });
  });
});

describe('copies', () => {
  beforeAll(() =>
    put('source/ü ?', 'content', { ContentType: 'text/plain', Metadata: { a: '1' } }).then(() => undefined),
  );
  const copy = (Key: string, more: object = {}) =>
    s3.send(
      new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${encodeURIComponent('source/ü ?')}`, ...more }),
    );

  it('take content and metadata along', async () => {
    const { CopyObjectResult } = await copy('copied');
    const answer = await get('copied');
    expect(answer).toMatchObject({ ContentType: 'text/plain', Metadata: { a: '1' }, ETag: CopyObjectResult?.ETag });
    expect(await answer.Body?.transformToString()).toBe('content');
  });

  it('replace metadata when told to', async () => {
    await copy('replaced', { MetadataDirective: 'REPLACE', Metadata: { b: '2' }, ContentType: 'text/html' });
    expect(await get('replaced')).toMatchObject({ ContentType: 'text/html', Metadata: { b: '2' } });
  });

  it('to themselves must change something', async () => {
    expect((await refusal(copy('source/ü ?'))).code).toBe('InvalidRequest');
    await copy('source/ü ?', { MetadataDirective: 'REPLACE', Metadata: { a: '1' }, ContentType: 'text/plain' });
  });

  it('hold to conditions on the source', async () => {
    expect((await refusal(copy('copied', { CopySourceIfMatch: '"other"' }))).code).toBe('PreconditionFailed');
  });

  it.each(['nothing', '/', `${Bucket}/`, '%ff/x'])('from %s are refused', async (CopySource) => {
    const call = s3.send(new CopyObjectCommand({ Bucket, Key: 'x', CopySource }));
    expect((await refusal(call)).status).toBe(400);
  });

  it('from nothing are told so', async () => {
    const call = s3.send(new CopyObjectCommand({ Bucket, Key: 'x', CopySource: `${Bucket}/no-such-key` }));
    expect((await refusal(call)).code).toBe('NoSuchKey');
  });
});

describe('deletes', () => {
  it('of nothing succeed', async () => {
    await s3.send(new DeleteObjectCommand({ Bucket, Key: 'never-was' }));
  });

  it('of many answer for each', async () => {
    const keys = Array.from({ length: 50 }, (_, n) => `many/${n}`);
    await Promise.all(keys.map((key) => put(key, 'x')));
    const Objects = [...keys, 'many/never-was', 'k'.repeat(1_025)].map((Key) => ({ Key }));
    const answer = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(answer.Deleted?.map(({ Key }) => Key)).toEqual([...keys, 'many/never-was']);
    expect(answer.Errors?.map(({ Code }) => Code)).toEqual(['KeyTooLongError']);
    expect((await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'many/' }))).KeyCount).toBe(0);
  });

  it('of many answer errors alone when quiet', async () => {
    await put('quiet', 'x');
    const Delete = { Objects: [{ Key: 'quiet' }, { Key: 'quiet', VersionId: 'other' }], Quiet: true };
    const answer = await s3.send(new DeleteObjectsCommand({ Bucket, Delete }));
    expect(answer.Deleted).toBeUndefined();
    expect(answer.Errors).toMatchObject([{ Key: 'quiet', Code: 'NoSuchVersion', VersionId: 'other' }]);
  });
});

describe('server-side encryption without a key service', () => {
  it.each([{ ServerSideEncryption: 'AES256' }, { ServerSideEncryption: 'aws:kms' }] as const)(
    'refuses %o instead of storing plain',
    async (more) => {
      expect(await refusal(put('encrypted', 'x', more))).toEqual({ code: 'NotImplemented', status: 501 });
    },
  );

  it("refuses keys of the client's own over plain HTTP", async () => {
    const customer = { SSECustomerAlgorithm: 'AES256', SSECustomerKey: 'a'.repeat(32) };
    expect((await refusal(put('encrypted', 'x', customer))).code).toBe('InvalidRequest');
  });
});
