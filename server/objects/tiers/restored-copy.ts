import { hash } from 'node:crypto';
import type { BlobId } from '../../store/blob-store.ts';
import { tierOf } from '../../store/tiered-id.ts';
import type { ObjectRecord } from '../records/object-record.ts';

/** The first 12 characters are the time of the id of the copy, as in other blob ids. */
const TIME = 12;

/** Returns the id of the blob that is the restored copy of a body in a tier. */
export function restoredBlob(copyId: string, tiered: BlobId): BlobId {
  return (copyId.slice(0, TIME) + hash('sha256', copyId + tiered).slice(0, 32 - TIME)) as BlobId;
}

/** Returns the blob of the restored copy of a body; undefined where there is no copy. */
export function copyOf({ restore }: Pick<ObjectRecord, 'restore'>, blob: BlobId): BlobId | undefined {
  return restore?.kind === 'restored' && tierOf(blob) !== undefined ? restoredBlob(restore.id, blob) : undefined;
}

/** Returns the blobs of a body with those of its restored copy. */
export function withRestored(record: Pick<ObjectRecord, 'restore'>, blobs: readonly BlobId[]): readonly BlobId[] {
  return [...blobs, ...blobs.flatMap((blob) => copyOf(record, blob) ?? [])];
}
