import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { hasherOf } from '../../../platform/checksums/hashers.ts';
import { testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

type Headers = Readonly<Record<string, string>>;

const content = Buffer.from('a part');
const md5 = createHash('md5').update(content).digest('base64');
const sum = (algorithm: 'CRC32' | 'CRC32C' | 'SHA256') => {
  const hasher = hasherOf(algorithm);
  hasher.update(content);
  return { [`x-amz-checksum-${algorithm.toLowerCase()}`]: hasher.digest().toString('base64') };
};

let calls: TestCalls;
beforeEach(async () => {
  calls = await testCalls();
  await calls.layer.createBucket('locked', { location: '', objectLock: true });
});

async function begin(headers: Headers): Promise<string> {
  const { body } = await calls.call('POST', '/locked/key?uploads', { headers });
  return `/locked/key?partNumber=1&uploadId=${/<UploadId>(.*)<\/UploadId>/.exec(body)?.[1] ?? ''}`;
}

describe('UploadPart of an upload with a lock', () => {
  const locks: readonly Headers[] = [
    {
      'x-amz-object-lock-mode': 'COMPLIANCE',
      'x-amz-object-lock-retain-until-date': new Date(Date.now() + 86_400_000).toISOString(),
    },
    { 'x-amz-object-lock-legal-hold': 'ON' },
  ];

  it.each(locks)('needs no digest of the part: %o', async (lock) => {
    const target = await begin(lock);
    for (const headers of [{}, { 'content-md5': md5 }, sum('CRC32')]) {
      expect(await calls.call('PUT', target, { body: content, headers })).toMatchObject({ status: 200 });
    }
  });

  it('needs none of a part that is copied', async () => {
    await calls.call('PUT', '/bucket/source', { body: content });
    const target = await begin({ 'x-amz-object-lock-legal-hold': 'ON' });
    const headers = { 'x-amz-copy-source': '/bucket/source' };
    expect(await calls.call('PUT', target, { headers })).toMatchObject({ status: 200, code: undefined });
  });
});

describe('UploadPart with a checksum of another algorithm than the upload has', () => {
  it.each([sum('CRC32'), sum('SHA256')])('is refused: %o', async (headers) => {
    const target = await begin({ 'x-amz-checksum-algorithm': 'CRC32C' });
    expect(await calls.call('PUT', target, { body: content, headers })).toMatchObject({
      status: 400,
      code: 'InvalidRequest',
      body: expect.stringMatching(/^Checksum Type mismatch occurred, expected checksum Type: crc32c, actual/),
    });
    expect(await calls.call('PUT', target, { body: content, headers: sum('CRC32C') })).toMatchObject({ status: 200 });
  });
});

describe('UploadPart without the checksum of its upload', () => {
  it.each(['CRC32', 'CRC32C', 'SHA1', 'SHA256', 'SHA512'])(
    'is refused where it is composite: %s',
    async (algorithm) => {
      const target = await begin({ 'x-amz-checksum-algorithm': algorithm });
      expect(await calls.call('PUT', target, { body: content, headers: { 'content-md5': md5 } })).toMatchObject({
        status: 400,
        code: 'InvalidRequest',
        body: `Checksum Type mismatch occurred, expected checksum Type: ${algorithm.toLowerCase()}, actual checksum Type: null`,
      });
    },
  );

  it('is computed where the checksum is of the whole object', async () => {
    const whole = { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'FULL_OBJECT' };
    const { headers } = await calls.call('PUT', await begin(whole), { body: content });
    expect(headers).toMatchObject(sum('CRC32'));
  });

  it('is computed for a part that is copied', async () => {
    await calls.call('PUT', '/bucket/source', { body: content });
    const target = await begin({ 'x-amz-checksum-algorithm': 'CRC32' });
    const { body } = await calls.call('PUT', target, { headers: { 'x-amz-copy-source': '/bucket/source' } });
    expect(body).toContain(`<ChecksumCRC32>${sum('CRC32')['x-amz-checksum-crc32']}</ChecksumCRC32>`);
  });
});
