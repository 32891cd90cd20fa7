import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { mapLimit } from '../../../platform/concurrency.ts';
import type { ListedVersion, VersionListing } from '../../objects/object-layer.ts';
import { header } from '../request.ts';
import type { S3Call, VersionActions } from '../operation.ts';

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
 * Deletes all versions and delete markers of a key, and of all keys below it as a folder. The caller needs the permission for each of them:
 * all are authorized before the first is deleted. As in MinIO, a bucket with object lock is refused.
 *
 * @throws S3Error AccessDenied, InvalidRequest
 */
export async function forceDelete(call: S3Call, actions: VersionActions): Promise<void> {
  const { bucket, objects } = call;
  if ((await objects.getObjectLockConfiguration(bucket)) !== undefined) {
    throw new S3Error('InvalidRequest', 'force-delete is forbidden on Object Locking enabled buckets');
  }
  const hasVersions = (await objects.getBucketVersioning(bucket)) !== undefined;
  // Without versions, the plain action is enough, and the object is deleted by its key.
  const idOf = ({ versionId }: ListedVersion) => (hasVersions ? versionId : undefined);
  const authorize = (version: ListedVersion) => call.requireVersion(actions, `${bucket}/${version.key}`, idOf(version));
  for await (const versions of pages(call)) for (const version of versions) await authorize(version);
  for await (const versions of pages(call)) {
    await mapLimit([...Map.groupBy(versions, ({ key }) => key).values()], concurrency, async (ofKey) => {
      // The oldest goes first: to remove the current one would make another one current. They would also conflict with each other.
      for (const version of ofKey.toReversed()) {
        // It may have been written after the first pass.
        await authorize(version);
        const options = { conditions: undefined, versionId: idOf(version), bypassGovernance: false };
        await objects.deleteObject(bucket, version.key, options);
      }
    });
  }
}

/** Lists the versions of the key, then those of the keys below it. */
async function* pages({ bucket, key, objects }: S3Call): AsyncGenerator<readonly ListedVersion[]> {
  const prefixes = key.endsWith('/') ? [key] : [key, `${key}/`];
  for (const prefix of prefixes) {
    let next: VersionListing['next'] = { key: '' };
    while (next !== undefined) {
      const request = { bucket, prefix, delimiter: '', keyMarker: next.key, versionIdMarker: next.versionId };
      const listing: VersionListing = await objects.listObjectVersions({ ...request, limit: page });
      // The key itself comes before all other keys that begin with it.
      const versions = prefix.endsWith('/') ? listing.versions : listing.versions.filter((one) => one.key === key);
      yield versions;
      next = versions.length === listing.versions.length ? listing.next : undefined;
    }
  }
}
