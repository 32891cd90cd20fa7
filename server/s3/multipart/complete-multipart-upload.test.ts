import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { randomBody } from '../../../test/support/objects/test-layer.ts';
import { testCalls, type Reply, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

const chunks = [randomBody(5 * 1024 * 1024), randomBody(1_000)];
const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
const crcOf = (bytes: Buffer) => {
  const four = Buffer.alloc(4);
  four.writeUInt32BE(crc32(bytes));
  return four.toString('base64');
};
const composite = sha256(Buffer.concat(chunks.map(sha256))).toString('base64');
const whole = crcOf(Buffer.concat(chunks));

type Headers = Readonly<Record<string, string>>;

const modes = {
  none: {},
  'SHA256 of the parts': { 'x-amz-checksum-algorithm': 'SHA256' },
  'CRC32 of the whole': { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'FULL_OBJECT' },
} as const;

/** Uploads the parts, and completes them with these headers; `listed` is what the document says of a part beside number and ETag. */
async function complete(
  created: Headers,
  headers: Headers,
  listed: (chunk: Buffer, index: number) => string = () => '',
): Promise<Reply & { readonly exists: boolean }> {
  const { call, layer } = await testCalls();
  const { body } = await call('POST', '/bucket/key?uploads', { headers: created });
  const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
  const parts = await Promise.all(
    chunks.map(async (chunk, index) => {
      const target = `/bucket/key?uploadId=${uploadId}&partNumber=${index + 1}`;
      // A composite checksum needs that of each part.
      const isComposite = created['x-amz-checksum-algorithm'] === 'SHA256';
      const sums: Headers = isComposite ? { 'x-amz-checksum-sha256': sha256(chunk).toString('base64') } : {};
      const { headers: answer } = await call('PUT', target, { body: chunk, headers: sums });
      const etag = answer['etag'] ?? '';
      return `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag>${listed(chunk, index)}</Part>`;
    }),
  );
  const document = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;
  const reply = await call('POST', `/bucket/key?uploadId=${uploadId}`, { headers, body: document });
  const exists = await layer.headObject('bucket', 'key').then(
    () => true,
    () => false,
  );
  return { ...reply, exists };
}

const partSha = (chunk: Buffer) => `<ChecksumSHA256>${sha256(chunk).toString('base64')}</ChecksumSHA256>`;

describe('CompleteMultipartUpload', () => {
  it.each<[keyof typeof modes, Headers]>([
    ['none', { 'x-amz-mp-object-size': String(size) }],
    ['none', { 'x-amz-checksum-type': 'FULL_OBJECT' }],
    ['SHA256 of the parts', { 'x-amz-checksum-sha256': composite, 'x-amz-checksum-type': 'COMPOSITE' }],
    ['SHA256 of the parts', { 'x-amz-checksum-sha256': `${composite}-2` }],
    ['CRC32 of the whole', { 'x-amz-checksum-crc32': whole, 'x-amz-checksum-type': 'FULL_OBJECT' }],
  ])('with checksum %s takes %o', async (mode, headers) => {
    const listed = mode === 'SHA256 of the parts' ? partSha : undefined;
    expect(await complete(modes[mode], headers, listed)).toMatchObject({ code: undefined, exists: true });
  });

  const wrongSha = sha256(Buffer.of()).toString('base64');
  it.each<[keyof typeof modes, Headers, string]>([
    ['none', { 'x-amz-mp-object-size': String(size + 1) }, 'InvalidRequest'],
    ['none', { 'x-amz-mp-object-size': 'many' }, 'InvalidRequest'],
    ['none', { 'x-amz-checksum-type': 'COMPOSITE' }, 'InvalidRequest'],
    ['none', { 'x-amz-checksum-crc32': whole }, 'InvalidRequest'],
    ['SHA256 of the parts', { 'x-amz-checksum-sha256': wrongSha }, 'BadDigest'],
    ['SHA256 of the parts', { 'x-amz-checksum-sha256': `${composite}-3` }, 'BadDigest'],
    ['SHA256 of the parts', { 'x-amz-checksum-crc32': whole }, 'InvalidRequest'],
    ['SHA256 of the parts', { 'x-amz-checksum-type': 'FULL_OBJECT' }, 'InvalidRequest'],
    ['SHA256 of the parts', { 'x-amz-checksum-sha256': 'none' }, 'InvalidRequest'],
    ['CRC32 of the whole', { 'x-amz-checksum-crc32': crcOf(Buffer.of()) }, 'BadDigest'],
    ['CRC32 of the whole', { 'x-amz-checksum-type': 'COMPOSITE' }, 'InvalidRequest'],
    ['CRC32 of the whole', { 'x-amz-checksum-type': 'PARTIAL' }, 'InvalidRequest'],
  ])('with checksum %s refuses %o: %s', async (mode, headers, code) => {
    const listed = mode === 'SHA256 of the parts' ? partSha : undefined;
    expect(await complete(modes[mode], headers, listed)).toMatchObject({ code, exists: false });
  });

  it('needs the checksum of every part for a checksum of checksums', async () => {
    const reply = await complete(modes['SHA256 of the parts'], {}, (chunk, index) =>
      index === 0 ? partSha(chunk) : '',
    );
    expect(reply).toMatchObject({ code: 'InvalidRequest', exists: false });
    expect(reply.body).toContain('missing for part 2');
  });

  it.each([
    ['another value', modes['CRC32 of the whole'], () => '<ChecksumCRC32>AAAAAA==</ChecksumCRC32>', 'InvalidPart'],
    ['another algorithm', modes['CRC32 of the whole'], partSha, 'InvalidPart'],
    ['one that was not computed', modes.none, partSha, 'InvalidPart'],
    ['one that is not known', modes.none, () => '<ChecksumMD4>AAAA</ChecksumMD4>', 'InvalidRequest'],
  ])('refuses a checksum of a part: %s', async (_, created, listed, code) => {
    expect(await complete(created, {}, listed)).toMatchObject({ code, exists: false });
  });

  it('answers a part number of 0 as S3 does', async () => {
    const { call } = await testCalls();
    const body =
      '<CompleteMultipartUpload><Part><PartNumber>0</PartNumber><ETag>e</ETag></Part></CompleteMultipartUpload>';
    expect(await call('POST', `/bucket/key?uploadId=${'0'.repeat(32)}`, { body })).toMatchObject({
      code: 'InvalidArgument',
    });
  });
});

describe('the list of parts of CompleteMultipartUpload', () => {
  const small = randomBody(10);
  const etags = [chunks[0] ?? small, small, small].map((bytes) => createHash('md5').update(bytes).digest('hex'));
  const part = (number: number | string, etag: string = etags[Number(number) - 1] ?? '') =>
    `<Part><PartNumber>${number}</PartNumber><ETag>"${etag}"</ETag></Part>`;
  const many = Array.from({ length: 10_001 }, (_, index) => part(index + 1, etags[1])).join('');
  const [first, second, third] = [part(1), part(2), part(3)];

  /** An upload whose part 1 has 5 MiB; the parts 2 and 3 have ten bytes. A refusal changes nothing of it. */
  let test: TestCalls;
  let uploadId = '';
  beforeAll(async () => {
    test = await testCalls();
    const { body } = await test.call('POST', '/bucket/key?uploads');
    uploadId = /<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? '';
    for (const [index, bytes] of [chunks[0] ?? small, small, small].entries()) {
      await test.call('PUT', `/bucket/key?uploadId=${uploadId}&partNumber=${index + 1}`, { body: bytes });
    }
  });

  // The document is read before the parts, and every part before the sizes.
  it.each([
    ['no document', '', 'MalformedXML'],
    ['no part', '<CompleteMultipartUpload/>', 'MalformedXML'],
    ['another root', `<Complete>${first}</Complete>`, 'MalformedXML'],
    ['an open element', '<CompleteMultipartUpload><Part>', 'MalformedXML'],
    ['no part number', [`<Part><ETag>"${etags[0]}"</ETag></Part>`], 'MalformedXML'],
    ['no ETag', ['<Part><PartNumber>1</PartNumber></Part>'], 'MalformedXML'],
    ['a number that is none', [part('one', etags[0])], 'MalformedXML'],
    ['10,001 parts', [many], 'MalformedXML'],
    ['part 0', [part(0, etags[0])], 'InvalidArgument'],
    ['part 10,001', [part(10_001, etags[0])], 'InvalidArgument'],
    ['descending numbers', [second, first], 'InvalidPartOrder'],
    ['a number twice', [first, first], 'InvalidPartOrder'],
    ['descending numbers of absent parts', [part(9, etags[0]), part(8, etags[0])], 'InvalidPartOrder'],
    ['an absent part', [first, part(4, etags[0])], 'InvalidPart'],
    ['another ETag', [part(1, etags[1])], 'InvalidPart'],
    ['an empty ETag', [part(1, '')], 'InvalidPart'],
    ['an absent part after a small one', [second, part(4, etags[0])], 'InvalidPart'],
    ['a small part before another', [second, third], 'EntityTooSmall'],
    ['a small part in the middle', [first, second, third], 'EntityTooSmall'],
  ] as const)('with %s is refused, and the upload goes on', async (_, listed, code) => {
    const body =
      typeof listed === 'string' ? listed : `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`;
    expect(await test.call('POST', `/bucket/key?uploadId=${uploadId}`, { body })).toMatchObject({ status: 400, code });
    await expect(test.layer.headObject('bucket', 'key')).rejects.toMatchObject({ code: 'NoSuchKey' });
    expect(await test.call('GET', `/bucket/key?uploadId=${uploadId}`)).toMatchObject({ status: 200 });
  });
});

describe('requests for an upload in a bucket that does not exist', () => {
  it.each([
    ['PUT', '&partNumber=1'],
    ['DELETE', ''],
    ['GET', ''],
  ])('are answered so: %s', async (method, more) => {
    const { call } = await testCalls();
    expect(await call(method, `/absent/key?uploadId=${'0'.repeat(32)}${more}`)).toMatchObject({ code: 'NoSuchBucket' });
  });

  it('learn nothing where the caller may not write', async () => {
    const { call } = await testCalls({ authorize: () => false });
    for (const bucket of ['absent', 'bucket']) {
      const target = `/${bucket}/key?uploadId=${'0'.repeat(32)}&partNumber=1`;
      expect(await call('PUT', target)).toMatchObject({ code: 'AccessDenied' });
    }
  });
});
