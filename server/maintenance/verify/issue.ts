import type { BlobId } from '../../store/blob-store.ts';
import { decodeKey } from '../../store/keys.ts';
import { isStoreError } from '../../store/store-error.ts';
import type { Key } from '../../store/record-store.ts';

/**
 * An issue of `verify` or the scrub. `damaged` bytes are not those that were stored, `missing` bytes are gone; both concern an object
 * or a part that clients can name. The other issues concern records and blobs that no client can name, or no server can read.
 */
export type Issue =
  | {
      /**
       * `unreadable`: the store failed to read the bytes, which says nothing about them. `quarantined`: nothing is wrong with the bytes, and servers
       * do not serve them because of an earlier finding.
       */
      readonly kind: 'missing-body' | 'damaged-body' | 'unreadable-body' | 'quarantined-object';
      readonly bucket: string;
      readonly key: string;
      /** The id of a noncurrent version, or `null`; absent for the current one. */
      readonly versionId?: string;
      /** The id of a multipart upload in progress. */
      readonly uploadId?: string;
      readonly blob?: BlobId;
      readonly message: string;
    }
  /** The blob of an object or part without an owner record: it exists, and garbage collection would remove it. */
  | {
      readonly kind: 'unowned-blob';
      readonly bucket: string;
      readonly key: string;
      readonly versionId?: string;
      readonly uploadId?: string;
      readonly blob: BlobId;
      readonly message: string;
    }
  /** The block sums of a blob that is whole or was not read: the next scrub or reader computes them again. */
  | {
      readonly kind: 'block-sums';
      readonly bucket: string;
      readonly key: string;
      readonly versionId?: string;
      readonly uploadId?: string;
      readonly blob: BlobId;
      readonly message: string;
    }
  /**
   * The records of a key contradict each other: it has not exactly one current version, or several null versions, or a version under
   * another id. No data is lost; clients see too little or too much.
   */
  | {
      readonly kind: 'inconsistent-versions';
      readonly bucket: string;
      readonly key: string;
      readonly versionId?: string;
      readonly message: string;
    }
  /** A body, or the parts of an upload, whose object or upload has no record: the record was lost. */
  | {
      readonly kind: 'lost-object';
      readonly record: string;
      readonly bucket?: string;
      readonly key?: string;
      readonly blob?: BlobId;
      readonly message: string;
    }
  /** The records of a kind, or of a bucket, are not those that were committed. */
  | { readonly kind: 'lost-records'; readonly record: string; readonly message: string }
  /** Records and bodies, or the files of a snapshot, are not those of one store at one moment. */
  | { readonly kind: 'mismatched-stores'; readonly message: string }
  /** A blob older than the grace period that nothing refers to and that garbage collection does not know. */
  | { readonly kind: 'orphan-blob'; readonly blob: BlobId; readonly message: string }
  /** A record that nothing refers to, or that refers to nothing: it takes space, no data is lost. */
  | { readonly kind: 'stray-record'; readonly record: string; readonly message: string }
  /** A record that this server cannot read. */
  | { readonly kind: 'unreadable-record'; readonly record: string; readonly message: string };

/** Reports if an issue means that data of a client is lost. */
export function isLoss({ kind }: Issue): boolean {
  switch (kind) {
    case 'missing-body':
    case 'damaged-body':
    case 'unreadable-record':
    case 'lost-object':
    case 'lost-records':
    case 'mismatched-stores':
      return true;
    case 'unreadable-body':
    case 'quarantined-object':
    case 'unowned-blob':
    case 'block-sums':
    case 'inconsistent-versions':
    case 'orphan-blob':
    case 'stray-record':
      return false;
    default:
      return kind satisfies never;
  }
}

/** Formats the key of a record: its parts in JSON, or its bytes in hexadecimal where it is not a key of Coffer. */
export function shownKey(key: Key): string {
  try {
    return JSON.stringify(decodeKey(key).map(String));
  } catch (error) {
    if (isStoreError(error, 'invalid-key')) return key.toString('hex');
    throw error;
  }
}
