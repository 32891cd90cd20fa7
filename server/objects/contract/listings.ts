import type { Acl } from '../../../protocol/s3/acl.ts';
import type {
  Checksum,
  ObjectEncryption,
  ObjectHeaders,
  ObjectInfo,
  ObjectLock,
  ObjectTags,
  ReplicationState,
} from './objects.ts';

export interface ListObjects {
  readonly bucket: string;
  readonly prefix: string;
  readonly delimiter: string;
  /** The listing begins after this key or common prefix. */
  readonly after: string;
  readonly limit: number;
  /** True where the objects come with `details`. */
  readonly details?: boolean | undefined;
  /** True where the objects of a bucket whose ACLs count come with their `owner`. */
  readonly owners?: boolean | undefined;
}

/** The details of an object that listings of S3 do not show. */
export interface ListedDetails {
  /** Unique to the object. */
  readonly id: string;
  /** The ETag is sealed in the record, because it reveals something of an encrypted content. */
  readonly hasSealedEtag: boolean;
  readonly headers: ObjectHeaders;
  readonly tags: ObjectTags;
  readonly scheme: ObjectEncryption['scheme'] | undefined;
  readonly bucketKey: boolean;
  readonly lock: ObjectLock | undefined;
  readonly restore: ObjectInfo['restore'];
  /** Undefined where the owner of the bucket alone has full control. */
  readonly acl: Acl | undefined;
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
  readonly details?: ListedDetails;
  /** The canonical ID of the owner; absent where that is the owner of the bucket. */
  readonly owner?: string;
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
  /** True where the versions come with `details`. Delete markers have none. */
  readonly details?: boolean | undefined;
  /** As in `ListObjects`. Delete markers belong to the owner of the bucket. */
  readonly owners?: boolean | undefined;
  /** True where versions and delete markers come with their `replication`. */
  readonly replication?: boolean | undefined;
}

export interface ListedVersion extends ListedObject {
  /** Up to 255 bytes, or `null`. */
  readonly versionId: string;
  /** The place among the versions of the key, where it does not follow from the id. */
  readonly order?: string | undefined;
  /** True for the current version of the key. */
  readonly isLatest: boolean;
  readonly deleteMarker: boolean;
  readonly replication?: ReplicationState;
}

export interface VersionListing {
  readonly versions: readonly ListedVersion[];
  readonly commonPrefixes: readonly string[];
  /** Set when there is more. `versionId` is absent after a common prefix. */
  readonly next?: { readonly key: string; readonly versionId?: string };
}
