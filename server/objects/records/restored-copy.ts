import { hash } from 'node:crypto';
import type { BlobId } from '../../store/blob-store.ts';
import { newId, slotOf } from '../../store/slot.ts';
import { tierOf } from '../../store/tiered-id.ts';
import type { ObjectRecord } from './object-record.ts';

/** The first 12 characters are the time of the id of the copy, as in other blob ids. */
const TIME = 12;
const LENGTH = 32;

/** Makes the id of a restored copy: its last 4 characters are the slot of its bucket. Copies that were made before slots have none. */
export function newCopyId(bucket: string, now: number, random: (size: number) => Buffer): string {
  return newId(now, random) + slotOf(bucket);
}

/** Returns the id of the blob that is the restored copy of a body in a tier. */
export function restoredBlob(copyId: string, tiered: BlobId): BlobId {
  const start = copyId.slice(0, TIME) + copyId.slice(LENGTH);
  return (start + hash('sha256', copyId + tiered).slice(0, LENGTH - start.length)) as BlobId;
}

/** Returns the blob of the restored copy of a body; undefined where there is no copy. */
export function copyOf({ restore }: Pick<ObjectRecord, 'restore'>, blob: BlobId): BlobId | undefined {
  return restore?.kind === 'restored' && tierOf(blob) !== undefined ? restoredBlob(restore.id, blob) : undefined;
}

/** Returns the blobs of a body with those of its restored copy. */
export function withRestored(record: Pick<ObjectRecord, 'restore'>, blobs: readonly BlobId[]): readonly BlobId[] {
  return [...blobs, ...blobs.flatMap((blob) => copyOf(record, blob) ?? [])];
}
