import { type Acl, ownerId, resolveAcl } from '../../../protocol/s3/acl.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectContext } from '../context/context.ts';
import type { ObjectTags } from '../contract/object-layer.ts';
import type { ObjectRecord } from '../records/object-record.ts';
import { recordKeys } from '../records/record-format.ts';
import { storedObject } from '../records/object-record.ts';
import { findVersion } from '../versions/find-version.ts';

/** The tags of an object. The id is that of the object, which a write replaces. */
export interface ExistingTags {
  readonly tags: ObjectTags;
  readonly id: string;
}

/**
 * Returns a function that reads the tags of an object for policies. It resolves with undefined for an absent object, and for a version id
 * that no version can have.
 */
export function existingTags(
  context: Pick<ObjectContext, 'records'>,
): (bucket: string, key: string, versionId?: string) => Promise<ExistingTags | undefined> {
  return async (bucket, key, versionId) => {
    const record = await existingRecord(context, bucket, key, versionId);
    return record && { tags: record.tags ?? {}, id: record.id };
  };
}

/** The ACL of an object, as it counts. The id is that of the object, which a write replaces. */
export interface ExistingAcl {
  readonly acl: Acl;
  readonly id: string;
}

/** Returns a function that reads the ACL of an object for decisions. It resolves with undefined as that of `existingTags` does. */
export function existingAcl(
  context: Pick<ObjectContext, 'records'>,
): (bucket: string, key: string, versionId?: string) => Promise<ExistingAcl | undefined> {
  return async (bucket, key, versionId) => {
    const record = await existingRecord(context, bucket, key, versionId);
    // A delete marker has no ACL.
    if (record === undefined || record.deleteMarker === true) return undefined;
    return { acl: record.acl ?? resolveAcl(undefined, ownerId), id: record.id };
  };
}

async function existingRecord(
  context: Pick<ObjectContext, 'records'>,
  bucket: string,
  key: string,
  versionId: string | undefined,
): Promise<ObjectRecord | undefined> {
  if (versionId === undefined) {
    const entry = await context.records.get(recordKeys.object(bucket, key));
    return storedObject(entry, bucket, key)?.record;
  }
  try {
    return (await findVersion(context, bucket, key, versionId))?.stored.record;
  } catch (error) {
    if (error instanceof S3Error && error.code === 'InvalidArgument') return undefined;
    throw error;
  }
}
