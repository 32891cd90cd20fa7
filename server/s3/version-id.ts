import { S3Error } from '../../protocol/s3/s3-error.ts';

/** Buckets are not versioned: each object is its own version `null`. @throws S3Error NoSuchVersion for any other */
export function checkVersion(versionId: string | undefined): void {
  if (versionId === undefined || versionId === 'null') return;
  if (versionId === '') throw new S3Error('InvalidArgument', 'Version id cannot be the empty string.');
  throw new S3Error('NoSuchVersion', undefined, { details: { VersionId: versionId.slice(0, 100) } });
}
