import type { Checksum, ObjectInfo } from './objects.ts';

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
