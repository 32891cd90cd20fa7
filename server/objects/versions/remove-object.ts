import type { ObjectContext } from '../context/context.ts';
import type { VersionPlace } from '../records/version-place.ts';
import type { StoredObject, Body, ObjectRecord } from '../records/object-record.ts';
import type { BatchChanges } from '../records/blob-claims.ts';
import { indexKeyOf, objectRecordKey } from '../records/version-place.ts';
import type { Key } from '../../store/record-store.ts';
import { recordKeys } from '../records/record-format.ts';
import { queueRemoval } from '../records/blob-claims.ts';
import type { BlobId } from '../../store/blob-store.ts';
import { withRestored } from '../records/restored-copy.ts';
import { readManifest } from '../records/manifest.ts';
import { isUnreadable } from '../records/damage.ts';
import { StoreError } from '../../store/store-error.ts';

/**
 * Returns the changes that remove an object's record, body and blobs in the commit that replaces or deletes it. `by` is the kind of the
 * new body at the same place: its records are overwritten instead of deleted.
 */
export async function removeObject(
  context: ObjectContext,
  place: VersionPlace,
  current: StoredObject | undefined,
  by: Body['kind'] | undefined,
): Promise<BatchChanges> {
  const objectKey = objectRecordKey(place);
  if (current === undefined) return { expect: [{ kind: 'absent', key: objectKey }], put: [], delete: [] };
  const { bucket, key, order } = place;
  const { body, damage } = current.record;
  const removed: Key[] = by === undefined ? [objectKey] : [];
  if (body.kind === 'inline' && by !== 'inline') removed.push(recordKeys.inline(bucket, key, order));
  if (body.kind === 'parts' && by !== 'parts') removed.push(recordKeys.manifest(bucket, key, order));
  const blobs = body.kind === 'inline' ? [] : await blobsOfObject(context, place, current.record);
  if (damage !== undefined) removed.push(recordKeys.damage(bucket, key, order));
  const indexKey = by === undefined ? indexKeyOf(bucket, key, current.record) : undefined;
  if (indexKey !== undefined) removed.push(indexKey);
  const { put, delete: owners } = queueRemoval(blobs, context.clock());
  return {
    expect: [{ kind: 'revision', key: objectKey, revision: current.revision }],
    put,
    delete: [...removed, ...owners],
  };
}

/** Returns the blobs of the body of an object, with those of its restored copy. */
export async function blobsOfObject(
  context: ObjectContext,
  place: VersionPlace,
  record: ObjectRecord,
): Promise<readonly BlobId[]> {
  if (record.body.kind === 'blob') return withRestored(record, [record.body.blob]);
  return record.body.kind === 'parts' ? withRestored(record, await blobsOfManifest(context, place, record)) : [];
}

/**
 * Returns the blobs of a manifest. A damaged object can be replaced and deleted although its manifest cannot be read any more: `verify`
 * finds the blobs that it leaves.
 */
async function blobsOfManifest(
  context: ObjectContext,
  place: VersionPlace,
  record: ObjectRecord,
): Promise<readonly BlobId[]> {
  try {
    const parts = await readManifest(context, place, record);
    if (parts !== undefined) return parts.map((part) => part.blob);
  } catch (error) {
    if (record.damage === undefined || !isUnreadable(error)) throw error;
  }
  if (record.damage === undefined) throw new StoreError('changed', 'the records changed meanwhile');
  return [];
}
