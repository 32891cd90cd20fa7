import type { BlobId } from '../../store/blob-store.ts';
import type { ObjectContext } from '../context.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { StoredBlob } from '../bodies/incoming-body.ts';
import { encodeBlockSums } from '../records/body-record.ts';
import { encodeRecord } from '../records/record-format.ts';
import { recordKeys } from '../records/record-keys.ts';
import type { BatchChanges } from './replace-object.ts';

/** Makes an id of 32 hexadecimal characters that sorts by time: 6 bytes of milliseconds since 1970, then 10 random ones. */
export function newId(now: number, random: (size: number) => Buffer): string {
  return now.toString(16).padStart(12, '0') + random(10).toString('hex');
}

export function newBlobId(now: number, random: (size: number) => Buffer): BlobId {
  return newId(now, random) as BlobId;
}

/** Removes a blob that nothing refers to. */
export async function discardBlob(context: ObjectContext, blob: BlobId): Promise<void> {
  try {
    await context.blobs.remove(blob);
  } catch {
    // The request has failed already with another error. Garbage collection finds the blob, since it has no owner.
  }
}

/**
 * Returns the part of a commit that makes an object the owner of a written blob. Garbage collection abandons blobs without an owner
 * after a grace period, with a tombstone: then the commit fails instead of referring to a blob that is gone.
 */
export async function claimBlob(
  context: ObjectContext,
  { blob, recordedSums }: StoredBlob,
  owner: string,
): Promise<Pick<BatchChanges, 'expect' | 'put'>> {
  const tombstone = recordKeys.tombstone(blob);
  if ((await context.records.get(tombstone)) !== undefined) {
    throw new S3Error('RequestTimeout', 'The upload took longer than unfinished uploads are kept; start it again.');
  }
  return {
    expect: [{ kind: 'absent', key: tombstone }],
    put: [
      { key: recordKeys.owner(blob), value: encodeRecord({ object: owner }) },
      ...(recordedSums ? [{ key: recordKeys.blockSums(blob), value: encodeBlockSums(recordedSums) }] : []),
    ],
  };
}
