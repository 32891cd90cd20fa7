import type { BodySender } from '../../platform/body-memory.ts';
import type { Readable } from 'node:stream';
import type { Pieces } from '../../platform/pieces.ts';
import type { BucketEncryptionRule } from '../../protocol/s3/bucket-encryption.ts';
import type { CustomerKey } from '../encryption/object-key.ts';
import type { EncryptionContext } from '../encryption/key-source.ts';

/**
 * Buckets and objects on the two stores: what the S3, console and admin rooms call. Authorization happened before.
 *
 * Every refusal is an `S3Error` of `protocol/s3/s3-error.ts` with the protocol's code (`NoSuchKey`, `BucketNotEmpty`,
 * `PreconditionFailed`, …). Times are `Date`s with whole milliseconds; sizes are bytes; ETags come without quotes.
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

  /** The text of the bucket's policy as it was put; undefined when there is none. */
  getBucketPolicy(bucket: string): Promise<string | undefined>;
  /** The text must be a valid policy of this bucket. */
  putBucketPolicy(bucket: string, policy: string): Promise<void>;
  deleteBucketPolicy(bucket: string): Promise<void>;

  /** Undefined when the bucket has no tags. */
  getBucketTags(bucket: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** In place of those it has. */
  putBucketTags(bucket: string, tags: Readonly<Record<string, string>>): Promise<void>;
  deleteBucketTags(bucket: string): Promise<void>;

  putObject(request: PutObject): Promise<ObjectInfo>;
  /** `customerKey` is that of an object that was put with one; it is refused without it, and with another. */
  headObject(bucket: string, key: string, conditions?: ReadConditions, customerKey?: CustomerKey): Promise<ObjectInfo>;
  /** One of `open`, `lend` and `bytes` is called, at most once, with the range of the plaintext; nothing is read before. */
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
  /** How the object of an upload under way will be encrypted. Throws `NoSuchUpload`. */
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

/** What requests that say nothing get, and what no request gets. */
export type BucketEncryption = BucketEncryptionRule;

/** What the request asks for; absent means the bucket's default, if any. */
export type RequestedEncryption =
  /** The default key, unless the server itself names another. */
  | { readonly scheme: 'SSE-S3'; readonly keyName?: string }
  | {
      readonly scheme: 'SSE-KMS';
      readonly keyName?: string;
      readonly context?: EncryptionContext;
      readonly bucketKey?: boolean;
    }
  | { readonly scheme: 'SSE-C'; readonly customerKey: CustomerKey };

/** What an object has. */
export type ObjectEncryption =
  | { readonly scheme: 'SSE-S3' }
  | {
      readonly scheme: 'SSE-KMS';
      readonly keyName: string;
      readonly context?: EncryptionContext;
      /** Whether the request, or the bucket's default, asked for a bucket key: docs/decisions/0002 says what that is here. */
      readonly bucketKey?: boolean;
    }
  /** Nothing is known of the key. */
  | { readonly scheme: 'SSE-C' };

/** Headers that are stored with an object and returned as they came. */
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

/** Of the client, base64. */
export type GivenChecksum = Pick<Checksum, 'algorithm' | 'value'>;

export interface ObjectInfo extends ObjectHeaders {
  readonly bucket: string;
  readonly key: string;
  /** Of the plaintext. */
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
  readonly encryption?: ObjectEncryption;
  readonly checksum?: Checksum;
  /** Of a multipart object. */
  readonly parts?: number;
  /** Of an object that is not served because its bytes are not those that were stored; only listings show it. Milliseconds since 1970. */
  readonly damage?: { readonly found: number; readonly what: string };
}

/**
 * What the body must turn out to be, known before or, with trailers, only at its end: the layer asks for `trailing()` after the
 * last byte and before it commits. A difference is `BadDigest`, and nothing is stored.
 */
export interface ExpectedDigests {
  /** Base64 of Content-MD5. */
  readonly md5?: string;
  readonly checksum?: GivenChecksum;
  /** The algorithm is known at once, the value with the trailer. */
  readonly trailing?: { readonly algorithm: Checksum['algorithm']; readonly value: () => string | undefined };
  /** An algorithm to compute where the client gave no value. */
  readonly compute?: Checksum['algorithm'];
}

export interface PutObject {
  readonly bucket: string;
  readonly key: string;
  readonly body: BodySource;
  /** Plaintext bytes. A body of another length is `IncompleteBody`. */
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

/** `Range: bytes=…`; inclusive start, exclusive end is computed by `resolveRange` once the size is known. */
export type ByteRange =
  | { readonly kind: 'from'; readonly start: number; readonly endInclusive?: number }
  | { readonly kind: 'last'; readonly bytes: number };

export interface ReadableObject {
  readonly info: ObjectInfo;
  /** Plaintext bytes from `start` inclusive to `end` exclusive. */
  readonly open: (range: { readonly start: number; readonly end: number }) => Readable;
  /** The same for who is done with a piece before he asks for the next: half the price, since buffers are used again. */
  readonly lend: (range: { readonly start: number; readonly end: number }) => Pieces;
  /** The same where the bytes are in memory already, to be called instead of `open`. Throws what the stream would fail with. */
  readonly bytes?: (range: { readonly start: number; readonly end: number }) => Buffer;
}

/**
 * A body on its way in: already decoded (no aws-chunked framing) and verified against the signature; a failure of either rejects.
 * It is read once, by iteration, by `whole` or by `pour`.
 */
export interface BodySource extends AsyncIterable<Buffer> {
  /** All of it at once, without a promise for each piece: for bodies that are kept in memory anyway. */
  readonly whole?: () => Promise<Buffer>;
  /**
   * Gives each piece to `take` and waits where that says so: without a promise for each piece. Rejects with what `take` throws, too,
   * and when the client goes away; never before `take` is done with what it was given.
   */
  readonly pour?: (take: TakePiece) => Promise<void>;
  /**
   * Counts bytes that are kept in memory until the request is answered. `whole` counts by itself.
   *
   * @throws S3Error SlowDown where the server holds too much already
   */
  readonly hold?: (bytes: number, sender: BodySender) => void;
}

/** Undefined where the next piece may come at once. */
export type TakePiece = (piece: Buffer) => Promise<void> | undefined;

export interface CopySource {
  readonly bucket: string;
  readonly key: string;
  readonly conditions?: ReadConditions | undefined;
  /** Of a source that was put with one. */
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
  /** Of what the copy takes the place of. */
  readonly conditions?: WriteConditions | undefined;
}

export interface ListObjects {
  readonly bucket: string;
  readonly prefix: string;
  readonly delimiter: string;
  /** Keys and common prefixes after this one, exclusive. */
  readonly after: string;
  readonly limit: number;
}

/** What listings show of an object. */
export interface ListedObject {
  readonly key: string;
  /** Of the plaintext. */
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
  /** That of the upload, where it was begun with one. */
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
  /** Of the whole object, where the client gives one; that of checksums may end with a dash and the number of parts. */
  readonly checksum?: GivenChecksum | undefined;
  /** As the client takes it to be that of the upload. */
  readonly checksumType?: Checksum['type'] | undefined;
  /** Bytes of the whole object, where the client gives them. */
  readonly size?: number | undefined;
  readonly conditions?: WriteConditions | undefined;
  /** That of the upload, where it was begun with one: needed where the parts have checksums. */
  readonly customerKey?: CustomerKey | undefined;
}

export interface ListParts {
  readonly bucket: string;
  readonly key: string;
  readonly uploadId: string;
  /** That of the upload: without it, checksums of its parts are left out. */
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
