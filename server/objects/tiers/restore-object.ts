import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { BlobId } from '../../store/blob-store.ts';
import { tierOf } from '../../store/tiered-id.ts';
import { requirePromoted } from '../../store/promotion.ts';
import type { Entry, Key } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import { type RuledEvent, ruledEvent, unlessCurrent } from '../records/object-event.ts';
import { uniquePart } from '../events/outbox.ts';
import { dueAfter } from '../lifecycle/evaluate.ts';
import type { RestoreObject } from '../contract/object-layer.ts';
import { commitChange } from '../commit/commit-change.ts';
import { isDamage } from '../records/damage.ts';
import { getBucket, isObserved } from '../records/bucket-record.ts';
import { encodeObject, isTiered, type ObjectRecord, type Restore } from '../records/object-record.ts';
import { encodeRecord, recordKeys, type VersionOrder } from '../records/record-format.ts';
import { newCopyId, restoredBlob } from '../records/restored-copy.ts';
import { copyStream, storedStreams } from './stored-streams.ts';
import { type QueuedVersion, queuedVersion } from './queued-version.ts';
import type { BatchChanges } from '../records/blob-claims.ts';
import { claimBlob, discardBlob, ownerOf, queueRemoval } from '../records/blob-claims.ts';
import { objectRecordKey, type VersionPlace } from '../records/version-place.ts';
import { blobsOfObject } from '../versions/remove-object.ts';
import { refuseDamaged } from '../versions/refuse-damaged.ts';
import { checkIdentity, findVersion, readVersionRecord, shownVersionId } from '../versions/find-version.ts';

/**
 * Asks for a temporary copy of a body that is in a tier, for a count of days. Resolves with `renewed` where the copy is there: then its end
 * is moved. Throws `InvalidObjectState` for a body that is in no tier, and `RestoreAlreadyInProgress`.
 */
export async function requestRestore(context: ObjectContext, request: RestoreObject): Promise<'asked' | 'renewed'> {
  await requirePromoted(context.records);
  const { bucket, key, versionId, onlyId, days } = request;
  return commitChange<'asked' | 'renewed'>(context, async () => {
    const { stored, order } = await readVersionRecord(context, bucket, key, versionId);
    const { record } = stored;
    checkIdentity(record, onlyId);
    refuseDamaged({ bucket, key, ...(record.damage && { damage: record.damage }) });
    if (!isTiered(record)) throw new S3Error('InvalidObjectState');
    if (record.restore?.kind === 'ongoing') throw new S3Error('RestoreAlreadyInProgress');
    const version: QueuedVersion = { bucket, key, versionId: shownVersionId(record), tier: tierNameOf(record) };
    const now = context.clock();
    const place = { bucket, key, order };
    const before = { revision: stored.revision, place };
    if (record.restore === undefined) {
      const queued = {
        key: recordKeys.askedRestore(uniquePart({ time: now, bucket }, context.random)),
        value: encodeRecord(version),
      };
      const restore: Restore = { kind: 'ongoing', days, asked: now };
      const event = await restoreEvent(context, version, record, { name: 'Post', order, by: request.by });
      return { ...changed(before, { ...record, restore }, [queued]), result: 'asked', event };
    }
    const until = dueAfter(now, days, context.lifecycleDayMs);
    const restore: Restore = { ...record.restore, until };
    return { ...changed(before, { ...record, restore }, [queuedEnd(context, until, version)]), result: 'renewed' };
  });
}

function changed(
  { revision, place }: { readonly revision: number; readonly place: VersionPlace },
  record: ObjectRecord,
  put: BatchChanges['put'],
) {
  const key = objectRecordKey(place);
  return {
    batch: {
      expect: [{ kind: 'revision' as const, key, revision }],
      put: [{ key, value: encodeObject(record) }, ...put],
    },
  };
}

function queuedEnd(context: ObjectContext, until: number, version: QueuedVersion) {
  return {
    key: recordKeys.restored(uniquePart({ time: until, bucket: version.bucket }, context.random)),
    value: encodeRecord(version),
  };
}

/**
 * Copies the body of a queued version out of its tier. Resolves with false where nothing waits for it any more. A restore that cannot
 * succeed, since its body is damaged or its tier was removed, is given up: the client may ask again.
 */
export async function restoreQueued(context: ObjectContext, queued: Entry): Promise<boolean> {
  const version = queuedVersion(queued);
  const { bucket, key, versionId } = version;
  const found = await findVersion(context, bucket, key, versionId);
  const record = found?.stored.record;
  const waits = record?.restore?.kind === 'ongoing' && isTiered(record);
  if (record === undefined || !waits || (await context.tiers.find(tierNameOf(record))) === undefined) {
    await giveUp(context, version, queued.key);
    return false;
  }
  const id = newCopyId(bucket, context.clock(), context.random);
  const written: Written[] = [];
  let kept = false;
  try {
    const streams = await storedStreams(context, { bucket, key, order: found?.order }, record);
    await context.checkSpace(record.size);
    for (const stream of streams?.streams ?? []) {
      if (stream.blob === undefined) continue;
      const blob = restoredBlob(id, stream.blob);
      const copy = { blob, sums: [] as Written['sums'] };
      written.push(copy);
      copy.sums = await copyStream(context, stream, blob, `${bucket}/${key}`);
    }
    kept = await commitRestore(context, version, { queued: queued.key, was: record.id, id, written });
    return kept;
  } catch (error) {
    if (isDamage(error)) await giveUp(context, version, queued.key);
    throw error;
  } finally {
    if (!kept) await Promise.all(written.map(({ blob }) => discardBlob(context, blob)));
  }
}

interface Written {
  readonly blob: BlobId;
  sums: BatchChanges['put'];
}

/** Takes a version off the queue of restores. Its record does not wait any more. */
function giveUp(context: ObjectContext, { bucket, key, versionId }: QueuedVersion, queued: Key): Promise<void> {
  return commitChange(context, async () => {
    const found = await findVersion(context, bucket, key, versionId);
    if (found?.stored.record.restore?.kind !== 'ongoing') return { batch: { delete: [queued] }, result: undefined };
    const { restore: _restore, ...record } = found.stored.record;
    const before = { revision: found.stored.revision, place: { bucket, key, order: found.order } };
    return { batch: { ...changed(before, record, []).batch, delete: [queued] }, result: undefined };
  });
}

interface RestoredCopy {
  readonly queued: Key;
  /** The id of the object. */
  readonly was: string;
  /** The id of the copy. */
  readonly id: string;
  readonly written: readonly Written[];
}

function commitRestore(context: ObjectContext, version: QueuedVersion, copy: RestoredCopy): Promise<boolean> {
  const { bucket, key, versionId } = version;
  return commitChange(context, async () => {
    const found = await findVersion(context, bucket, key, versionId);
    const record = found?.stored.record;
    if (found === undefined || record?.id !== copy.was || record.restore?.kind !== 'ongoing') {
      return { batch: { delete: [copy.queued] }, result: false };
    }
    const until = dueAfter(context.clock(), record.restore.days, context.lifecycleDayMs);
    const restored: ObjectRecord = { ...record, restore: { kind: 'restored', id: copy.id, until } };
    const owner = ownerOf(bucket, key, record);
    const claims = await Promise.all(copy.written.map(({ blob }) => claimBlob(context, { blob }, owner)));
    const place = { bucket, key, order: found.order };
    const { batch } = changed({ revision: found.stored.revision, place }, restored, [
      queuedEnd(context, until, version),
      ...claims.flatMap(({ put }) => put),
      ...copy.written.flatMap(({ sums }) => sums),
    ]);
    return {
      batch: {
        ...batch,
        expect: [...batch.expect, ...claims.flatMap(({ expect }) => expect)],
        delete: [copy.queued],
      },
      result: true,
      event: await restoreEvent(context, version, restored, { name: 'Completed', order: place.order }),
    };
  });
}

/** Removes the restored copy of a queued version if its end has come. The body in the tier stays. */
export function endRestoredCopy(context: ObjectContext, queued: Entry): Promise<boolean> {
  const version = queuedVersion(queued);
  const { bucket, key, versionId } = version;
  return commitChange(context, async () => {
    const found = await findVersion(context, bucket, key, versionId);
    if (found === undefined) return { batch: { delete: [queued.key] }, result: false };
    const { restore, ...record } = found.stored.record;
    if (restore?.kind !== 'restored' || restore.until > context.clock()) {
      return { batch: { delete: [queued.key] }, result: false };
    }
    const place = { bucket, key, order: found.order };
    const blobs = await blobsOfObject(context, place, found.stored.record);
    const removal = queueRemoval(
      blobs.filter((blob) => tierOf(blob) === undefined),
      context.clock(),
    );
    const { batch } = changed({ revision: found.stored.revision, place }, record, removal.put);
    return {
      batch: { ...batch, delete: [queued.key, ...removal.delete], freesSpace: true },
      result: true,
      event: await restoreEvent(context, version, record, { name: 'Delete', order: place.order }),
    };
  });
}

interface RestoreStep {
  readonly name: 'Post' | 'Completed' | 'Delete';
  readonly order: VersionOrder | undefined;
  readonly by?: RestoreObject['by'];
}

/** The events of AWS and MinIO have the same names. */
async function restoreEvent(
  context: ObjectContext,
  { bucket, key, versionId }: QueuedVersion,
  record: ObjectRecord,
  { name, order, by }: RestoreStep,
): Promise<RuledEvent | undefined> {
  const stored = (await getBucket(context.records, bucket)).record;
  if (!isObserved(context, stored)) return undefined;
  const names = [`s3:ObjectRestore:${name}`];
  return ruledEvent(context, { names, bucket, key, stored, versionId, record, ...unlessCurrent(order), by });
}

/** The storage class of a body in a tier is the name of the tier. */
function tierNameOf({ headers }: ObjectRecord): string {
  return headers.storageClass ?? '';
}
