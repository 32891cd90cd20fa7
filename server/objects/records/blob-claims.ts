import type { BlobId, BlobStore } from '../../store/blob-store.ts';
import type { BlockSums } from '../checksums/block-sums.ts';
import { isPacked } from '../../store/packed-id.ts';
import { newSlottedId } from '../../store/slot.ts';
import { commitOnce } from '../../store/commits.ts';
import type { ObjectRecord } from './object-record.ts';
import type { BlobOwner } from '../contract/objects.ts';
import { recordKeys, encodeRecord } from './record-format.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { encodeBlockSums } from './body-records.ts';
import type { Batch, RecordStore } from '../../store/record-store.ts';

/** What claims need of the context of the object layer, which is above the records. */
interface Context {
  readonly records: RecordStore;
  readonly blobs: Pick<BlobStore, 'remove'>;
  readonly clock: () => number;
  readonly random: (size: number) => Buffer;
}

/** A blob, and the block sums that the commit which claims it must write under `c`. */
export interface StoredBlob {
  readonly blob: BlobId;
  readonly recordedSums?: BlockSums;
}

export function newBlobId(bucket: string, now: number, random: (size: number) => Buffer): BlobId {
  return newSlottedId(bucket, now, random) as BlobId;
}

/**
 * Removes a blob that nothing refers to. A body in a segment is queued for removal, which counts it as garbage: nothing else would know of
 * it before its segment is sealed.
 */
export async function discardBlob(context: Context, blob: BlobId): Promise<void> {
  try {
    if (isPacked(blob)) {
      const { put } = queueRemoval([blob], context.clock());
      await commitOnce(context.records, { put, freesSpace: true }, context.random);
    } else {
      await context.blobs.remove(blob);
    }
  } catch {
    // The request has failed already with another error. Garbage collection finds the blob, since it has no owner.
  }
}

export function ownerOf(bucket: string, key: string, { id, versionId }: ObjectRecord): BlobOwner {
  return { object: id, bucket, key, versionId };
}

export function ownerRecord(blob: BlobId, owner: BlobOwner): BatchChanges['put'][number] {
  return { key: recordKeys.owner(blob), value: encodeRecord(isPacked(blob) ? owner : { object: owner.object }) };
}

/**
 * Returns the part of a commit that makes an object the owner of a written blob. Garbage collection abandons blobs without an owner
 * after a grace period, with a tombstone: then the commit fails instead of referring to a blob that is gone.
 */
export async function claimBlob(
  context: Context,
  { blob, recordedSums }: StoredBlob,
  owner: BlobOwner,
): Promise<Pick<BatchChanges, 'expect' | 'put'>> {
  const tombstone = recordKeys.tombstone(blob);
  if ((await context.records.get(tombstone)) !== undefined) {
    throw new S3Error('RequestTimeout', 'The upload took longer than unfinished uploads are kept; start it again.');
  }
  return {
    expect: [{ kind: 'absent', key: tombstone }],
    put: [
      ownerRecord(blob, owner),
      ...(recordedSums ? [{ key: recordKeys.blockSums(blob), value: encodeBlockSums(recordedSums) }] : []),
    ],
  };
}

/** A batch under construction. */
export type BatchChanges = { readonly [Member in 'expect' | 'put' | 'delete']: NonNullable<Batch[Member]> };

/** Queues blobs for removal. Nothing may refer to them after the same commit. */
export function queueRemoval(blobs: readonly BlobId[], now: number): Pick<BatchChanges, 'put' | 'delete'> {
  const value = encodeRecord({ queued: now });
  return {
    put: blobs.map((blob) => ({ key: recordKeys.removal(blob), value })),
    delete: blobs.map((blob) => recordKeys.owner(blob)),
  };
}
