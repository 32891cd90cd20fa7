import { createHash } from 'node:crypto';
import { put, randomBody, readAll, testLayer, type TestLayer } from '../objects/test-layer.ts';
import type { ListedVersion } from '../../../server/objects/contract/object-layer.ts';
import { LARGE } from './filled-layer.ts';

const sealed = { encryption: { scheme: 'SSE-S3' } } as const;

/** Milliseconds since 1970: long after every test. */
export const RETAINED_UNTIL = new Date('2100-01-01T00:00:00Z');

/**
 * Fills a bucket with object lock with versions of every kind, and a suspended bucket: null versions from before, inline bodies, blobs,
 * parts, encrypted ones, delete markers that are current and that are not, tags, a retention, and a legal hold.
 */
export async function versionedLayer(
  options: Parameters<typeof testLayer>[0] = {},
  bucket = 'bucket',
): Promise<TestLayer> {
  const test = testLayer(options);
  const { layer } = test;
  await layer.createBucket(bucket, { location: '' });
  await layer.putObject(put(bucket, 'key', 'the null version'));
  await layer.putObject(put(bucket, 'null-large', randomBody(LARGE)));
  await layer.putBucketVersioning(bucket, { status: 'Enabled' });
  await layer.putObject(put(bucket, 'key', randomBody(1_000), { tags: { colour: 'red' } }));
  await layer.putObject(put(bucket, 'key', randomBody(LARGE)));
  await layer.putObject(put(bucket, 'key', randomBody(1_000), sealed));
  await layer.deleteObject(bucket, 'key');
  await layer.putObject(put(bucket, 'key', randomBody(LARGE), sealed));
  await layer.putObject(put(bucket, 'null-large', ''));
  await putParts(test, bucket, 'parts');
  await putParts(test, bucket, 'parts');
  await layer.putObject(put(bucket, 'hidden', 'behind a marker'));
  await layer.deleteObject(bucket, 'hidden');
  await layer.deleteObject(bucket, 'never-there');
  await layer.createBucket('locked', { location: '', objectLock: true });
  const lock = { retention: { mode: 'COMPLIANCE', until: RETAINED_UNTIL }, legalHold: true } as const;
  await layer.putObject(put('locked', 'key', randomBody(LARGE), { lock, tags: { a: 'b' } }));
  await layer.putObject(put('locked', 'key', 'newer'));
  await layer.createBucket('suspended', { location: '' });
  await layer.putBucketVersioning('suspended', { status: 'Enabled' });
  await layer.putObject(put('suspended', 'key', 'a version'));
  await layer.putBucketVersioning('suspended', { status: 'Suspended' });
  await layer.putObject(put('suspended', 'key', 'replaced'));
  await layer.putObject(put('suspended', 'key', 'null'));
  await layer.deleteObject('suspended', 'gone');
  return test;
}

async function putParts({ layer }: TestLayer, bucket: string, key: string): Promise<void> {
  const { uploadId } = await layer.createMultipartUpload({ bucket, key, headers: { metadata: {} } });
  const { etag } = await layer.putPart({ ...put(bucket, key, randomBody(LARGE)), uploadId, partNumber: 1 });
  await layer.completeMultipartUpload({ bucket, key, uploadId, parts: [{ partNumber: 1, etag }] });
}

/** Lists all versions and delete markers of a bucket. */
export async function versionsOf(
  { layer }: Pick<TestLayer, 'layer'>,
  bucket: string,
): Promise<readonly ListedVersion[]> {
  const { versions } = await layer.listObjectVersions({
    bucket,
    prefix: '',
    delimiter: '',
    keyMarker: '',
    limit: 1_000,
  });
  return versions;
}

/** Reads everything that clients can see of the versions of some buckets, or of all: their order, bodies, tags and locks. */
export async function contentsOf(test: Pick<TestLayer, 'layer'>, only?: readonly string[]): Promise<unknown> {
  const names = only ?? (await test.layer.listBuckets()).map(({ name }) => name);
  return Promise.all(
    names.map(async (name) => ({
      name,
      versioning: await test.layer.getBucketVersioning(name),
      objectLock: await test.layer.getObjectLockConfiguration(name),
      versions: await Promise.all((await versionsOf(test, name)).map((version) => contentOf(test, name, version))),
    })),
  );
}

async function contentOf(
  { layer }: Pick<TestLayer, 'layer'>,
  bucket: string,
  version: ListedVersion,
): Promise<unknown> {
  if (version.deleteMarker) return { ...version };
  const { info, read } = await layer.getObject(bucket, version.key, { versionId: version.versionId });
  const bytes = await readAll(read({ start: 0, end: info.size }));
  return { ...version, info, sha256: createHash('sha256').update(bytes).digest('hex') };
}
