import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { changesAfter } from '../records/attribute-changes.ts';
import type { ObjectContext } from '../context/context.ts';
import type { Replica } from '../contract/object-layer.ts';
import type { BucketRecord } from '../records/bucket-record.ts';
import type { Body, ObjectRecord, StoredObject } from '../records/object-record.ts';
import { encodeVersionIndex, type VersionOrder, versionOrder } from '../records/record-format.ts';
import { indexKeyOf, orderOf, partOf } from '../records/version-place.ts';
import { isOrder, millisecondsOf, orderAfter, orderOfId } from '../records/version-order.ts';
import { checkRemovable } from '../versions/object-lock.ts';
import { type PlacedVersion, replaceVersion } from '../versions/replace-version.ts';
import { recordKeys } from '../records/record-format.ts';
import { checkNotRemoved } from './waiting-removal.ts';
import type { BatchChanges } from '../records/blob-claims.ts';
import { removeObject } from '../versions/remove-object.ts';
import { lookUpVersion, NULL_VERSION } from '../versions/find-version.ts';
import type { NewVersion, Place } from '../versions/place.ts';
import { joined } from '../versions/move-object.ts';

/** The place of a version of another server. */
export type ReplicaPlace =
  /** The version is there already. */
  { readonly kind: 'there'; readonly record: ObjectRecord } | PlacedVersion;

/**
 * Finds the place of a version of another server among the versions of its key: versions have the same order on both sides, whatever the
 * order in which they arrive. `by` is the kind of its body; a delete marker has none. Throws `InvalidRequest` where the key has no versions, and
 * `OperationAborted` for a null version that may not replace the one that is here, and for a version whose removal waits.
 */
export async function placeReplica(
  context: ObjectContext,
  place: Place,
  replica: ArrivingVersion,
  by: Exclude<Body['kind'], 'none'> | undefined,
): Promise<ReplicaPlace> {
  const { bucket, key, current, marker, stored } = place;
  const { versionId } = replica;
  checkReceives(stored.record, place);
  const isNull = versionId === NULL_VERSION;
  const found = await lookUpVersion(context, bucket, key, versionId);
  const there = found?.stored;
  let version = await versionOf(context, replica);
  if (there !== undefined && (!isNull || orderOf(there.record) === orderOf(version)))
    return { kind: 'there', record: there.record };
  if (there !== undefined) checkReplaceable(there.record, version, key);
  await checkNotRemoved(context, { bucket, key, stored: stored.record }, replica);
  if (!isNull) version = await withFreeOrder(context, place, version);
  if (version.order !== undefined) await requireOrders(context);
  const latest = (current ?? marker)?.record;
  const removedBytes = there?.record.size ?? 0;
  if (latest === undefined || isNewer(version, latest)) {
    const nullVersion = found?.at === 'noncurrent' ? there : undefined;
    const changes = await replaceVersion(
      context,
      isNull ? { ...place, history: 'null-version', nullVersion } : place,
      by,
    );
    return { kind: 'new', version, order: undefined, changes: joined(changes, putIndex(place, version)), removedBytes };
  }
  const order = partOf(version);
  return {
    kind: 'new',
    version,
    order,
    changes: joined(
      await replaceNoncurrent(context, place, order, there, by),
      expectCurrent(place),
      putIndex(place, version),
    ),
    removedBytes,
  };
}

type ArrivingVersion = Pick<Replica, 'versionId' | 'modified' | 'order' | 'changes'>;

/** Returns what the record of the version says. */
async function versionOf(
  { written }: ObjectContext,
  { versionId, modified: date, order, changes: times }: ArrivingVersion,
): Promise<NewVersion> {
  const modified = date.getTime();
  const changes = times === undefined ? undefined : changesAfter(modified, times);
  const more = changes !== undefined && (await written.isNewest()) ? { changes } : {};
  if (versionId === NULL_VERSION) return { modified, ...(order !== undefined && { order }), ...more };
  if (isOrder(versionId) && millisecondsOf(versionId) === modified) return { modified, versionId, ...more };
  return { modified, versionId, order: order ?? orderOfId(versionId, modified), ...more };
}

/** Throws `ServiceUnavailable` until all servers of the deployment can read a version whose order is not its id. */
async function requireOrders({ written }: ObjectContext): Promise<void> {
  if (await written.isNewest()) return;
  throw new S3Error(
    'ServiceUnavailable',
    'A version with an id of another server is taken once all servers of this deployment can read it: an older one still runs, or SVC_STORAGE_FORMAT=3 is set.',
  );
}

/** Another version may have the same order, by chance or because the time of both is coarse. The later arrival comes after it. */
async function withFreeOrder(context: ObjectContext, place: Place, version: NewVersion): Promise<NewVersion> {
  const { bucket, key, current, marker } = place;
  const latest = (current ?? marker)?.record;
  for (let order = orderOf(version); ; order = orderAfter(order)) {
    const isTaken =
      (latest !== undefined && orderOf(latest) === order) ||
      (await context.records.get(recordKeys.version(bucket, key, versionOrder(order)))) !== undefined;
    if (!isTaken) return order === orderOf(version) ? version : { ...version, order };
  }
}

/** Returns the change that lets the version be found by an id that is not its order. */
function putIndex({ bucket, key }: Place, version: NewVersion): BatchChanges {
  const indexKey = indexKeyOf(bucket, key, version);
  if (indexKey === undefined) return { expect: [], put: [], delete: [] };
  return {
    expect: [{ kind: 'absent', key: indexKey }],
    put: [
      { key: indexKey, value: encodeVersionIndex({ order: orderOf(version), versionId: version.versionId ?? '' }) },
    ],
    delete: [],
  };
}

function checkReceives({ versioning }: BucketRecord, { bucket, history }: Place): void {
  if (versioning?.status === 'Enabled' && history === 'versions') return;
  throw new S3Error(
    'InvalidRequest',
    `The bucket ${bucket.slice(0, 64)} keeps no versions of this key: enable versioning before another server replicates into it.`,
  );
}

/**
 * Two null versions of different times are different versions with one id. A replica replaces only an older replica: the server that sends it
 * does not know of what the clients of this server have written.
 */
function checkReplaceable(there: ObjectRecord, arriving: NewVersion, key: string): void {
  const isReplica = there.replication?.status === 'REPLICA';
  if (isReplica && isNewer(arriving, there)) return;
  const whose = isReplica ? 'a newer one' : 'one that clients of this server wrote';
  throw new S3Error(
    'OperationAborted',
    `There is another null version of ${key.slice(0, 64)}, ${whose}, of ${new Date(there.modified).toISOString()}: a replica does not replace it. Remove the one that you do not need.`,
  );
}

/** Reports if a version comes after another one in the order of their key. */
export function isNewer(version: NewVersion, than: NewVersion): boolean {
  return orderOf(version) > orderOf(than);
}

async function replaceNoncurrent(
  context: ObjectContext,
  { bucket, key }: Place,
  order: VersionOrder,
  there: StoredObject | undefined,
  by: Body['kind'] | undefined,
): Promise<BatchChanges> {
  if (there !== undefined) checkRemovable(there.record, context.lockClock.earliest(), false);
  return removeObject(context, { bucket, key, order }, there, by);
}

/** The newest version must stay the newest until the commit. */
function expectCurrent({ bucket, key, current, marker }: Place): BatchChanges {
  const [recordKey, stored] =
    current === undefined ? [recordKeys.marker(bucket, key), marker] : [recordKeys.object(bucket, key), current];
  return {
    expect: stored === undefined ? [] : [{ kind: 'revision', key: recordKey, revision: stored.revision }],
    put: [],
    delete: [],
  };
}
