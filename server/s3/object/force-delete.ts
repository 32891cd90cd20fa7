import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { mapLimit } from '../../../platform/async/concurrency.ts';
import type { ListedVersion, UploadListing, VersionListing } from '../../objects/contract/object-layer.ts';
import { header } from '../request.ts';
import type { S3Call, VersionActions } from '../operation.ts';

/** The actions that a caller needs to delete an object, or one of its versions. */
export const deleteActions: VersionActions = { action: 's3:DeleteObject', versionAction: 's3:DeleteObjectVersion' };

type ListedUpload = UploadListing['uploads'][number];

/** The maximum number of versions that are in memory at once. */
const page = 1_000;
const concurrency = 32;

/**
 * Reports if a client of MinIO asks to delete a whole prefix: `mc rm --force --purge`.
 *
 * @throws S3Error InvalidRequest with a version or a condition, which are of one object
 */
export function isForceDelete({ request, query }: S3Call): boolean {
  const force = header(request.headers, 'x-minio-force-delete')?.toLowerCase();
  if (force === undefined || force === 'false') return false;
  if (force !== 'true') {
    throw new S3Error('InvalidArgument', 'x-minio-force-delete is true or false.', {
      details: { ArgumentName: 'x-minio-force-delete', ArgumentValue: force.slice(0, 100) },
    });
  }
  const guard = ['if-match', 'x-amz-if-match-size', 'x-amz-if-match-last-modified-time'].find(
    (name) => request.headers[name] !== undefined,
  );
  if (guard === undefined && !query.has('versionId')) return true;
  throw new S3Error(
    'InvalidRequest',
    `x-minio-force-delete is for a prefix, and ${guard ?? 'versionId'} for one object or version.`,
  );
}

/**
 * The milliseconds for which one request deletes. Proxies close connections that are silent for a minute. Clients repeat a request that was
 * answered SlowDown, and the next one goes on with what is left.
 */
const maxMs = 30_000;

/**
 * Deletes all versions and delete markers of a key, and of all keys below it as a folder. The caller needs the permission for each of them:
 * all are authorized before the first is deleted. It stops when the client closes the connection. As in MinIO, a bucket with object lock is
 * refused.
 *
 * @throws S3Error AccessDenied, InvalidRequest, SlowDown where some are left
 */
export async function forceDelete(call: S3Call): Promise<void> {
  if ((await call.objects.getObjectLockConfiguration(call.bucket)) !== undefined) {
    throw new S3Error('InvalidRequest', 'force-delete is forbidden on Object Locking enabled buckets');
  }
  await removeVersions(call, call.key.endsWith('/') ? [call.key] : [call.key, `${call.key}/`]);
}

/**
 * Removes everything in a bucket, before it is deleted: `mc rb --force`. Where it stops, the bucket stays with what is left.
 *
 * @throws S3Error as `forceDelete`, but MethodNotAllowed for a bucket with object lock, as MinIO
 */
export async function emptyBucket(call: S3Call): Promise<void> {
  await call.require('s3:ForceDeleteBucket', call.bucket);
  if ((await call.objects.getObjectLockConfiguration(call.bucket)) !== undefined) {
    throw new S3Error('MethodNotAllowed', 'force-delete is forbidden on Object Locking enabled buckets');
  }
  for await (const uploads of uploadPages(call)) for (const upload of uploads) await authorizeAbort(call, upload);
  await removeVersions(call, ['']);
  await abortUploads(call);
}

function authorizeAbort(call: S3Call, { key }: ListedUpload): Promise<unknown> {
  return call.require('s3:AbortMultipartUpload', `${call.bucket}/${key}`);
}

async function removeVersions(call: S3Call, prefixes: readonly string[]): Promise<void> {
  const { bucket, objects } = call;
  const hasVersions = (await objects.getBucketVersioning(bucket)) !== undefined;
  // Without versions, the plain action is enough, and the object is deleted by its key.
  const idOf = ({ versionId }: ListedVersion) => (hasVersions ? versionId : undefined);
  const authorize = (version: ListedVersion) =>
    call.requireVersion(deleteActions, `${bucket}/${version.key}`, idOf(version));
  for await (const versions of pages(call, prefixes)) for (const version of versions) await authorize(version);
  const until = call.now.getTime() + maxMs;
  for await (const versions of pages(call, prefixes)) {
    await mapLimit([...Map.groupBy(versions, ({ key }) => key).values()], concurrency, async (ofKey) => {
      // The oldest goes first: to remove the current one would make another one current. They would also conflict with each other.
      for (const version of ofKey.toReversed()) {
        checkProgress(call, until);
        // It may have been written after the first pass.
        const onlyId = await authorize(version);
        const options = {
          conditions: undefined,
          versionId: idOf(version),
          bypassGovernance: false,
          onlyId,
          replica: undefined,
          by: call,
        };
        await objects.deleteObject(bucket, version.key, options);
      }
    });
  }
}

async function abortUploads(call: S3Call): Promise<void> {
  const { bucket, objects } = call;
  const until = call.now.getTime() + maxMs;
  for await (const uploads of uploadPages(call)) {
    await mapLimit(uploads, concurrency, async (upload) => {
      checkProgress(call, until);
      // It may have begun after the first pass.
      await authorizeAbort(call, upload);
      await objects.abortMultipartUpload(bucket, upload.key, upload.uploadId).catch(ignoreEnded);
    });
  }
}

async function* uploadPages({ bucket, objects }: S3Call): AsyncGenerator<readonly ListedUpload[]> {
  let next: UploadListing['next'] = { key: '', uploadId: '' };
  while (next !== undefined) {
    const after = { afterKey: next.key, afterUploadId: next.uploadId };
    const listing: UploadListing = await objects.listMultipartUploads({
      bucket,
      prefix: '',
      delimiter: '',
      ...after,
      limit: page,
    });
    yield listing.uploads;
    next = listing.next;
  }
}

/** Another request may have ended the upload. */
function ignoreEnded(error: unknown): void {
  if (!(error instanceof S3Error && error.code === 'NoSuchUpload')) throw error;
}

function checkProgress(call: S3Call, until: number): void {
  checkClient(call);
  if (call.now.getTime() < until) return;
  throw new S3Error('SlowDown', 'A part is deleted. Repeat the request to delete the rest.');
}

function checkClient({ request }: S3Call): void {
  if (request.body.senderGone?.() === true) throw new S3Error('RequestTimeout', 'The client closed the connection.');
}

/** Lists the versions of the keys that begin with a prefix; of a prefix that is a key and not a folder, those of the key alone. */
async function* pages(call: S3Call, prefixes: readonly string[]): AsyncGenerator<readonly ListedVersion[]> {
  const { bucket, objects } = call;
  for (const prefix of prefixes) {
    const isKey = prefix !== '' && !prefix.endsWith('/');
    let next: VersionListing['next'] = { key: '' };
    while (next !== undefined) {
      checkClient(call);
      const request = { bucket, prefix, delimiter: '', keyMarker: next.key, versionIdMarker: next.versionId };
      const listing: VersionListing = await objects.listObjectVersions({ ...request, limit: page });
      // The key itself comes before all other keys that begin with it.
      const versions = isKey ? listing.versions.filter((one) => one.key === prefix) : listing.versions;
      yield versions;
      next = versions.length === listing.versions.length ? listing.next : undefined;
    }
  }
}
