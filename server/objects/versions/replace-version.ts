import { newId } from '../../store/slot.ts';
import type { ObjectContext } from '../context/context.ts';
import { type Body, encodeObject, type ObjectRecord, type StoredObject } from '../records/object-record.ts';
import { recordKeys, versionOrder, type VersionOrder } from '../records/record-format.ts';
import { checkRemovable } from './object-lock.ts';
import type { BatchChanges } from '../records/blob-claims.ts';
import { removeObject } from './remove-object.ts';
import type { Place, NewVersion } from './place.ts';
import { newVersion, removedBy } from './place.ts';
import { partOf } from '../records/version-place.ts';
import { noChanges, joined, moveObject } from './move-object.ts';

/**
 * Returns the changes for the current version, and for the null version that the new one replaces: they are removed, or become
 * noncurrent. `by` is the kind of the new body; a delete marker has none.
 */
export async function replaceVersion(
  context: ObjectContext,
  place: Place,
  by: Exclude<Body['kind'], 'none'> | undefined,
): Promise<BatchChanges> {
  const { bucket, key, history, current, marker, nullVersion } = place;
  if (history === 'none') {
    if (current?.record.lock !== undefined) checkRemovable(current.record, context.lockClock.earliest(), false);
    return removeObject(context, place, current, by);
  }
  const removed = removedBy(place);
  for (const { record } of removed) checkRemovable(record, context.lockClock.earliest(), false);
  const ofCurrent =
    current === undefined || removed.includes(current)
      ? await removeObject(context, { bucket, key }, current, by)
      : await moveObject(context, { bucket, key }, { bucket, key, order: partOf(current.record) }, current, by);
  const markerKey = recordKeys.marker(bucket, key);
  const ofMarker: BatchChanges =
    marker === undefined
      ? { expect: [{ kind: 'absent', key: markerKey }], put: [], delete: [] }
      : replaceMarker(place, marker, by !== undefined);
  const ofNull =
    nullVersion === undefined
      ? noChanges
      : await removeObject(context, { bucket, key, order: versionOrder(undefined) }, nullVersion, undefined);
  return joined(ofCurrent, ofMarker, ofNull);
}

/** The place of a new version. */
export interface PlacedVersion {
  readonly kind: 'new';
  readonly version: NewVersion;
  /** Undefined for the current version. */
  readonly order?: VersionOrder | undefined;
  readonly changes: BatchChanges;
  /** The bytes of what it replaces, where that is not what a write of the place removes. */
  readonly removedBytes?: number;
}

/** Makes a new version the current one. */
export async function placeNew(
  context: ObjectContext,
  place: Place,
  by: Exclude<Body['kind'], 'none'> | undefined,
): Promise<PlacedVersion> {
  const version = newVersion(context, place);
  return { kind: 'new', version, changes: await replaceVersion(context, place, by) };
}

/** A null marker is replaced in a suspended bucket; every other marker becomes noncurrent. A new marker overwrites its record. */
function replaceMarker(
  { bucket, key, history }: Place,
  { record, revision }: StoredObject,
  byObject: boolean,
): BatchChanges {
  const markerKey = recordKeys.marker(bucket, key);
  const replaced = history === 'null-version' && record.versionId === undefined;
  const order = partOf(record);
  return {
    expect: [{ kind: 'revision', key: markerKey, revision }],
    put: replaced ? [] : [{ key: recordKeys.version(bucket, key, order), value: encodeObject(record) }],
    delete: byObject ? [markerKey] : [],
  };
}

/** Returns the record of a delete marker. It has an id of its own, as every object. */
export function deleteMarker(context: ObjectContext, version: NewVersion): ObjectRecord {
  return {
    id: (version.order === undefined ? version.versionId : undefined) ?? newId(version.modified, context.random),
    ...version,
    size: 0,
    etag: '',
    headers: { metadata: {} },
    body: { kind: 'none' },
    deleteMarker: true,
  };
}
