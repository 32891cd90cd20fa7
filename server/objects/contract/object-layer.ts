import type { BlobId } from '../../store/blob-store.ts';
import type { Batch, Entry } from '../../store/record-store.ts';
import type {
  Bucket,
  BucketCharges,
  BucketEncryption,
  BucketQuota,
  BucketVersioning,
  CreateBucket,
  ObjectLockConfiguration,
  BucketSetting,
  SettingCondition,
} from './buckets.ts';
import type { ReplicationConfiguration } from '../../../protocol/s3/bucket-replication.ts';
import type { ReplicaAttributes, ReplicationOutcome, ResyncVersion } from './replication.ts';
import type { NotificationRule } from '../../../protocol/s3/bucket-notification.ts';
import type { ByCaller, EventCaller } from './event-caller.ts';
import type { PublicAccessBlock } from '../../../protocol/s3/access/public-access-block.ts';
import type { ObjectOwnership } from '../../../protocol/s3/access/ownership-controls.ts';
import type { Acl, RequestedAcl } from '../../../protocol/s3/acl.ts';
import type { BucketLogging } from '../../../protocol/s3/bucket-logging.ts';
import type { InventoryConfiguration } from '../../../protocol/s3/bucket-inventory.ts';
import type { Website } from '../../../protocol/s3/bucket-website.ts';
import type { CorsRule } from '../../../protocol/s3/bucket-cors.ts';
import type { LifecycleRule } from '../../../protocol/s3/lifecycle/bucket-lifecycle.ts';
import type {
  BlobOwner,
  ByteRange,
  CopiedVersion,
  CopyObject,
  CopySource,
  DeleteOptions,
  DeletedObject,
  ExpireObject,
  RestoreObject,
  TransitionObject,
  ObjectEncryption,
  ObjectInfo,
  ObjectLock,
  ObjectTags,
  Delivery,
  PutObject,
  PutRetention,
  ReadOptions,
  ReadableObject,
  RenameObject,
  VersionOptions,
  VersionResult,
} from './objects.ts';
import type { ListObjectVersions, ListObjects, ObjectListing, VersionListing } from './listings.ts';
import type {
  Abortion,
  CompleteMultipartUpload,
  CreateMultipartUpload,
  ListMultipartUploads,
  ListParts,
  PartInfo,
  PartListing,
  PutPart,
  UploadListing,
} from './uploads.ts';
import type { CustomerKey } from '../../encryption/object-key.ts';

export type * from './buckets.ts';
export type * from './listings.ts';
export type * from './objects.ts';
export type * from './replication.ts';
export type * from './uploads.ts';

/**
 * Buckets and objects on the two stores, for the S3, console and admin APIs. The caller has authorized the request. Every refusal is an
 * `S3Error` of `protocol/s3/s3-error.ts` with the code of the protocol (`NoSuchKey`, `BucketNotEmpty`, `PreconditionFailed`, …). Times
 * are `Date`s with whole milliseconds; sizes are bytes; ETags have no quotes.
 */
export interface ObjectLayer {
  /**
   * A bucket with object lock has versioning enabled from the start. Throws `InvalidBucketAclWithObjectOwnership` for an ACL where ACLs do
   * not count.
   */
  createBucket(bucket: string, options: CreateBucket, by?: EventCaller): Promise<void>;
  headBucket(bucket: string): Promise<Bucket>;
  listBuckets(): Promise<readonly Bucket[]>;
  deleteBucket(bucket: string, by?: EventCaller): Promise<void>;

  /** Resolves to the ETag of a setting, also of one that is absent. */
  getSettingTag(bucket: string, setting: BucketSetting, id?: string): Promise<string>;
  /** Returns a layer whose changes of buckets throw `PreconditionFailed` where the setting is not as the condition says. */
  expecting(condition: SettingCondition): ObjectLayer;

  /** Undefined when the bucket has no default encryption. */
  getBucketEncryption(bucket: string): Promise<BucketEncryption | undefined>;
  putBucketEncryption(bucket: string, encryption: BucketEncryption): Promise<void>;
  deleteBucketEncryption(bucket: string): Promise<void>;

  /** Resolves to the text of the bucket's policy as it was stored; undefined when there is none. */
  getBucketPolicy(bucket: string): Promise<string | undefined>;
  /** The text must be a valid policy of this bucket. Throws `AccessDenied` for a public one that the bucket blocks. */
  putBucketPolicy(bucket: string, policy: string): Promise<void>;
  deleteBucketPolicy(bucket: string): Promise<void>;

  /** The block of the account counts for all buckets, together with their own. */
  getAccountPublicAccessBlock(): Promise<PublicAccessBlock | undefined>;
  /** Without `block` it removes the block. */
  putAccountPublicAccessBlock(block: PublicAccessBlock | undefined): Promise<void>;
  getPublicAccessBlock(bucket: string): Promise<PublicAccessBlock | undefined>;
  /** Without `block` it removes the block. */
  putPublicAccessBlock(bucket: string, block: PublicAccessBlock | undefined): Promise<void>;

  /** Undefined after the removal of the setting: ACLs do not count then. */
  getOwnership(bucket: string): Promise<ObjectOwnership | undefined>;
  /** Without `ownership` it removes the setting. Throws `InvalidBucketAclWithObjectOwnership` for a bucket with an ACL. */
  putOwnership(bucket: string, ownership: ObjectOwnership | undefined): Promise<void>;
  /**
   * Reports whether ACLs count in a bucket; without a name, in a new bucket with BucketOwnerEnforced. Throws `AccessDenied` for a public
   * ACL that the bucket or the account blocks.
   */
  countsAcl(acl: RequestedAcl, bucket?: string): Promise<boolean>;
  getBucketAcl(bucket: string): Promise<Acl>;
  /** Throws `AccessControlListNotSupported` where ACLs do not count, `AccessDenied` for a public one that the bucket blocks. */
  putBucketAcl(bucket: string, acl: RequestedAcl): Promise<void>;

  /** Undefined when the bucket has no tags. */
  getBucketTags(bucket: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Replaces the existing tags. */
  putBucketTags(bucket: string, tags: Readonly<Record<string, string>>): Promise<void>;
  /** Replaces the tags by what `change` makes of them, in one step. A conflict calls it again. */
  changeBucketTags(
    bucket: string,
    change: (tags: Readonly<Record<string, string>>) => Readonly<Record<string, string>>,
  ): Promise<void>;
  deleteBucketTags(bucket: string): Promise<void>;

  /** Undefined when the bucket has no CORS configuration. */
  getBucketCors(bucket: string): Promise<readonly CorsRule[] | undefined>;
  putBucketCors(bucket: string, rules: readonly CorsRule[]): Promise<void>;
  deleteBucketCors(bucket: string): Promise<void>;

  /** Undefined when the bucket has no lifecycle. */
  getBucketLifecycle(bucket: string): Promise<readonly LifecycleRule[] | undefined>;
  /** Throws `InvalidRequest` for rules of MinIO that remove all versions, in a bucket with object lock. */
  putBucketLifecycle(bucket: string, rules: readonly LifecycleRule[]): Promise<void>;
  deleteBucketLifecycle(bucket: string): Promise<void>;

  /** Undefined when the bucket has no access logs. */
  getBucketLogging(bucket: string): Promise<BucketLogging | undefined>;
  /** Without `logging` it ends the access logs. Throws `InvalidTargetBucketForLogging`. */
  putBucketLogging(bucket: string, logging: BucketLogging | undefined): Promise<void>;

  /** Returns the configurations of inventories, ordered by their ID. */
  getBucketInventories(bucket: string): Promise<readonly InventoryConfiguration[]>;
  /** Adds a configuration, or replaces that of its ID. Throws `InvalidS3DestinationBucket`, `TooManyConfigurations` and `KMSNotFound`. */
  putBucketInventory(bucket: string, configuration: InventoryConfiguration): Promise<void>;
  /** Throws `NoSuchConfiguration`. */
  deleteBucketInventory(bucket: string, id: string): Promise<void>;

  /** Undefined when the bucket is not a website. */
  getBucketWebsite(bucket: string): Promise<Website | undefined>;
  /** Without `website` it removes the configuration. */
  putBucketWebsite(bucket: string, website: Website | undefined): Promise<void>;

  getBucketCharges(bucket: string): Promise<BucketCharges>;
  /** Changes the given fields. */
  putBucketCharges(bucket: string, charges: BucketCharges): Promise<void>;

  /** Undefined when the bucket has no quota. */
  getBucketQuota(bucket: string): Promise<BucketQuota | undefined>;
  /** Bytes; undefined removes the quota. Resolves when what the bucket holds is counted: then no write goes above it. */
  putBucketQuota(bucket: string, bytes: number | undefined): Promise<void>;

  getBucketNotification(bucket: string): Promise<readonly NotificationRule[]>;
  /** No rules switch notifications off. With `test`, each target gets a test event. */
  putBucketNotification(
    bucket: string,
    rules: readonly NotificationRule[],
    options: { readonly test: boolean; readonly by?: EventCaller },
  ): Promise<void>;

  /** Undefined for a bucket without replication. */
  getBucketReplication(bucket: string): Promise<ReplicationConfiguration | undefined>;
  /** Without `replication` it removes the configuration. Throws `InvalidRequest` for a bucket without versions. */
  putBucketReplication(bucket: string, replication: ReplicationConfiguration | undefined): Promise<void>;
  /**
   * Gives a version the metadata, tags and lock that it has on another server. A change that is older than the last one here changes
   * nothing. Throws as `headObject`, and `AccessDenied` where the change would weaken COMPLIANCE.
   */
  putReplicaAttributes(request: ReplicaAttributes): Promise<VersionResult>;
  /** Sets the replication state of a version after its delivery to a remote target. */
  setReplicationStatus(outcome: ReplicationOutcome): Promise<void>;
  /**
   * Sets the states of several versions in one commit, which the caller makes, and may add to. Resolves with false after a conflict: then
   * nothing has changed. Versions that are gone are left out.
   */
  setReplicationStatuses(
    outcomes: readonly ReplicationOutcome[],
    commit: (batch: Omit<Batch, 'id'>) => Promise<boolean>,
  ): Promise<boolean>;
  /** Queues a version for a target again. Returns false where it is gone, and where no rule replicates existing objects like it. */
  queueResync(version: ResyncVersion): Promise<boolean>;

  /** Undefined for a bucket that never had versions. */
  getBucketVersioning(bucket: string): Promise<BucketVersioning | undefined>;
  /** Throws `InvalidBucketState` for a bucket with object lock that would be suspended. */
  putBucketVersioning(bucket: string, versioning: BucketVersioning): Promise<void>;

  /** Undefined for a bucket without object lock. */
  getObjectLockConfiguration(bucket: string): Promise<ObjectLockConfiguration | undefined>;
  /** Throws `InvalidBucketState` for a bucket without enabled versioning. */
  putObjectLockConfiguration(bucket: string, configuration: ObjectLockConfiguration): Promise<void>;

  putObject(request: PutObject): Promise<ObjectInfo>;
  /**
   * Writes an object of the server itself, such as an access log or a report. Throws `AccessDenied` where the policy of the bucket denies
   * `s3:PutObject` to everyone or to the service.
   */
  deliverObject(delivery: Delivery): Promise<ObjectInfo>;
  /** Reports whether `deliverObject` encrypts what it writes there, by the request, the default of the bucket, or for everything. */
  encryptsDelivery(bucket: string, encryption: PutObject['encryption']): Promise<boolean>;
  /** Throws `NoSuchKey` where the current version is a delete marker, `MethodNotAllowed` where the named version is one. */
  headObject(bucket: string, key: string, options?: ReadOptions): Promise<ObjectInfo>;
  /** Nothing of the body is read before the caller asks for it. Throws as `headObject`. */
  getObject(bucket: string, key: string, options?: ReadOptions): Promise<ReadableObject>;
  /** Throws as `headObject` for the source, but `InvalidRequest` where its named version is a delete marker. */
  copyObject(request: CopyObject): Promise<ObjectInfo & CopiedVersion>;
  /**
   * Moves an object to another key of its bucket, with all that it has; nothing of its body is read. Throws `InvalidBucketState` for a
   * bucket with versions, and `IdempotencyParameterMismatch` for a token that came with another request.
   */
  renameObject(request: RenameObject): Promise<void>;
  /**
   * Without a version, it deletes the object of an unversioned bucket, and adds a delete marker in a versioned one. With a version it
   * removes that version. Deleting what is absent succeeds, as in S3, unless `conditions` ask for an ETag. Throws `AccessDenied` for a
   * locked version.
   */
  deleteObject(bucket: string, key: string, options?: DeleteOptions): Promise<DeletedObject>;
  /**
   * Does what a lifecycle rule asks for: without a version as `deleteObject` does to the current object, with one it removes that version.
   * Returns false where there is nothing, or where `isDue` refuses what is there now. Throws `AccessDenied` for a locked version.
   */
  expireObject(bucket: string, key: string, request: ExpireObject): Promise<boolean>;
  /**
   * Moves the body of a version to a tier. Returns false where there is nothing to move, or where `isDue` refuses what is there now. Throws
   * `ServiceUnavailable` where the tier is away.
   */
  transitionObject(request: TransitionObject): Promise<boolean>;
  /** See `requestRestore`. Throws `InvalidObjectState`, `RestoreAlreadyInProgress`, and as `headObject`. */
  requestRestore(request: RestoreObject): Promise<'asked' | 'renewed'>;
  /** Restores a version of the queue of restores. Resolves with false where nothing waits for it any more. */
  restoreQueued(queued: Entry): Promise<boolean>;
  /** Removes a restored copy whose end is queued, if that has come. */
  endRestoredCopy(queued: Entry): Promise<boolean>;
  /** Moves a version of the queue of transitions, if a rule moves it at once. */
  transitionQueued(queued: Entry): Promise<boolean>;
  listObjects(request: ListObjects): Promise<ObjectListing>;
  /** Lists all versions and delete markers, those of one key from the newest to the oldest. */
  listObjectVersions(request: ListObjectVersions): Promise<VersionListing>;

  /** Resolves to no tags for an object without any. Throws as `headObject`. */
  getObjectTags(
    bucket: string,
    key: string,
    versionId?: string,
    onlyId?: string,
  ): Promise<{ readonly tags: ObjectTags; readonly versionId?: string }>;
  /** Replaces the tags; `{}` removes them. */
  putObjectTags(
    bucket: string,
    key: string,
    tags: ObjectTags,
    versionId?: string,
    onlyId?: string,
    by?: EventCaller,
  ): Promise<VersionResult>;

  /** Resolves to the full control of the bucket's owner where ACLs do not count. Throws as `headObject`. */
  getObjectAcl(bucket: string, key: string, version?: VersionOptions): Promise<Acl & VersionResult>;
  /** Throws as `putBucketAcl` and `headObject`. */
  putObjectAcl(
    bucket: string,
    key: string,
    acl: RequestedAcl,
    version?: VersionOptions & ByCaller,
  ): Promise<VersionResult>;

  /** Throws `InvalidRequest` for a bucket without object lock. */
  getObjectLock(bucket: string, key: string, versionId?: string, onlyId?: string): Promise<ObjectLock>;
  /**
   * Sets or, without `retention`, removes the retention of a version. Throws `AccessDenied` where that would weaken COMPLIANCE, or
   * GOVERNANCE without `bypassGovernance`.
   */
  putObjectRetention(bucket: string, key: string, request: PutRetention): Promise<{ readonly versionId?: string }>;
  putObjectLegalHold(
    bucket: string,
    key: string,
    request: VersionOptions & ByCaller & { readonly legalHold: boolean },
  ): Promise<{ readonly versionId?: string }>;

  /**
   * Encrypts the body of an object again, under the named key. Resolves to false where there is nothing to do. Throws as `headObject`, and where
   * the key service is away.
   */
  rewriteBody(
    request: Pick<CopySource, 'bucket' | 'key' | 'versionId'> & { readonly keyName: string },
  ): Promise<boolean>;

  /** Moves a body to a segment. Resolves to false where its object has another body by now. For compaction. */
  moveBody(blob: BlobId, owner: BlobOwner): Promise<boolean>;

  createMultipartUpload(
    request: CreateMultipartUpload,
  ): Promise<{ readonly uploadId: string; readonly encryption?: ObjectEncryption; readonly abortion?: Abortion }>;
  /** Throws `InvalidRequest` for a part without a digest, where the upload has a lock. */
  putPart(request: PutPart): Promise<PartInfo & { readonly encryption?: ObjectEncryption }>;
  copyPart(
    request: Omit<PutPart, 'body' | 'size' | 'digests'> & {
      readonly source: CopySource;
      readonly range?: ByteRange | undefined;
    },
  ): Promise<PartInfo & CopiedVersion & { readonly encryption?: ObjectEncryption }>;
  completeMultipartUpload(request: CompleteMultipartUpload): Promise<ObjectInfo>;
  /** Resolves to the encryption of the object that an upload in progress creates. Throws `NoSuchUpload`. */
  uploadEncryption(
    bucket: string,
    key: string,
    uploadId: string,
    customerKey?: CustomerKey,
  ): Promise<ObjectEncryption | undefined>;
  abortMultipartUpload(bucket: string, key: string, uploadId: string): Promise<void>;
  listParts(request: ListParts): Promise<PartListing>;
  listMultipartUploads(request: ListMultipartUploads): Promise<UploadListing>;
}
