import type { BlobId } from '../../store/blob-store.ts';
import type { Batch, Key } from '../../store/record-store.ts';
import type { ObjectContext } from '../context.ts';
import type { StoredObject } from './find-object.ts';
import { decodeBody, decodeManifest, type ManifestPart } from '../records/body-record.ts';
import type { Body, ObjectRecord } from '../records/object-record.ts';
import { encodeRecord } from '../records/record-format.ts';
import { recordKeys } from '../records/record-keys.ts';
import { isUnreadable, StoredDataError } from '../stored-data-error.ts';

/** A batch under construction. */
export type BatchChanges = { readonly [Member in 'expect' | 'put' | 'delete']: NonNullable<Batch[Member]> };

/**
 * Returns the changes that remove an object's record, body and blobs in the commit that replaces or deletes it. `by` is the kind of the
 * new body: its records are overwritten instead of deleted.
 */
export async function replaceObject(
  context: ObjectContext,
  bucket: string,
  key: string,
  current: StoredObject | undefined,
  by: Body['kind'] | undefined,
): Promise<BatchChanges> {
  const objectKey = recordKeys.object(bucket, key);
  if (current === undefined) return { expect: [{ kind: 'absent', key: objectKey }], put: [], delete: [] };
  const { body } = current.record;
  const removed: Key[] = by === undefined ? [objectKey] : [];
  let blobs: readonly BlobId[] = [];
  if (body.kind === 'inline') {
    if (by !== 'inline') removed.push(recordKeys.inline(bucket, key));
  } else if (body.kind === 'blob') {
    blobs = [body.blob];
  } else {
    if (by !== 'parts') removed.push(recordKeys.manifest(bucket, key));
    blobs = await blobsOfManifest(context, bucket, key, current.record);
  }
  if (current.record.damage !== undefined) removed.push(recordKeys.damage(bucket, key));
  const { put, delete: owners } = queueRemoval(blobs, context.clock());
  return {
    expect: [{ kind: 'revision', key: objectKey, revision: current.revision }],
    put,
    delete: [...removed, ...owners],
  };
}

/**
 * Returns the blobs of a manifest. A damaged object can be replaced and deleted although its manifest cannot be read any more: `verify`
 * finds the blobs that it leaves.
 */
async function blobsOfManifest(
  context: ObjectContext,
  bucket: string,
  key: string,
  record: ObjectRecord,
): Promise<readonly BlobId[]> {
  try {
    const parts = await readManifest(context, bucket, key, record);
    if (parts !== undefined) return parts.map((part) => part.blob);
  } catch (error) {
    if (record.damage === undefined || !isUnreadable(error)) throw error;
  }
  if (record.damage === undefined) throw new StoredDataError('changed', 'the records changed meanwhile');
  return [];
}

/** Queues blobs for removal. Nothing may refer to them after the same commit. */
export function queueRemoval(blobs: readonly BlobId[], now: number): Pick<BatchChanges, 'put' | 'delete'> {
  const value = encodeRecord({ queued: now });
  return {
    put: blobs.map((blob) => ({ key: recordKeys.removal(blob), value })),
    delete: blobs.map((blob) => recordKeys.owner(blob)),
  };
}

/** Returns undefined when the manifest belongs to another object: the object was replaced since its record was read. */
export async function readManifest(
  context: ObjectContext,
  bucket: string,
  key: string,
  { id, body }: ObjectRecord,
): Promise<readonly ManifestPart[] | undefined> {
  const entry = await context.records.get(recordKeys.manifest(bucket, key));
  const bytes = entry && decodeBody(entry.value, id);
  return bytes && decodeManifest(bytes, body.kind === 'parts' ? body.crc : undefined);
}
