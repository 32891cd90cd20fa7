import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AccessRequest } from '../../auth/principal.ts';
import { put } from '../../../test/support/objects/test-layer.ts';
import { testCalls, type TestCalls } from '../../../test/support/s3-api/s3-calls.ts';

let test: TestCalls;
let allows: (request: AccessRequest) => boolean;
beforeEach(async () => {
  allows = () => true;
  test = await testCalls({ authorize: (request) => allows(request) });
});

const keys = ['a', 'a-b', 'a/x', 'a/y/z', 'ab', 'b'];
async function fill(): Promise<void> {
  for (const key of keys) for (const text of ['old', 'new']) await test.layer.putObject(put('bucket', key, text));
  await test.layer.deleteObject('bucket', 'a/x');
}
const enable = () => test.layer.putBucketVersioning('bucket', { status: 'Enabled' });
const force = (target: string, headers: Record<string, string> = {}) =>
  test.call('DELETE', target, { headers: { 'x-minio-force-delete': 'true', ...headers } });

async function left(): Promise<readonly string[]> {
  const request = { bucket: 'bucket', prefix: '', delimiter: '', keyMarker: '', limit: 1_000 };
  const { versions } = await test.layer.listObjectVersions(request);
  return [...new Set(versions.map(({ key }) => key))];
}

describe('DELETE with x-minio-force-delete', () => {
  it.each([
    ['/bucket/a', ['a-b', 'ab', 'b']],
    ['/bucket/a/', ['a', 'a-b', 'ab', 'b']],
    ['/bucket/absent', keys],
  ])('removes all versions of the key and of the keys below: %s', async (target, rest) => {
    await enable();
    await fill();
    expect(await force(target)).toMatchObject({ status: 204 });
    expect(await left()).toEqual(rest);
  });

  it('removes objects of a bucket without versions, with the permission for objects alone', async () => {
    await fill();
    allows = ({ action }) => action !== 's3:DeleteObjectVersion';
    expect(await force('/bucket/a')).toMatchObject({ status: 204 });
    expect(await left()).toEqual(['a-b', 'ab', 'b']);
  });

  it('removes nothing where one version may not be removed', async () => {
    await enable();
    await fill();
    allows = ({ action, resource }) => action !== 's3:DeleteObjectVersion' || resource !== 'bucket/a/y/z';
    expect(await force('/bucket/a')).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await left()).toEqual(keys);
  });

  it('removes more versions than a page has', async () => {
    await enable();
    for (let at = 0; at < 1_100; at += 1) await test.layer.deleteObject('bucket', at < 1_050 ? 'a' : `a/${at}`);
    expect(await force('/bucket/a')).toMatchObject({ status: 204 });
    expect(await left()).toEqual([]);
  });

  it.each<[string, Record<string, string>, string]>([
    ['/bucket/a?versionId=null', {}, 'InvalidRequest'],
    ['/bucket/a', { 'if-match': '*' }, 'InvalidRequest'],
    ['/bucket/a', { 'x-amz-if-match-size': '3' }, 'InvalidRequest'],
    ['/bucket/a', { 'x-minio-force-delete': 'yes' }, 'InvalidArgument'],
    ['/absent/a', {}, 'NoSuchBucket'],
    ['/locked/a', {}, 'InvalidRequest'],
  ])('refuses %s with %o', async (target, headers, code) => {
    await test.layer.createBucket('locked', { location: '', objectLock: true });
    await fill();
    expect(await force(target, headers)).toMatchObject({ code });
    expect((await left())[0]).toBe('a');
  });

  it('needs the permission to delete the prefix itself', async () => {
    allows = ({ action }) => action !== 's3:DeleteObject';
    expect(await force('/bucket/a')).toMatchObject({ code: 'AccessDenied' });
  });
});

describe('DELETE of a bucket with x-minio-force-delete', () => {
  it.each([true, false])(
    'removes all versions, delete markers and uploads, and the bucket (versions: %s)',
    async (versions) => {
      if (versions) await enable();
      await fill();
      await test.layer.createMultipartUpload({ bucket: 'bucket', key: 'a', headers: { metadata: {} } });
      expect(await force('/bucket')).toMatchObject({ status: 204 });
      await expect(test.layer.headBucket('bucket')).rejects.toMatchObject({ code: 'NoSuchBucket' });
      await test.layer.createBucket('bucket', { location: '' });
      expect(await left()).toEqual([]);
    },
  );

  it.each(['s3:DeleteBucket', 's3:ForceDeleteBucket'])('needs %s', async (missing) => {
    await enable();
    await fill();
    allows = ({ action }) => action !== missing;
    expect(await force('/bucket')).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await left()).toEqual(keys);
  });

  it('removes nothing where one version may not be removed', async () => {
    await enable();
    await fill();
    allows = ({ action, resource }) => action !== 's3:DeleteObjectVersion' || resource !== 'bucket/b';
    expect(await force('/bucket')).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await left()).toEqual(keys);
  });

  it('removes nothing where one upload may not be aborted', async () => {
    await enable();
    await fill();
    await test.layer.createMultipartUpload({ bucket: 'bucket', key: 'kept', headers: { metadata: {} } });
    allows = ({ action, resource }) => action !== 's3:AbortMultipartUpload' || resource !== 'bucket/kept';
    expect(await force('/bucket')).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await left()).toEqual(keys);
  });

  it('refuses a bucket with object lock, also an empty one', async () => {
    await test.layer.createBucket('locked', { location: '', objectLock: true });
    expect(await force('/locked')).toMatchObject({ status: 405, code: 'MethodNotAllowed' });
    expect(await test.layer.headBucket('locked')).toMatchObject({ name: 'locked' });
  });

  it.each<[string, Record<string, string>, number, string]>([
    ['/absent', {}, 404, 'NoSuchBucket'],
    ['/bucket', { 'x-minio-force-delete': 'yes' }, 400, 'InvalidArgument'],
    ['/bucket', { 'x-minio-force-delete': 'false' }, 409, 'BucketNotEmpty'],
  ])('answers %s with %o by %d %s', async (target, headers, status, code) => {
    await fill();
    expect(await force(target, headers)).toMatchObject({ status, code });
  });
});

describe('a long force-delete', () => {
  afterEach(() => vi.useRealTimers());

  it('stops after 30 seconds, and the next request goes on', async () => {
    await enable();
    await fill();
    vi.useFakeTimers({ toFake: ['Date'] });
    let asked = 0;
    allows = ({ action }) => {
      // 13 versions are authorized, then deleted.
      if (action === 's3:DeleteObjectVersion' && (asked += 1) === 22) vi.setSystemTime(Date.now() + 31_000);
      return true;
    };
    expect(await force('/bucket')).toMatchObject({ status: 503, code: 'SlowDown' });
    const rest = await left();
    expect(rest.length).toBeGreaterThan(0);
    expect(rest.length).toBeLessThan(keys.length);
    expect(await force('/bucket')).toMatchObject({ status: 204 });
  });

  it.each(['/bucket', '/bucket/a'])('stops when the client closes the connection: %s', async (target) => {
    await enable();
    await fill();
    let gone = false;
    allows = ({ action }) => {
      if (action === 's3:DeleteObjectVersion') gone = true;
      return true;
    };
    const senderGone = () => gone;
    const headers = { 'x-minio-force-delete': 'true' };
    expect(await test.call('DELETE', target, { headers, senderGone })).toMatchObject({ code: 'RequestTimeout' });
    expect(await left()).toEqual(keys);
  });
});
