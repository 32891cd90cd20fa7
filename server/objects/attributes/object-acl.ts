import {
  type Acl,
  changesNothing,
  isPrivate,
  isPublicAcl,
  ownerId,
  type RequestedAcl,
  resolveAcl,
} from '../../../protocol/s3/acl.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { readAccountBlock } from './account-block.ts';
import type { ObjectContext } from '../context/context.ts';
import type { ObjectWriter } from '../contract/object-layer.ts';
import { type BucketRecord, countsAcls, getBucket } from '../records/bucket-record.ts';

/**
 * Returns the ACL that is stored with a new object: undefined where the owner of the bucket alone has full control. With
 * BucketOwnerPreferred the owner of the bucket owns what is given to it by `bucket-owner-full-control`.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/about-object-ownership.html
 */
export function aclOfNew(
  bucket: BucketRecord,
  requested: RequestedAcl | undefined,
  writer: ObjectWriter | undefined,
): Acl | undefined {
  if (!countsAcls(bucket)) {
    checkUncounted(requested, requested?.kind === 'canned' ? ignoringSetting : '');
    return undefined;
  }
  const given = requested?.kind === 'canned' && requested.name === 'bucket-owner-full-control';
  const preferred = bucket.ownership === 'BucketOwnerPreferred' && given;
  const owner = preferred ? ownerId : (writer?.canonicalId() ?? ownerId);
  return storedAcl(allowedAcl(bucket, requested, owner));
}

/** Returns the ACL that a request sets on a bucket or object of `owner`. Throws `AccessDenied` for a blocked one. */
export function allowedAcl(bucket: BucketRecord, requested: RequestedAcl | undefined, owner: string): Acl {
  if (requested?.kind === 'grants' && requested.owner !== undefined && requested.owner !== owner) {
    throw new S3Error('AccessDenied', 'Access Denied: the ACL names another owner.');
  }
  const acl = resolveAcl(requested, owner);
  refuseBlocked(bucket, acl);
  return acl;
}

function refuseBlocked({ publicAccessBlock }: BucketRecord, acl: Acl): void {
  if (publicAccessBlock?.blockPublicAcls !== true || !isPublicAcl(acl)) return;
  throw new S3Error(
    'AccessDenied',
    'Access Denied: the ACL is public, and public ACLs are blocked by the BlockPublicAcls setting of the bucket.',
  );
}

/**
 * Reports whether ACLs count in a bucket; without a name, in a new bucket with BucketOwnerEnforced.
 *
 * @throws S3Error AccessDenied for a public ACL that the bucket or the account blocks
 */
export async function countsAcl(context: ObjectContext, acl: RequestedAcl, bucket?: string): Promise<boolean> {
  if (bucket === undefined) {
    await refusePublic(context, acl);
    return false;
  }
  const [{ record }] = await Promise.all([getBucket(context.records, bucket), refusePublic(context, acl)]);
  refuseBlocked(record, resolveAcl(acl, ownerId));
  return countsAcls(record);
}

/** Refuses a public ACL where the account blocks them. It reads nothing for any other. Throws `AccessDenied`. */
export async function refusePublic(
  { records }: Pick<ObjectContext, 'records'>,
  requested: RequestedAcl | undefined,
): Promise<void> {
  if (requested === undefined || !isPublicAcl(resolveAcl(requested, ownerId))) return;
  if ((await readAccountBlock(records))?.blockPublicAcls !== true) return;
  throw new S3Error(
    'AccessDenied',
    'Access Denied: the ACL is public, and public ACLs are blocked by the BlockPublicAcls setting of the account.',
  );
}

/** It holds for new objects and buckets alone. */
export const ignoringSetting =
  ' The setting SVC_API_ACL=ignore of the server ignores canned ACLs of new objects and buckets.';

/**
 * Refuses an ACL that would grant something in a bucket where ACLs do not count. Throws `AccessControlListNotSupported`, whose message ends
 * with `advice`.
 */
export function checkUncounted(requested: RequestedAcl | undefined, advice = ''): void {
  if (requested !== undefined && !changesNothing(requested)) throw aclsDoNotCount(requested, advice);
}

function aclsDoNotCount(requested: RequestedAcl, advice: string): S3Error {
  const refused = requested.kind === 'canned' ? `the canned ACL "${requested.name}"` : 'the grants';
  return new S3Error(
    'AccessControlListNotSupported',
    `The bucket does not allow ACLs, and ${refused} cannot be set. Give access by a bucket policy, or let ACLs count with ` +
      `PutBucketOwnershipControls (ObjectWriter).${advice}`,
  );
}

/** Returns undefined for the ACL that an object without one has. */
export function storedAcl(acl: Acl): Acl | undefined {
  return acl.owner === ownerId && isPrivate(acl) ? undefined : acl;
}

/** Returns the ACL of an object, as it counts in the bucket. */
export function shownAcl(bucket: BucketRecord, acl: Acl | undefined): Acl {
  return (countsAcls(bucket) ? acl : undefined) ?? resolveAcl(undefined, ownerId);
}
