import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectContext } from '../context.ts';
import type { ObjectTags } from '../object-layer.ts';
import { recordKeys } from '../records/record-format.ts';
import { findVersion, storedObject } from './versions.ts';

/**
 * Returns a function that reads the tags of an object for policies. It resolves with undefined for an absent object and for a delete
 * marker, and for a version id that no version can have.
 */
export function existingTags(
  context: Pick<ObjectContext, 'records'>,
): (bucket: string, key: string, versionId?: string) => Promise<ObjectTags | undefined> {
  return async (bucket, key, versionId) => {
    if (versionId === undefined) {
      const entry = await context.records.get(recordKeys.object(bucket, key));
      return storedObject(entry, bucket, key)?.record.tags;
    }
    try {
      return (await findVersion(context, bucket, key, versionId))?.stored.record.tags;
    } catch (error) {
      if (error instanceof S3Error && error.code === 'InvalidArgument') return undefined;
      throw error;
    }
  };
}
