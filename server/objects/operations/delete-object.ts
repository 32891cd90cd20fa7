import { comparable } from '../encryption/digests.ts';
import type { ObjectContext } from '../context/context.ts';
import { countBytes } from '../quota/count-bytes.ts';
import type { DeletedObject, DeleteOptions, ExpireObject, ExpiringVersion } from '../contract/object-layer.ts';
import { type BucketRecord, getBucket, guardBucket, isObserved } from '../records/bucket-record.ts';
import { encodeObject, type ObjectRecord } from '../records/object-record.ts';
import { recordKeys } from '../records/record-format.ts';
import { indexKeyOf } from '../records/version-place.ts';
import { type RuledEvent, ruledEvent, unlessCurrent } from '../records/object-event.ts';
import { type Change, commitChange } from '../commit/commit-change.ts';
import { placeReplica } from '../replication/place-replica.ts';
import {
  queueReplication,
  replicaState,
  type ReplicatedRecord,
  replicateNew,
} from '../replication/queue-replication.ts';
import { checkRemovable, isLocked } from '../versions/object-lock.ts';
import { checkReplicated } from '../replication/replication-targets.ts';
import { deleteMarker, replaceVersion } from '../versions/replace-version.ts';
import { endOtherUploads, type EndedUploads, noUploads, onlyEndUploads } from '../replication/end-other-uploads.ts';
import type { BatchChanges } from '../records/blob-claims.ts';
import { removeObject } from '../versions/remove-object.ts';
import type { PlannedQueues } from '../context/event-hub.ts';
import { checkDeleteConditions } from '../versions/preconditions.ts';
import { checkIdentity, findVersion, type FoundVersion, shownVersionId } from '../versions/find-version.ts';
import { newVersion, type Place, readPlace, removedBytes } from '../versions/place.ts';
import { joined } from '../versions/move-object.ts';
import { promoteNewest } from '../versions/promote-newest.ts';

/**
 * Deletes an object or a version, or adds a delete marker, also below the reserve of free space. The commit expects the records that the
 * conditions were checked against: after a concurrent change it reads and checks again.
 */
export async function deleteObject(
  context: ObjectContext,
  bucket: string,
  key: string,
  options: DeleteOptions = {},
): Promise<DeletedObject> {
  const { versionId } = options;
  // Deleting what is absent succeeds.
  const absent = { ...(versionId !== undefined && { versionId }), deleteMarker: false };
  return (await remove(context, { ...options, bucket, key })) ?? absent;
}

/** See `ObjectLayer.expireObject`. The rule is asked again with the records that the commit expects. */
export async function expireObject(
  context: ObjectContext,
  bucket: string,
  key: string,
  { versionId, isDue }: ExpireObject,
): Promise<boolean> {
  return (await remove(context, { bucket, key, versionId, isDue })) !== undefined;
}

interface AskedRemoval extends DeleteOptions {
  readonly bucket: string;
  readonly key: string;
  /** Of a lifecycle rule, which is asked again. */
  readonly isDue?: ExpireObject['isDue'];
}

/** Resolves with undefined where nothing is removed: it is absent, or `isDue` refuses it. */
function remove(context: ObjectContext, removal: AskedRemoval): Promise<DeletedObject | undefined> {
  const { versionId } = removal;
  return commitChange<DeletedObject | undefined>(context, (events) =>
    versionId === undefined
      ? deleteCurrent(context, events, removal)
      : removeVersion(context, events, { ...removal, versionId }),
  );
}

function expiring(
  { size, modified, tags = {} }: ObjectRecord,
  place: ExpiringVersion['place'],
  isLone = false,
): ExpiringVersion {
  return { place, isLone, size, modified, tags };
}

async function deleteCurrent(
  context: ObjectContext,
  events: PlannedQueues,
  { bucket, key, conditions, by, onlyId, replica, isDue }: AskedRemoval,
): Promise<Change<DeletedObject | undefined>> {
  const place = await readPlace(context, bucket, key);
  const { current, history, stored } = place;
  if (isDue !== undefined && (current === undefined || !isDue(expiring(current.record, 'current')))) {
    return { result: undefined };
  }
  checkIdentity(current?.record, onlyId);
  checkDeleteConditions(conditions, await comparable(context, bucket, current?.record, conditions), key);
  // A bucket that becomes versioned at this moment keeps the object.
  const { expect } = guardBucket(bucket, stored);
  const removal = { bucket, key, stored: stored.record, by, expires: isDue !== undefined };
  if (history === 'none') {
    if (current === undefined) return { result: undefined };
    checkRemovable(current.record, context.lockClock.earliest(), false);
    const removed = await removeObject(context, place, current, undefined);
    const batch = { ...removed, expect: [...expect, ...removed.expect] };
    return {
      batch: await countBytes(context, place, stored, -current.record.size, batch),
      result: { deleteMarker: false },
      event: removalEvent(context, removal),
    };
  }
  const arrived = replica?.marker && (await placeReplica(context, place, replica.marker, undefined));
  if (arrived?.kind === 'there') return { result: { versionId: shownVersionId(arrived.record), deleteMarker: true } };
  const made = deleteMarker(context, arrived?.version ?? newVersion(context, place));
  const { record: marker, queued } = replicatedMarker(context, events, place, made, {
    isReplica: arrived !== undefined,
    expires: isDue !== undefined,
  });
  const changes = arrived?.changes ?? (await replaceVersion(context, place, undefined));
  const order = arrived?.order;
  const markerKey = order === undefined ? recordKeys.marker(bucket, key) : recordKeys.version(bucket, key, order);
  const put = [{ key: markerKey, value: encodeObject(marker) }, ...queued];
  const batch = joined(changes, { ...guardBucket(bucket, stored), delete: [] }, { expect: [], put, delete: [] });
  return {
    batch: await countBytes(context, place, stored, -(arrived?.removedBytes ?? removedBytes(place)), batch),
    result: { versionId: shownVersionId(marker), deleteMarker: true },
    event: removalEvent(context, {
      ...removal,
      versionId: shownVersionId(marker),
      adds: true,
      ...unlessCurrent(order),
    }),
  };
}

/** As in S3, what lifecycle rules do is not replicated: the other bucket has its own rules. */
function replicatedMarker(
  context: ObjectContext,
  events: PlannedQueues,
  place: Place,
  record: ObjectRecord,
  { isReplica, expires }: { readonly isReplica: boolean; readonly expires: boolean },
): ReplicatedRecord {
  if (isReplica) return { record: { ...record, replication: replicaState(undefined) }, queued: [] };
  return expires ? { record, queued: [] } : replicateNew(context, events, place, record);
}

async function removeVersion(
  context: ObjectContext,
  events: PlannedQueues,
  {
    bucket,
    key,
    versionId,
    conditions,
    bypassGovernance,
    by,
    onlyId,
    replica,
    isDue,
  }: AskedRemoval & {
    readonly versionId: string;
  },
): Promise<Change<DeletedObject | undefined>> {
  const found = await findVersion(context, bucket, key, versionId);
  const stored = await getBucket(context.records, bucket);
  const record = found?.stored.record;
  checkIdentity(record, onlyId);
  checkDeleteConditions(conditions, await comparable(context, bucket, record, conditions), key);
  if (found === undefined || record === undefined || isOtherNull(record, replica))
    return endUploadsOf(context, { bucket, key, stored }, versionId, replica);
  const hasHistory = found.at !== 'noncurrent' && stored.record.versioning !== undefined;
  const promoted = hasHistory ? await promoteNewest(context, bucket, key) : undefined;
  if (isDue?.(expiring(record, found.at, promoted?.put.length === 0)) === false) return { result: undefined };
  const now = context.lockClock.earliest();
  checkRemovable(record, now, bypassGovernance === true);
  if (isDue !== undefined) checkReplicated(stored.record, record);
  const uploads = await uploadsOf(context, { bucket, key, stored }, record, replica);
  const removed = joined(await removalOf(context, bucket, key, found), uploads.changes);
  const guard = guardBucket(bucket, stored);
  const queued =
    replica !== undefined || isDue !== undefined || stored.record.replication === undefined
      ? []
      : queueReplication(context, events, {
          bucket,
          key,
          stored: stored.record,
          change: 'removal',
          record,
          bypassedGovernance: isLocked(record, now),
        }).put;
  const batch =
    promoted === undefined
      ? { ...removed, put: [...removed.put, ...queued], expect: [...guard.expect, ...removed.expect] }
      : // A promoted version moves to another table: a deletion of the bucket that looks at one after the other must not miss it.
        {
          ...joined({ ...guard, put: [...guard.put, ...queued], delete: [] }, removed, promoted),
          add: promoted.add ?? [],
        };
  return {
    batch: await countBytes(context, { bucket, key }, stored, -record.size - uploads.bytes, batch),
    leftUploads: uploads.left,
    result: { versionId, deleteMarker: record.deleteMarker === true },
    event: removalEvent(context, {
      bucket,
      key,
      stored: stored.record,
      versionId,
      by,
      expires: isDue !== undefined,
      marker: found.at === 'marker',
      ...unlessCurrent(found.order),
      ...(promoted?.promoted && {
        current: { versionId: shownVersionId(promoted.promoted), record: promoted.promoted },
      }),
    }),
  };
}

/** Ends the uploads of a version that another server has removed before it was sent whole: it was stopped or killed meanwhile. */
async function endUploadsOf(
  context: ObjectContext,
  place: Parameters<typeof endOtherUploads>[1],
  versionId: string,
  replica: DeleteOptions['replica'],
): Promise<Change<undefined>> {
  if (replica === undefined) return { result: undefined };
  return onlyEndUploads(context, place, { versionId, modified: replica.modified?.getTime() ?? Number.NaN });
}

/** A version of this server has no uploads of others. */
async function uploadsOf(
  context: ObjectContext,
  place: Parameters<typeof endOtherUploads>[1],
  record: ObjectRecord,
  replica: DeleteOptions['replica'],
): Promise<EndedUploads> {
  if (replica === undefined && record.replication?.status !== 'REPLICA') return noUploads;
  return endOtherUploads(context, place, { versionId: shownVersionId(record), modified: record.modified });
}

/**
 * The other server has removed a null version of another time: this one was not there. A MinIO says when it removed the version, so that any older
 * replica may be the one that it means.
 */
function isOtherNull({ versionId, modified, replication }: ObjectRecord, replica: DeleteOptions['replica']): boolean {
  if (versionId !== undefined) return false;
  if (replica?.modified !== undefined) return replica.modified.getTime() !== modified;
  const removedAt = replica?.removedAt?.getTime();
  if (removedAt === undefined || removedAt === modified) return false;
  return replication?.status !== 'REPLICA' || removedAt < modified;
}

interface Removal {
  readonly bucket: string;
  readonly key: string;
  readonly stored: BucketRecord;
  readonly versionId?: string;
  readonly by: DeleteOptions['by'];
  /** A lifecycle rule removes it. */
  readonly expires: boolean;
  /** A delete marker is added. */
  readonly adds?: boolean;
  /** The current delete marker is removed. */
  readonly marker?: boolean;
  readonly current?: Parameters<typeof ruledEvent>[1]['current'];
}

/** AWS names expirations and deletions differently. MinIO does not, but for delete markers. */
function removalEvent(
  context: ObjectContext,
  { expires, adds = false, marker = false, ...of }: Removal,
): RuledEvent | undefined {
  if (!isObserved(context, of.stored)) return undefined;
  const what = adds ? 'DeleteMarkerCreated' : 'Delete';
  const expired = marker ? 's3:LifecycleDelMarkerExpiration:Delete' : `s3:LifecycleExpiration:${what}`;
  const removed = `s3:ObjectRemoved:${what}`;
  return ruledEvent(context, { ...of, names: expires ? [expired, removed] : [removed] });
}

async function removalOf(
  context: ObjectContext,
  bucket: string,
  key: string,
  { at, order, stored }: FoundVersion,
): Promise<BatchChanges> {
  if (stored.record.deleteMarker !== true) return removeObject(context, { bucket, key, order }, stored, undefined);
  const recordKey =
    at === 'marker' || order === undefined ? recordKeys.marker(bucket, key) : recordKeys.version(bucket, key, order);
  const indexKey = indexKeyOf(bucket, key, stored.record);
  return {
    expect: [{ kind: 'revision', key: recordKey, revision: stored.revision }],
    put: [],
    delete: indexKey === undefined ? [recordKey] : [recordKey, indexKey],
  };
}
