import { allowedAcl, checkUncounted, refusePublic } from '../attributes/object-acl.ts';
import { joinedBlock, readAccountBlock } from '../attributes/account-block.ts';
import { checkSettingCondition } from './setting-condition.ts';
import {
  countsAcls,
  guardBucket,
  type BucketRecord,
  encodeBucket,
  getBucket,
  noSuchBucket,
} from '../records/bucket-record.ts';
import { commitChange } from '../commit/commit-change.ts';
import type { ObjectContext } from '../context/context.ts';
import { recordKeys } from '../records/record-format.ts';
import type { BucketEncryption, BucketVersioning, ObjectLockConfiguration } from '../contract/object-layer.ts';
import { isPublic } from '../../../protocol/policy/is-public.ts';
import { parseBucketPolicy } from '../../../protocol/policy/parse-policy.ts';
import { type Acl, isPrivate, ownerId, type RequestedAcl, resolveAcl } from '../../../protocol/s3/acl.ts';
import type { ObjectOwnership } from '../../../protocol/s3/access/ownership-controls.ts';
import type { PublicAccessBlock } from '../../../protocol/s3/access/public-access-block.ts';
import type { LifecycleRule } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import type { NotificationRule } from '../../../protocol/s3/bucket-notification.ts';
import type { EventCaller } from '../contract/event-caller.ts';
import { ruledEvent } from '../records/object-event.ts';
import { testEvents } from '../events/outbox.ts';
import type { BucketCharges } from '../contract/buckets.ts';
import type { Website } from '../../../protocol/s3/bucket-website.ts';
import type { CorsRule } from '../../../protocol/s3/bucket-cors.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';

/** Changes the record of a bucket. Concurrent changes are applied one after the other. Throws `NoSuchBucket`. */
export function changeBucket(
  context: ObjectContext,
  bucket: string,
  change: (record: BucketRecord) => BucketRecord,
): Promise<void> {
  return commitChange(context, async () => {
    const stored = await getBucket(context.records, bucket);
    checkSettingCondition(context, bucket, stored.record);
    const { deleting: _deleting, ...record } = stored.record;
    const changed = { ...change(record), changed: context.clock() };
    const put = [{ key: recordKeys.bucket(bucket), value: encodeBucket(changed) }];
    return { batch: { expect: guardBucket(bucket, stored).expect, put }, result: undefined };
  });
}

export async function getBucketEncryption(
  context: ObjectContext,
  bucket: string,
): Promise<BucketEncryption | undefined> {
  return (await getBucket(context.records, bucket)).record.encryption;
}

/** Sets the encryption of new objects. Throws `KMSNotFound` when the key does not exist, `NotImplemented` without a key service. */
export async function putBucketEncryption(
  context: ObjectContext,
  bucket: string,
  encryption: BucketEncryption,
): Promise<void> {
  await getBucket(context.records, bucket);
  if (encryption.scheme !== 'none') {
    const keyName = (encryption.scheme === 'SSE-KMS' ? encryption.keyName : undefined) ?? context.keys.defaultKey;
    await context.keys.checkKey(keyName);
  }
  await changeBucket(context, bucket, (record) => ({ ...record, encryption }));
}

export async function deleteBucketEncryption(context: ObjectContext, bucket: string): Promise<void> {
  await changeBucket(context, bucket, ({ encryption: _encryption, ...record }) => record);
}

export async function getBucketPolicy(context: ObjectContext, bucket: string): Promise<string | undefined> {
  return (await getBucket(context.records, bucket)).record.policy;
}

/** The caller has checked the policy. Throws `AccessDenied` for a public one that the public access block of the bucket or the account refuses. */
export async function putBucketPolicy(context: ObjectContext, bucket: string, policy: string): Promise<void> {
  const account = isPublic(parseBucketPolicy(policy, bucket)) ? await readAccountBlock(context.records) : undefined;
  await changeBucket(context, bucket, (record) => {
    if (joinedBlock(record, account)?.blockPublicPolicy === true && isPublic(parseBucketPolicy(policy, bucket))) {
      throw new S3Error(
        'AccessDenied',
        'Access Denied: the policy is public, and public policies are blocked by the BlockPublicPolicy setting of the bucket or the account.',
      );
    }
    return { ...record, policy };
  });
}

export function deleteBucketPolicy(context: ObjectContext, bucket: string): Promise<void> {
  return changeBucket(context, bucket, ({ policy: _policy, ...record }) => record);
}

export async function getBucketVersioning(
  context: ObjectContext,
  bucket: string,
): Promise<BucketVersioning | undefined> {
  return (await getBucket(context.records, bucket)).record.versioning;
}

/** Throws `InvalidBucketState` for a bucket with object lock: all of its keys have versions. */
export function putBucketVersioning(
  context: ObjectContext,
  bucket: string,
  versioning: BucketVersioning,
): Promise<void> {
  const { status, excludedPrefixes = [], excludeFolders = false } = versioning;
  return changeBucket(context, bucket, (record) => {
    if (record.objectLock !== undefined && (status === 'Suspended' || excludedPrefixes.length > 0 || excludeFolders)) {
      throw new S3Error(
        'InvalidBucketState',
        'An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.',
      );
    }
    if (record.replication !== undefined && status === 'Suspended') {
      throw new S3Error(
        'InvalidBucketState',
        'A replication configuration is present on this bucket, so the versioning state cannot be changed.',
      );
    }
    return { ...record, versioning };
  });
}

export async function getObjectLockConfiguration(
  context: ObjectContext,
  bucket: string,
): Promise<ObjectLockConfiguration | undefined> {
  return (await getBucket(context.records, bucket)).record.objectLock;
}

/** Throws `InvalidBucketState` for a bucket without versions of all keys. */
export function putObjectLockConfiguration(
  context: ObjectContext,
  bucket: string,
  objectLock: ObjectLockConfiguration,
): Promise<void> {
  return changeBucket(context, bucket, (record) => {
    const { status, excludedPrefixes = [], excludeFolders = false } = record.versioning ?? {};
    if (status !== 'Enabled' || excludedPrefixes.length > 0 || excludeFolders) {
      throw new S3Error(
        'InvalidBucketState',
        "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration",
      );
    }
    return { ...record, objectLock };
  });
}

type Tags = Readonly<Record<string, string>>;

export async function getBucketTags(context: ObjectContext, bucket: string): Promise<Tags | undefined> {
  return (await getBucket(context.records, bucket)).record.tags;
}

export function putBucketTags(context: ObjectContext, bucket: string, tags: Tags): Promise<void> {
  return changeBucket(context, bucket, (record) => ({ ...record, tags }));
}

export function changeBucketTags(context: ObjectContext, bucket: string, change: (tags: Tags) => Tags): Promise<void> {
  return changeBucket(context, bucket, ({ tags = {}, ...record }) => {
    const changed = change(tags);
    return Object.keys(changed).length === 0 ? record : { ...record, tags: changed };
  });
}

export function deleteBucketTags(context: ObjectContext, bucket: string): Promise<void> {
  return changeBucket(context, bucket, ({ tags: _tags, ...record }) => record);
}

export async function getPublicAccessBlock(
  context: ObjectContext,
  bucket: string,
): Promise<PublicAccessBlock | undefined> {
  return (await getBucket(context.records, bucket)).record.publicAccessBlock;
}

/** Without `block` it removes the block. */
export function putPublicAccessBlock(
  context: ObjectContext,
  bucket: string,
  block: PublicAccessBlock | undefined,
): Promise<void> {
  return changeBucket(context, bucket, ({ publicAccessBlock: _block, ...record }) =>
    block === undefined ? record : { ...record, publicAccessBlock: block },
  );
}

/** Decodes each revision of the record once: every request of a page on another origin asks. */
export async function getBucketCors(context: ObjectContext, bucket: string): Promise<readonly CorsRule[] | undefined> {
  const entry = await context.records.get(recordKeys.bucket(bucket));
  if (entry === undefined) throw noSuchBucket(bucket);
  return context.buckets.decode(entry, bucket).record.cors;
}

export function putBucketCors(context: ObjectContext, bucket: string, cors: readonly CorsRule[]): Promise<void> {
  return changeBucket(context, bucket, (record) => ({ ...record, cors }));
}

export function deleteBucketCors(context: ObjectContext, bucket: string): Promise<void> {
  return changeBucket(context, bucket, ({ cors: _cors, ...record }) => record);
}

export async function getBucketLifecycle(
  context: ObjectContext,
  bucket: string,
): Promise<readonly LifecycleRule[] | undefined> {
  return (await getBucket(context.records, bucket)).record.lifecycle;
}

/** Throws `InvalidRequest` for rules that remove all versions of a key, in a bucket with object lock: MinIO refuses them too. */
export async function putBucketLifecycle(
  context: ObjectContext,
  bucket: string,
  lifecycle: readonly LifecycleRule[],
): Promise<void> {
  await checkTiers(context, lifecycle);
  return changeBucket(context, bucket, (record) => {
    if (record.objectLock !== undefined && lifecycle.some(removesAllVersions)) {
      throw new S3Error(
        'InvalidRequest',
        'ExpiredObjectAllVersions element and DelMarkerExpiration action cannot be used on an object locked bucket',
      );
    }
    return { ...record, lifecycle };
  });
}

/** Throws `InvalidStorageClass` for a rule that names no tier. */
async function checkTiers({ tiers }: ObjectContext, lifecycle: readonly LifecycleRule[]): Promise<void> {
  const names = new Set(
    lifecycle.flatMap(({ transition, noncurrentTransition }) => [transition?.tier, noncurrentTransition?.tier]),
  );
  for (const name of names) {
    if (name === undefined || (await tiers.find(name)) !== undefined) continue;
    throw new S3Error('InvalidStorageClass', `There is no tier ${name.slice(0, 64)}; "mc ilm tier add" adds one.`);
  }
}

function removesAllVersions({ expiration, markerDays }: LifecycleRule): boolean {
  return markerDays !== undefined || (expiration !== undefined && 'allVersions' in expiration);
}

export function deleteBucketLifecycle(context: ObjectContext, bucket: string): Promise<void> {
  return changeBucket(context, bucket, ({ lifecycle: _lifecycle, ...record }) => record);
}

export async function getBucketWebsite(context: ObjectContext, bucket: string): Promise<Website | undefined> {
  const entry = await context.records.get(recordKeys.bucket(bucket));
  if (entry === undefined) throw noSuchBucket(bucket);
  return context.buckets.decode(entry, bucket).record.website;
}

/** Without `website` it removes the configuration. */
export function putBucketWebsite(context: ObjectContext, bucket: string, website: Website | undefined): Promise<void> {
  return changeBucket(context, bucket, ({ website: _website, ...record }) =>
    website === undefined ? record : { ...record, website },
  );
}

export async function getBucketCharges(context: ObjectContext, bucket: string): Promise<BucketCharges> {
  return (await getBucket(context.records, bucket)).record.charges ?? {};
}

/** Changes the given fields. */
export function putBucketCharges(context: ObjectContext, bucket: string, charges: BucketCharges): Promise<void> {
  return changeBucket(context, bucket, (record) => ({ ...record, charges: { ...record.charges, ...charges } }));
}

export async function getOwnership(context: ObjectContext, bucket: string): Promise<ObjectOwnership | undefined> {
  return (await getBucket(context.records, bucket)).record.ownership;
}

/** Throws `InvalidBucketAclWithObjectOwnership` where the ACL of the bucket grants something and would not count any more. */
export function putOwnership(
  context: ObjectContext,
  bucket: string,
  ownership: ObjectOwnership | undefined,
): Promise<void> {
  return changeBucket(context, bucket, ({ ownership: _ownership, ...record }) => {
    if (!countsAcls({ ownership }) && record.grants !== undefined) {
      throw new S3Error('InvalidBucketAclWithObjectOwnership');
    }
    return ownership === undefined ? record : { ...record, ownership };
  });
}

export async function getBucketAcl(context: ObjectContext, bucket: string): Promise<Acl> {
  return bucketAcl((await getBucket(context.records, bucket)).record);
}

export function bucketAcl({ grants }: Pick<BucketRecord, 'grants'>): Acl {
  return grants === undefined ? resolveAcl(undefined, ownerId) : { owner: ownerId, grants };
}

export async function putBucketAcl(context: ObjectContext, bucket: string, requested: RequestedAcl): Promise<void> {
  await refusePublic(context, requested);
  await changeBucket(context, bucket, (record) => {
    if (!countsAcls(record)) {
      checkUncounted(requested);
      return record;
    }
    return withGrants(record, allowedAcl(record, requested, ownerId));
  });
}

/** Stores nothing for the ACL that a bucket without one has. */
export function withGrants({ grants: _grants, ...record }: BucketRecord, acl: Acl): BucketRecord {
  return isPrivate(acl) ? record : { ...record, grants: acl.grants };
}

export async function getBucketNotification(
  context: ObjectContext,
  bucket: string,
): Promise<readonly NotificationRule[]> {
  return (await getBucket(context.records, bucket)).record.notification ?? [];
}

/** No rules switch notifications off. The test events are queued by the same commit. */
export function putBucketNotification(
  context: ObjectContext,
  bucket: string,
  rules: readonly NotificationRule[],
  { test, by }: { readonly test: boolean; readonly by?: EventCaller },
): Promise<void> {
  return commitChange(context, async () => {
    const stored = await getBucket(context.records, bucket);
    checkSettingCondition(context, bucket, stored.record);
    const { deleting: _deleting, notification: _notification, ...rest } = stored.record;
    const record: BucketRecord = rules.length === 0 ? rest : { ...rest, notification: rules };
    const event = ruledEvent(context, { names: [], bucket, key: '', stored: record, by });
    const put = [
      { key: recordKeys.bucket(bucket), value: encodeBucket(record) },
      ...(test ? testEvents(context, event) : []),
    ];
    return { batch: { expect: guardBucket(bucket, stored).expect, put }, result: undefined };
  });
}
