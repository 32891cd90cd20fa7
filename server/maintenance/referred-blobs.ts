import { decodeRecord, UnreadableRecord } from '../objects/records/record-format.ts';
import type { PartRecord } from '../objects/records/upload-record.ts';
import { isBlobId } from '../store/blob-id.ts';
import type { BlobId } from '../store/blob-store.ts';
import { within } from '../store/keys.ts';
import type { RecordStore } from '../store/record-store.ts';
import { allObjectRecords, entries, type ObjectRecords, readObjectRecords } from './object-records.ts';
import { type ObjectPlan, planObject } from './plan-object.ts';

/**
 * Every blob that an object or a part refers to. What cannot be read refers to nothing here: it is found elsewhere.
 */
export async function* referredBlobs(records: RecordStore, signal: AbortSignal | undefined): AsyncGenerator<BlobId> {
  // Parts before objects: an upload that is completed meanwhile is found in one of them.
  for await (const { value } of entries(records, within('p'))) {
    signal?.throwIfAborted();
    const blob = partBlob(value);
    if (blob !== undefined) yield blob;
  }
  for await (const object of allObjectRecords(records, { inline: false })) {
    signal?.throwIfAborted();
    const { streams } = await planOfOneMoment(records, object);
    for (const stream of streams) if (stream.kind === 'blob') yield stream.blob;
  }
}

/** A manifest that was read beside its object's record may be another object's. */
async function planOfOneMoment(records: RecordStore, object: ObjectRecords): Promise<ObjectPlan> {
  const plan = planObject(object);
  return plan.record?.body.kind === 'parts' && plan.streams.length === 0
    ? planObject(await readObjectRecords(records, object))
    : plan;
}

function partBlob(value: Buffer): BlobId | undefined {
  try {
    const { blob } = decodeRecord(value, 'a part') as PartRecord;
    return isBlobId(blob) ? blob : undefined;
  } catch (error) {
    if (error instanceof UnreadableRecord) return undefined;
    throw error;
  }
}
