import type { Pieces } from '../../platform/pieces.ts';
import type { ChecksumAlgorithm } from '../../protocol/s3/checksum-algorithms.ts';
import type { LifecycleRule } from '../../protocol/s3/bucket-lifecycle.ts';
import type { CorsRule } from '../../protocol/s3/bucket-cors.ts';
import type { BucketEncryptionRule } from '../../protocol/s3/bucket-encryption.ts';
import type { Acl, RequestedAcl } from '../../protocol/s3/acl.ts';
import type { ObjectOwnership } from '../../protocol/s3/ownership-controls.ts';
import type { PublicAccessBlock } from '../../protocol/s3/public-access-block.ts';
import type { CustomerKey } from '../encryption/object-key.ts';
import type { EncryptionContext } from '../encryption/key-source.ts';
import type { BodySource } from './bodies/body-source.ts';

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
  createBucket(bucket: string, options: CreateBucket): Promise<void>;
  headBucket(bucket: string): Promise<Bucket>;
  listBuckets(): Promise<readonly Bucket[]>;
  deleteBucket(bucket: string): Promise<void>;

  /** Undefined when the bucket has no default encryption. */
  getBucketEncryption(bucket: string): Promise<BucketEncryption | undefined>;
  putBucketEncryption(bucket: string, encryption: BucketEncryption): Promise<void>;
  deleteBucketEncryption(bucket: string): Promise<void>;

  /** Resolves to the text of the bucket's policy as it was stored; undefined when there is none. */
  getBucketPolicy(bucket: string): Promise<string | undefined>;
  /** The text must be a valid policy of this bucket. Throws `AccessDenied` for a public one that the bucket blocks. */
  putBucketPolicy(bucket: string, policy: string): Promise<void>;
  deleteBucketPolicy(bucket: string): Promise<void>;

  getPublicAccessBlock(bucket: string): Promise<PublicAccessBlock | undefined>;
  /** Without `block` it removes the block. */
  putPublicAccessBlock(bucket: string, block: PublicAccessBlock | undefined): Promise<void>;

  /** Undefined after the removal of the setting: ACLs do not count then. */
  getOwnership(bucket: string): Promise<ObjectOwnership | undefined>;
  /** Without `ownership` it removes the setting. Throws `InvalidBucketAclWithObjectOwnership` for a bucket with an ACL. */
  putOwnership(bucket: string, ownership: ObjectOwnership | undefined): Promise<void>;
  getBucketAcl(bucket: string): Promise<Acl>;
  /** Throws `AccessControlListNotSupported` where ACLs do not count, `AccessDenied` for a public one that the bucket blocks. */
  putBucketAcl(bucket: string, acl: RequestedAcl): Promise<void>;

  /** Undefined when the bucket has no tags. */
  getBucketTags(bucket: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Replaces the existing tags. */
  putBucketTags(bucket: string, tags: Readonly<Record<string, string>>): Promise<void>;
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

  /** Undefined for a bucket that never had versions. */
  getBucketVersioning(bucket: string): Promise<BucketVersioning | undefined>;
  /** Throws `InvalidBucketState` for a bucket with object lock that would be suspended. */
  putBucketVersioning(bucket: string, versioning: BucketVersioning): Promise<void>;

  /** Undefined for a bucket without object lock. */
  getObjectLockConfiguration(bucket: string): Promise<ObjectLockConfiguration | undefined>;
  /** Throws `InvalidBucketState` for a bucket without enabled versioning. */
  putObjectLockConfiguration(bucket: string, configuration: ObjectLockConfiguration): Promise<void>;

  putObject(request: PutObject): Promise<ObjectInfo>;
  /** Throws `NoSuchKey` where the current version is a delete marker, `MethodNotAllowed` where the named version is one. */
  headObject(bucket: string, key: string, options?: ReadOptions): Promise<ObjectInfo>;
  /** Nothing of the body is read before the caller asks for it. Throws as `headObject`. */
  getObject(bucket: string, key: string, options?: ReadOptions): Promise<ReadableObject>;
  /** Throws as `headObject` for the source, but `InvalidRequest` where its named version is a delete marker. */
  copyObject(request: CopyObject): Promise<ObjectInfo & CopiedVersion>;
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
  listObjects(request: ListObjects): Promise<ObjectListing>;
  /** Lists all versions and delete markers, those of one key from the newest to the oldest. */
  listObjectVersions(request: ListObjectVersions): Promise<VersionListing>;

  /** Resolves to no tags for an object without any. Throws as `headObject`. */
  getObjectTags(
    bucket: string,
    key: string,
    versionId?: string,
  ): Promise<{ readonly tags: ObjectTags; readonly versionId?: string }>;
  /** Replaces the tags; `{}` removes them. */
  putObjectTags(bucket: string, key: string, tags: ObjectTags, versionId?: string): Promise<VersionResult>;

  /** Resolves to the full control of the bucket's owner where ACLs do not count. Throws as `headObject`. */
  getObjectAcl(bucket: string, key: string, version?: VersionOptions): Promise<Acl & VersionResult>;
  /** Throws as `putBucketAcl` and `headObject`. */
  putObjectAcl(bucket: string, key: string, acl: RequestedAcl, version?: VersionOptions): Promise<VersionResult>;

  /** Throws `InvalidRequest` for a bucket without object lock. */
  getObjectLock(bucket: string, key: string, versionId?: string): Promise<ObjectLock>;
  /**
   * Sets or, without `retention`, removes the retention of a version. Throws `AccessDenied` where that would weaken COMPLIANCE, or
   * GOVERNANCE without `bypassGovernance`.
   */
  putObjectRetention(bucket: string, key: string, request: PutRetention): Promise<{ readonly versionId?: string }>;
  putObjectLegalHold(
    bucket: string,
    key: string,
    request: { readonly versionId?: string | undefined; readonly legalHold: boolean },
  ): Promise<{ readonly versionId?: string }>;

  /**
   * Encrypts the body of an object again, under the named key. Resolves to false where there is nothing to do. Throws as `headObject`, and where
   * the key service is away.
   */
  rewriteBody(
    request: Pick<CopySource, 'bucket' | 'key' | 'versionId'> & { readonly keyName: string },
  ): Promise<boolean>;

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

export interface CreateBucket {
  readonly location: string;
  readonly objectLock?: boolean;
  /** `BucketOwnerEnforced` by default. */
  readonly ownership?: ObjectOwnership | undefined;
  readonly acl?: RequestedAcl | undefined;
}

/** The version that was read or changed; absent in a bucket that never had versions. */
export interface VersionResult {
  readonly versionId?: string;
}

export interface Bucket {
  readonly name: string;
  readonly created: Date;
  readonly location: string;
}

/** The default encryption of a bucket, and the encryptions that it blocks. */
export type BucketEncryption = BucketEncryptionRule;

/** The versioning of a bucket. The excluded keys are an extension of MinIO: their objects have the null version alone. */
export interface BucketVersioning {
  readonly status: 'Enabled' | 'Suspended';
  /** Prefixes, which may contain `*`. */
  readonly excludedPrefixes?: readonly string[];
  /** True where keys that end with a slash are excluded. */
  readonly excludeFolders?: boolean;
}

export interface ObjectLockConfiguration {
  /** The retention of new versions that the request gives none. It has either days or years. */
  readonly defaultRetention?: {
    readonly mode: Retention['mode'];
    readonly days?: number;
    readonly years?: number;
  };
}

export interface Retention {
  readonly mode: 'GOVERNANCE' | 'COMPLIANCE';
  readonly until: Date;
}

/** The lock of a version, as it was set. A retention counts until its end, a legal hold until it is removed. */
export interface ObjectLock {
  readonly retention?: Retention;
  readonly legalHold?: boolean;
}

export interface PutRetention {
  readonly versionId?: string | undefined;
  readonly retention: Retention | undefined;
  /** The caller has the permission and asked for it. It changes GOVERNANCE alone. */
  readonly bypassGovernance: boolean;
}

export type ObjectTags = Readonly<Record<string, string>>;

/** The encryption that a request asks for; absent means the default of the bucket. */
export type RequestedEncryption =
  /** `keyName` is absent for the default key. Only the server itself sets it. */
  | { readonly scheme: 'SSE-S3'; readonly keyName?: string }
  | {
      readonly scheme: 'SSE-KMS';
      readonly keyName?: string;
      readonly context?: EncryptionContext;
      readonly bucketKey?: boolean;
    }
  | { readonly scheme: 'SSE-C'; readonly customerKey: CustomerKey };

/** The encryption of an object. */
export type ObjectEncryption =
  | { readonly scheme: 'SSE-S3' }
  | {
      readonly scheme: 'SSE-KMS';
      readonly keyName: string;
      readonly context?: EncryptionContext;
      /** True where the request or the default of the bucket asked for a bucket key: see docs/decisions/0002. */
      readonly bucketKey?: boolean;
    }
  /** The server stores nothing of the client's key. */
  | { readonly scheme: 'SSE-C' };

/** Headers that are stored with an object and returned unchanged. */
export interface ObjectHeaders {
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly contentDisposition?: string;
  readonly contentLanguage?: string;
  readonly cacheControl?: string;
  readonly expires?: string;
  readonly storageClass?: string;
  /** `x-amz-website-redirect-location`, which no copy takes over. */
  readonly websiteRedirect?: string;
  /** `x-amz-meta-*`, names in lower case without the prefix. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Additional checksums of S3, base64. `type` as in `x-amz-checksum-type`. */
export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly value: string;
  readonly type: 'FULL_OBJECT' | 'COMPOSITE';
}

/** A checksum of the client, base64. */
export type GivenChecksum = Pick<Checksum, 'algorithm' | 'value'>;

export interface ObjectInfo extends ObjectHeaders {
  readonly bucket: string;
  readonly key: string;
  /** Plaintext bytes. */
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
  readonly encryption?: ObjectEncryption;
  readonly checksum?: Checksum;
  /** The count of parts of a multipart object. */
  readonly parts?: number;
  /** The parts of a multipart object that `ReadOptions.parts` asks for, in their order. */
  readonly partPage?: readonly ObjectPart[];
  /** Set for a quarantined object: it is not served, only listed. `found` is in milliseconds since 1970. */
  readonly damage?: { readonly found: number; readonly what: string };
  /** 32 hexadecimal digits, or `null`; absent in a bucket that never had versions. */
  readonly versionId?: string;
  readonly tags?: ObjectTags;
  readonly lock?: ObjectLock;
  /** The time when a lifecycle rule expires the current version. */
  readonly expiration?: { readonly date: Date; readonly ruleId: string };
}

/** A part of a multipart object. */
export interface ObjectPart {
  /** The place of the part in the object: 1 to the count of parts. */
  readonly number: number;
  /** The first plaintext byte of the part in the object. */
  readonly start: number;
  readonly size: number;
  /** Absent where the upload had none, and where the key of the client seals it and did not come. */
  readonly checksum?: Checksum;
}

/**
 * The digests that the body must have. With a trailer, the value is known only at the end: the layer calls `trailing.value()` after the
 * last byte and before it commits. On a difference it throws `BadDigest` and stores nothing.
 */
export interface ExpectedDigests {
  /** Base64 of Content-MD5. */
  readonly md5?: string;
  readonly checksum?: GivenChecksum;
  /** The algorithm is known at once, the value only with the trailer. */
  readonly trailing?: { readonly algorithm: Checksum['algorithm']; readonly value: () => string | undefined };
  /** The algorithm to compute where the client sent no value. */
  readonly compute?: Checksum['algorithm'];
}

/** The caller of a write, who owns the object where the bucket lets writers own. */
export interface ObjectWriter {
  /** 64 hexadecimal digits; undefined for a caller without credentials. */
  canonicalId(): string | undefined;
}

/** The owner and the ACL of a new object. */
export interface NewAcl {
  /** Absent: the owner of the bucket. */
  readonly writer?: ObjectWriter | undefined;
  /** Throws `AccessControlListNotSupported` where ACLs do not count, unless it changes nothing. */
  readonly acl?: RequestedAcl | undefined;
}

export interface PutObject extends NewAcl {
  readonly bucket: string;
  readonly key: string;
  readonly body: BodySource;
  /**
   * Plaintext bytes. The layer throws `IncompleteBody` for a body of another length. A body whose size only its end tells has `atMost`
   * bytes.
   */
  readonly size: number | { readonly atMost: number };
  readonly digests: ExpectedDigests;
  readonly headers: ObjectHeaders;
  readonly encryption?: RequestedEncryption | undefined;
  readonly conditions?: WriteConditions | undefined;
  readonly tags?: ObjectTags | undefined;
  /** Throws `InvalidRequest` for a bucket without object lock. */
  readonly lock?: ObjectLock | undefined;
}

export interface ReadOptions {
  readonly conditions?: ReadConditions | undefined;
  /** The client's key of an object that was stored with one. Without it, and with another key, the object is refused. */
  readonly customerKey?: CustomerKey | undefined;
  /** 32 hexadecimal digits, or `null`. Absent: the current version. Throws `NoSuchVersion`. */
  readonly versionId?: string | undefined;
  /** The id of the object whose ACL allows the read. Throws `AccessDenied` for another one, which replaced it meanwhile. */
  readonly onlyId?: string | undefined;
  /** Asks for `limit` parts of a multipart object, from the one after number `after` on: one more read. */
  readonly parts?: { readonly after: number; readonly limit: number } | undefined;
}

export type VersionOptions = Pick<ReadOptions, 'versionId' | 'onlyId'>;

export interface DeleteOptions {
  readonly conditions?: DeleteConditions | undefined;
  readonly versionId?: string | undefined;
  /** The caller has the permission to delete a version under GOVERNANCE, and asked for it. */
  readonly bypassGovernance?: boolean | undefined;
}

export interface ExpireObject {
  readonly versionId?: string | undefined;
  /** Decides with the version that the commit would remove. */
  readonly isDue: (version: ExpiringVersion) => boolean;
}

/** A version that a lifecycle rule may remove. */
export interface ExpiringVersion {
  readonly place: 'current' | 'marker' | 'noncurrent';
  /** True where the key has no other version. It is known for a marker alone. */
  readonly isLone: boolean;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  readonly tags: ObjectTags;
}

export interface DeletedObject {
  /** The version that was removed or the delete marker that was added; absent in a bucket that never had versions. */
  readonly versionId?: string;
  /** True where a delete marker was added or removed. */
  readonly deleteMarker: boolean;
}

export interface WriteConditions {
  /** ETags, or `*`. */
  readonly ifMatch?: readonly string[];
  readonly ifNoneMatch?: readonly string[];
}

export interface DeleteConditions {
  /** ETags, or `*`. */
  readonly ifMatch: readonly string[] | undefined;
  readonly size: number | undefined;
  readonly lastModified: Date | undefined;
}

export interface ReadConditions extends WriteConditions {
  readonly ifModifiedSince?: Date;
  readonly ifUnmodifiedSince?: Date;
}

/** `Range: bytes=…`, with an inclusive end. `resolveRange` converts it once the size is known. */
export type ByteRange =
  | { readonly kind: 'from'; readonly start: number; readonly endInclusive?: number }
  | { readonly kind: 'last'; readonly bytes: number };

export interface ReadableObject {
  readonly info: ObjectInfo;
  /**
   * Reads plaintext bytes from `start` inclusive to `end` exclusive: a small body, which is in memory, at once, a large one in pieces.
   * It is called at most once. Throws where a small body is damaged; pieces reject.
   */
  readonly read: (range: { readonly start: number; readonly end: number }) => Buffer | Pieces;
}

export interface CopySource {
  readonly bucket: string;
  readonly key: string;
  readonly versionId?: string | undefined;
  readonly onlyId?: ReadOptions['onlyId'];
  readonly conditions?: ReadConditions | undefined;
  /** The client's key of a source that was stored with one. */
  readonly customerKey?: CustomerKey | undefined;
}

/** The version that a copy read; absent where the bucket of the source never had versions. */
export interface CopiedVersion {
  readonly sourceVersionId?: string;
}

export interface CopyObject extends NewAcl {
  readonly source: CopySource;
  readonly bucket: string;
  readonly key: string;
  /** Absent: the source's headers and metadata (`x-amz-metadata-directive: COPY`). */
  readonly headers?: ObjectHeaders | undefined;
  /** Absent: `STANDARD`, whatever the source has, or that of `headers` where they are given. */
  readonly storageClass?: string | undefined;
  /** That of the new object, where `headers` are absent. */
  readonly websiteRedirect?: string | undefined;
  readonly encryption?: RequestedEncryption | undefined;
  /** Absent: the source's, or CRC64NVME where the source has none. */
  readonly checksumAlgorithm?: Checksum['algorithm'] | undefined;
  /** Conditions on the object that the copy replaces. */
  readonly conditions?: WriteConditions | undefined;
  /** Absent: the source's tags. */
  readonly tags?: ObjectTags | undefined;
  readonly lock?: ObjectLock | undefined;
}

export interface ListObjects {
  readonly bucket: string;
  readonly prefix: string;
  readonly delimiter: string;
  /** The listing begins after this key or common prefix. */
  readonly after: string;
  readonly limit: number;
}

/** An object in a listing. */
export interface ListedObject {
  readonly key: string;
  /** Plaintext bytes. */
  readonly size: number;
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly modified: number;
  readonly encrypted: boolean;
  readonly checksum: Pick<Checksum, 'algorithm' | 'type'> | undefined;
  readonly storageClass: string | undefined;
  readonly damage: ObjectInfo['damage'] | undefined;
}

export interface ObjectListing {
  readonly objects: readonly ListedObject[];
  readonly commonPrefixes: readonly string[];
  /** Set when there is more: pass it as `after`. */
  readonly next?: string;
}

export interface ListObjectVersions {
  readonly bucket: string;
  readonly prefix: string;
  readonly delimiter: string;
  /** The listing begins after this key or common prefix, or, with a version, inside the versions of the key. */
  readonly keyMarker: string;
  readonly versionIdMarker?: string | undefined;
  readonly limit: number;
}

export interface ListedVersion extends ListedObject {
  /** 32 hexadecimal digits, or `null`. */
  readonly versionId: string;
  /** True for the current version of the key. */
  readonly isLatest: boolean;
  readonly deleteMarker: boolean;
}

export interface VersionListing {
  readonly versions: readonly ListedVersion[];
  readonly commonPrefixes: readonly string[];
  /** Set when there is more. `versionId` is absent after a common prefix. */
  readonly next?: { readonly key: string; readonly versionId?: string };
}

export interface CreateMultipartUpload extends NewAcl {
  readonly bucket: string;
  readonly key: string;
  readonly headers: ObjectHeaders;
  readonly tags?: ObjectTags | undefined;
  readonly lock?: ObjectLock | undefined;
  readonly encryption?: RequestedEncryption | undefined;
  readonly checksum?: { readonly algorithm: Checksum['algorithm']; readonly type: Checksum['type'] } | undefined;
}

export interface PutPart {
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
  /** 1 to 10,000. */
  readonly partNumber: number;
  readonly body: BodySource;
  readonly size: number;
  readonly digests: ExpectedDigests;
  /** The client's key of an upload that was created with one. */
  readonly customerKey?: CustomerKey | undefined;
}

export interface PartInfo {
  readonly partNumber: number;
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
  readonly checksum?: Checksum;
}

export interface CompleteMultipartUpload {
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
  readonly parts: readonly {
    readonly partNumber: number;
    readonly etag: string;
    readonly checksum?: GivenChecksum;
  }[];
  /** The checksum of the whole object, where the client sends one. A composite checksum may end with a dash and the count of parts. */
  readonly checksum?: GivenChecksum | undefined;
  /** The checksum type that the client expects of the upload. */
  readonly checksumType?: Checksum['type'] | undefined;
  /** The size of the whole object, where the client sends it. */
  readonly size?: number | undefined;
  readonly conditions?: WriteConditions | undefined;
  /** The client's key of an upload that was created with one: needed where the parts have checksums. */
  readonly customerKey?: CustomerKey | undefined;
}

export interface ListParts {
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
  /** The client's key of the upload: without it, the checksums of parts are left out. */
  readonly customerKey?: CustomerKey;
  readonly after: number;
  readonly limit: number;
}

/** The time when a lifecycle rule aborts an unfinished upload. */
export interface Abortion {
  readonly date: Date;
  readonly ruleId: string;
}

export interface PartListing {
  readonly abortion?: Abortion;
  readonly parts: readonly PartInfo[];
  readonly next?: number;
  readonly initiated: Date;
  readonly storageClass?: string;
  readonly checksum?: CreateMultipartUpload['checksum'];
}

export interface ListMultipartUploads {
  readonly bucket: string;
  readonly prefix: string;
  readonly delimiter: string;
  readonly afterKey: string;
  readonly afterUploadId: string;
  readonly limit: number;
}

export interface UploadListing {
  readonly uploads: readonly (Pick<PartListing, 'initiated' | 'storageClass' | 'checksum'> & {
    readonly key: string;
    readonly uploadId: string;
  })[];
  readonly commonPrefixes: readonly string[];
  readonly next?: { readonly key: string; readonly uploadId: string };
}
