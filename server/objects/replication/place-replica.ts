import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectContext } from '../context.ts';
import type { Replica } from '../object-layer.ts';
import type { BucketRecord } from '../records/bucket-record.ts';
import type { Body, ObjectRecord, StoredObject } from '../records/object-record.ts';
import { type VersionOrder, versionOrder } from '../records/record-format.ts';
import { checkRemovable } from '../attributes/object-lock.ts';
import { type BatchChanges, removeObject } from '../operations/commit-change.ts';
import {
  findVersion,
  joined,
  type NewVersion,
  NULL_VERSION,
  type Place,
  type PlacedVersion,
  replaceVersion,
} from '../operations/versions.ts';
import { recordKeys } from '../records/record-format.ts';

/** The place of a version of another server. */
export type ReplicaPlace =
  /** The version is there already, or a newer null version is. */
  { readonly kind: 'there'; readonly record: ObjectRecord } | PlacedVersion;

/**
 * Finds the place of a version of another server among the versions of its key: versions have the same order on both sides, whatever the
 * order in which they arrive. `by` is the kind of its body; a delete marker has none. Throws `InvalidRequest` where the key has no versions.
 */
export async function placeReplica(
  context: ObjectContext,
  place: Place,
  { versionId, modified: date }: Pick<Replica, 'versionId' | 'modified'>,
  by: Exclude<Body['kind'], 'none'> | undefined,
): Promise<ReplicaPlace> {
  const { bucket, key, current, marker, stored } = place;
  checkReceives(stored.record, place);
  const modified = date.getTime();
  const isNull = versionId === NULL_VERSION;
  if (!isNull) checkOwnId(versionId, modified);
  const found = await findVersion(context, bucket, key, versionId);
  const there = found?.stored;
  if (there !== undefined && (!isNull || there.record.modified >= modified))
    return { kind: 'there', record: there.record };
  const version = isNull ? { modified } : { modified, versionId };
  const latest = (current ?? marker)?.record;
  const removedBytes = there?.record.size ?? 0;
  if (latest === undefined || isNewer(version, latest)) {
    const nullVersion = found?.at === 'noncurrent' ? there : undefined;
    const changes = await replaceVersion(
      context,
      isNull ? { ...place, history: 'null-version', nullVersion } : place,
      by,
    );
    return { kind: 'new', version, order: undefined, changes, removedBytes };
  }
  const order = versionOrder(isNull ? undefined : versionId);
  return {
    kind: 'new',
    version,
    order,
    changes: joined(await replaceNoncurrent(context, place, order, there, by), expectCurrent(place)),
    removedBytes,
  };
}

function checkReceives({ versioning }: BucketRecord, { bucket, history }: Place): void {
  if (versioning?.status === 'Enabled' && history === 'versions') return;
  throw new S3Error(
    'InvalidRequest',
    `The bucket ${bucket.slice(0, 64)} keeps no versions of this key: enable versioning before another server replicates into it.`,
  );
}

/** The ids of this server begin with the time of the version, and sort by it. */
function checkOwnId(versionId: string, modified: number): void {
  if (Number.parseInt(versionId.slice(0, 12), 16) === modified) return;
  throw new S3Error(
    'NotImplemented',
    'A replica whose version id does not begin with its time is not implemented: only versions of Coffer servers are taken.',
  );
}

/** Times grow along the versions of a key; of two versions of one millisecond the ids decide, as in listings. */
export function isNewer(
  { modified, versionId = '' }: NewVersion,
  than: Pick<ObjectRecord, 'modified' | 'versionId'>,
): boolean {
  if (modified !== than.modified) return modified > than.modified;
  return versionId > (than.versionId ?? '');
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
