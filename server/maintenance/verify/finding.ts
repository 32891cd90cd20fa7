import type { BlobId } from '../../store/blob-store.ts';
import { decodeKey, InvalidKey } from '../../store/keys.ts';
import type { Key } from '../../store/record-store.ts';

/**
 * What `verify` and the scrub can find. `damaged` means that bytes are not those that were stored, `missing` that they are gone;
 * both concern an object (or an upload's part) that clients can name. The others concern what nobody can name any more, or not read.
 */
export type Finding =
  | {
      readonly kind: 'missing-body' | 'damaged-body';
      readonly bucket: string;
      readonly key: string;
      /** Of a multipart upload that is not complete. */
      readonly uploadId?: string;
      readonly blob?: BlobId;
      /** The store could not give the bytes, which says nothing about them. */
      readonly unreadable?: true;
      readonly message: string;
    }
  /** The blob of an object or part that no owner record keeps: it is there, and the sweeper would remove it. */
  | {
      readonly kind: 'unowned-blob';
      readonly bucket: string;
      readonly key: string;
      readonly uploadId?: string;
      readonly blob: BlobId;
      readonly message: string;
    }
  /** The record of the block sums of a blob that is whole or was not read: the next scrub or reader computes them again. */
  | {
      readonly kind: 'block-sums';
      readonly bucket: string;
      readonly key: string;
      readonly uploadId?: string;
      readonly blob: BlobId;
      readonly message: string;
    }
  /** A blob older than the grace period that nothing refers to and that no sweeper knows of. */
  | { readonly kind: 'orphan-blob'; readonly blob: BlobId; readonly message: string }
  /** A record that nothing refers to, or that refers to nothing: it takes space, no data is lost. */
  | { readonly kind: 'stray-record'; readonly record: string; readonly message: string }
  /** A record that this server cannot read. */
  | { readonly kind: 'unreadable-record'; readonly record: string; readonly message: string };

/** Whether a finding means that something a client stored cannot be given back. */
export function isLoss(finding: Finding): boolean {
  return finding.kind === 'missing-body' || finding.kind === 'damaged-body' || finding.kind === 'unreadable-record';
}

/** A record's key for people: its parts in JSON, or its bytes where it is no key of ours. */
export function shownKey(key: Key): string {
  try {
    return JSON.stringify(decodeKey(key).map(String));
  } catch (error) {
    if (error instanceof InvalidKey) return key.toString('hex');
    throw error;
  }
}
