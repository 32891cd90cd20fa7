import type { Pieces } from '../../platform/pieces.ts';
import type { BucketEncryptionRule } from '../../protocol/s3/bucket-encryption.ts';
import type { CustomerKey } from '../encryption/object-key.ts';
import type { EncryptionContext } from '../encryption/key-source.ts';
import type { BodySource } from './bodies/body-source.ts';

/**
 * Buckets and objects on the two stores, for the S3, console and admin APIs. The caller has authorized the request. Every refusal is an
 * `S3Error` of `protocol/s3/s3-error.ts` with the code of the protocol (`NoSuchKey`, `BucketNotEmpty`, `PreconditionFailed`, …). Times
 * are `Date`s with whole milliseconds; sizes are bytes; ETags have no quotes.
 */
export interface ObjectLayer {
  createBucket(bucket: string, options: { readonly location: string }): Promise<void>;
  headBucket(bucket: string): Promise<Bucket>;
  listBuckets(): Promise<readonly Bucket[]>;
  deleteBucket(bucket: string): Promise<void>;

  /** Undefined when the bucket has no default encryption. */
  getBucketEncryption(bucket: string): Promise<BucketEncryption | undefined>;
  putBucketEncryption(bucket: string, encryption: BucketEncryption): Promise<void>;
  deleteBucketEncryption(bucket: string): Promise<void>;

  /** Resolves to the text of the bucket's policy as it was stored; undefined when there is none. */
  getBucketPolicy(bucket: string): Promise<string | undefined>;
  /** The text must be a valid policy of this bucket. */
  putBucketPolicy(bucket: string, policy: string): Promise<void>;
  deleteBucketPolicy(bucket: string): Promise<void>;

  /** Undefined when the bucket has no tags. */
  getBucketTags(bucket: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Replaces the existing tags. */
  putBucketTags(bucket: string, tags: Readonly<Record<string, string>>): Promise<void>;
  deleteBucketTags(bucket: string): Promise<void>;

  putObject(request: PutObject): Promise<ObjectInfo>;
  /** `customerKey` is the client's key of an object that was stored with one. Without it, and with another key, the object is refused. */
  headObject(bucket: string, key: string, conditions?: ReadConditions, customerKey?: CustomerKey): Promise<ObjectInfo>;
  /** Nothing of the body is read before the caller asks for it. */
  getObject(
    bucket: string,
    key: string,
    conditions?: ReadConditions,
    customerKey?: CustomerKey,
  ): Promise<ReadableObject>;
  copyObject(request: CopyObject): Promise<ObjectInfo>;
  /** Deleting an absent key succeeds, as in S3, unless `conditions` ask for an ETag. */
  deleteObject(bucket: string, key: string, conditions?: DeleteConditions): Promise<void>;
  listObjects(request: ListObjects): Promise<ObjectListing>;

  createMultipartUpload(
    request: CreateMultipartUpload,
  ): Promise<{ readonly uploadId: string; readonly encryption?: ObjectEncryption }>;
  putPart(request: PutPart): Promise<PartInfo & { readonly encryption?: ObjectEncryption }>;
  copyPart(
    request: Omit<PutPart, 'body' | 'size' | 'digests'> & {
      readonly source: CopySource;
      readonly range?: ByteRange | undefined;
    },
  ): Promise<PartInfo & { readonly encryption?: ObjectEncryption }>;
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

export interface Bucket {
  readonly name: string;
  readonly created: Date;
  readonly location: string;
}

/** The default encryption of a bucket, and the encryptions that it blocks. */
export type BucketEncryption = BucketEncryptionRule;

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
  /** `x-amz-meta-*`, names in lower case without the prefix. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Additional checksums of S3, base64. `type` as in `x-amz-checksum-type`. */
export interface Checksum {
  readonly algorithm: 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256';
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
  /** Set for a quarantined object: it is not served, only listed. `found` is in milliseconds since 1970. */
  readonly damage?: { readonly found: number; readonly what: string };
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

export interface PutObject {
  readonly bucket: string;
  readonly key: string;
  readonly body: BodySource;
  /** Plaintext bytes. The layer throws `IncompleteBody` for a body of another length. */
  readonly size: number;
  readonly digests: ExpectedDigests;
  readonly headers: ObjectHeaders;
  readonly encryption?: RequestedEncryption | undefined;
  readonly conditions?: WriteConditions | undefined;
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
  readonly conditions?: ReadConditions | undefined;
  /** The client's key of a source that was stored with one. */
  readonly customerKey?: CustomerKey | undefined;
}

export interface CopyObject {
  readonly source: CopySource;
  readonly bucket: string;
  readonly key: string;
  /** Absent: the source's headers and metadata (`x-amz-metadata-directive: COPY`). */
  readonly headers?: ObjectHeaders | undefined;
  /** Absent: the source's, or that of `headers` where they are given. */
  readonly storageClass?: string | undefined;
  readonly encryption?: RequestedEncryption | undefined;
  /** Absent: the source's, if any. */
  readonly checksumAlgorithm?: Checksum['algorithm'] | undefined;
  /** Conditions on the object that the copy replaces. */
  readonly conditions?: WriteConditions | undefined;
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

export interface CreateMultipartUpload {
  readonly bucket: string;
  readonly key: string;
  readonly headers: ObjectHeaders;
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

export interface PartListing {
  readonly parts: readonly PartInfo[];
  readonly next?: number;
  readonly initiated: Date;
  readonly storageClass?: string;
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
  readonly uploads: readonly { readonly key: string; readonly uploadId: string; readonly initiated: Date }[];
  readonly commonPrefixes: readonly string[];
  readonly next?: { readonly key: string; readonly uploadId: string };
}
