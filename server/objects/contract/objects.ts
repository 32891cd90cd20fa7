import type { ByCaller, EventCaller } from './event-caller.ts';
import type { EncryptionContext } from '../../encryption/key-source.ts';
import type { CustomerKey } from '../../encryption/object-key.ts';
import type { ChecksumAlgorithm } from '../../../protocol/s3/checksum-algorithms.ts';
import type { RequestedAcl } from '../../../protocol/s3/acl.ts';
import type { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ServicePrincipal } from '../../../protocol/policy/arns.ts';
import type { BodySource } from './body-source.ts';
import type { Chunks } from '../../streams/chunks.ts';
import type { Instant } from './instant.ts';

/** The version that was read or changed; absent in a bucket that never had versions. */
export interface VersionResult {
  readonly versionId?: string;
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

export interface PutRetention extends VersionOptions, ByCaller {
  readonly retention: Retention | undefined;
  /** The caller has the permission and asked for it. It changes GOVERNANCE alone. */
  readonly bypassGovernance: boolean;
}

/** The value of `x-amz-replication-status`. */
export type ReplicationStatus = 'PENDING' | 'COMPLETED' | 'FAILED' | 'REPLICA';

/** The replication of a version. */
export interface ReplicationState {
  readonly status: ReplicationStatus;
  /** The ids of the remote targets that have not got the version as it is. */
  readonly waiting?: readonly string[];
  /** The last change of tags or lock, in milliseconds since 1970: a delivery that began before it leaves the version waiting. */
  readonly changed?: number;
  /** The state of the version at the remote targets, by their ids. A target that is absent never got it. */
  readonly targets?: Readonly<Record<string, VersionAtTarget>>;
}

export interface VersionAtTarget {
  /** `removed`: the target got the version, and has it no more. */
  readonly has?: 'whole' | 'removed';
  /** Why the last delivery failed. */
  readonly refused?: string;
  /** No delivery can bring the version there. */
  readonly isImpossible?: true;
}

/** A version that another server made, with its id and its time. */
export interface Replica {
  /** Up to 255 bytes, or `null`. */
  readonly versionId: string;
  readonly modified: Date;
  /**
   * The place among the versions of the key as the other server has it (`version-order.ts`), with the nanoseconds of its time. Absent where the
   * id is such a place, or nothing more is known than `modified`.
   */
  readonly order?: string | undefined;
  /** The ETag of the source. */
  readonly etag?: string | undefined;
  /** The last change of tags or lock. */
  readonly changed?: Date | undefined;
  /** The last change of each, as far as the other server says it. */
  readonly changes?: ChangeTimes | undefined;
}

/** The times at which attributes of a version changed. */
export interface ChangeTimes {
  readonly tags?: Instant | undefined;
  readonly retention?: Instant | undefined;
  readonly legalHold?: Instant | undefined;
  readonly metadata?: Instant | undefined;
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
  readonly replication?: ReplicationState;
  /** When attributes changed after the version was made. */
  readonly changes?: ChangeTimes;
  /** The time when a lifecycle rule expires the current version. */
  readonly expiration?: { readonly date: Date; readonly ruleId: string };
  /** The restored copy of a body in a tier. */
  readonly restore?: { readonly ongoing: true } | { readonly ongoing: false; readonly until: Date };
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
  /** The algorithm of the checksum to store. With a value of another algorithm, which is only compared, both are computed. */
  readonly compute?: Checksum['algorithm'];
}

/** The caller of a write, who owns the object where the bucket lets writers own. */
export interface ObjectWriter extends EventCaller {
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
   * Plaintext bytes. The layer throws `IncompleteBody` for a body of another length. A body whose size is known only at its end has `max`
   * bytes.
   */
  readonly size: number | { readonly max: number };
  readonly digests: ExpectedDigests;
  readonly headers: ObjectHeaders;
  readonly encryption?: RequestedEncryption | undefined;
  readonly conditions?: WriteConditions | undefined;
  readonly tags?: ObjectTags | undefined;
  /** Throws `InvalidRequest` for a bucket without object lock. */
  readonly lock?: ObjectLock | undefined;
  /** The request that creates the object, for events; `Put` by default. */
  readonly operation?: 'Put' | 'Post' | 'Copy' | undefined;
  /** As in `ReadOptions`, of the object that the write replaces. */
  readonly onlyId?: string | undefined;
  /** The version comes from another server. Where it is there, nothing changes. */
  readonly replica?: Replica | undefined;
}

/** An object that the server itself writes, as the service of AWS whose work it does. */
export type Delivery = PutObject & { readonly service: ServicePrincipal };

export interface ReadOptions extends ByCaller {
  readonly conditions?: ReadConditions | undefined;
  /** The client's key of an object that was stored with one. Without it, and with another key, the object is refused. */
  readonly customerKey?: CustomerKey | undefined;
  /** 32 hexadecimal digits, or `null`. Absent: the current version. Throws `NoSuchVersion`. */
  readonly versionId?: string | undefined;
  /**
   * The id of the object whose ACL or tags allow the request, '' for an absent one. Throws `SlowDown` for another one, which replaced it
   * meanwhile: a repetition is decided by that one.
   */
  readonly onlyId?: string | undefined;
  /** Asks for `limit` parts of a multipart object, from the one after number `after` on: one more read. */
  readonly parts?: { readonly after: number; readonly limit: number } | undefined;
  /** The read of a client, for events of the current version; none by default. */
  readonly access?: 'Get' | 'Head' | 'Attributes' | undefined;
  /** Throws where the answer cannot be made, before the read is reported: a read that fails is no event. */
  readonly accept?: ((info: ObjectInfo) => void) | undefined;
}

export type VersionOptions = Pick<ReadOptions, 'versionId' | 'onlyId'>;

export interface RenameObject extends ByCaller {
  readonly bucket: string;
  readonly from: string;
  /** An object under this key is replaced. */
  readonly to: string;
  readonly fromConditions: ReadConditions;
  /** An absent object fulfils all but If-Match and If-Modified-Since. */
  readonly toConditions: ReadConditions;
  /** The object under `from` must have each of these ids, as in `ReadOptions`. */
  readonly onlyIds: readonly (string | undefined)[];
  /** As in `PutObject`. */
  readonly onlyTargetId: string | undefined;
  /** A request with the token of an earlier one, and the same parameters, changes nothing. */
  readonly clientToken: string | undefined;
  /** Called with the tags that the object takes with it. Its rejection refuses the rename. */
  readonly allowTags: (tags: ObjectTags) => Promise<void>;
}

export interface DeleteOptions extends ByCaller {
  readonly conditions?: DeleteConditions | undefined;
  readonly versionId?: string | undefined;
  /** The caller has the permission to delete a version under GOVERNANCE, and asked for it. */
  readonly bypassGovernance?: boolean | undefined;
  /** As in `ReadOptions`. */
  readonly onlyId?: string | undefined;
  /**
   * Another server removed `versionId` or, with `marker`, added a delete marker with that id. `modified` is the time of a removed version, and
   * `removedAt` that of its removal, as far as the other server says one of them.
   */
  readonly replica?:
    | {
        readonly marker: Pick<Replica, 'versionId' | 'modified' | 'order'> | undefined;
        readonly modified?: Date | undefined;
        readonly removedAt?: Date | undefined;
      }
    | undefined;
}

export interface ExpireObject {
  readonly versionId?: string | undefined;
  /** Decides with the version that the commit would remove. */
  readonly isDue: (version: ExpiringVersion) => boolean;
}

export interface TransitionObject {
  readonly bucket: string;
  readonly key: string;
  /** 32 hexadecimal digits, or `null`. */
  readonly versionId: string;
  /** The name of the tier. */
  readonly tier: string;
  /** Decides with the version that the commit would move. */
  readonly isDue: (version: ExpiringVersion) => boolean;
}

export interface RestoreObject extends VersionOptions, ByCaller {
  readonly bucket: string;
  readonly key: string;
  /** The days for which the copy stays, up to the next midnight UTC. */
  readonly days: number;
}

/** A version that a lifecycle rule may remove or move. */
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
  readonly read: (range: { readonly start: number; readonly end: number }) => Buffer | Chunks;
}

export interface CopySource {
  readonly bucket: string;
  readonly key: string;
  readonly versionId?: string | undefined;
  readonly onlyId?: ReadOptions['onlyId'];
  readonly conditions?: ReadConditions | undefined;
  /** The client's key of a source that was stored with one. */
  readonly customerKey?: CustomerKey | undefined;
  /** Gets the error of an absent source, and rejects where the caller must not learn it. */
  readonly onAbsent?: ((error: S3Error) => Promise<void>) | undefined;
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
  /** As in `PutObject`. */
  readonly onlyId?: string | undefined;
}

/** The owner of a blob: the id of an object or an upload, and for a packed body the name of the object, by which compaction finds it. */
export interface BlobOwner {
  readonly object: string;
  readonly bucket: string;
  readonly key: string;
  /** Absent for the null version. */
  readonly versionId?: string | undefined;
}
