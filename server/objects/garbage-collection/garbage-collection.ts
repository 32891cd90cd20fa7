import { commitOnce } from '../../store/commits.ts';
import { within, decodeKey } from '../../store/keys.ts';
import { type Entry, type RecordStore, type Key, scanPages } from '../../store/record-store.ts';
import { tierOf, type TierNumber } from '../../store/tiered-id.ts';
import { mapLimit } from '../../../platform/async/concurrency.ts';
import { decodeRecord, encodeRecord, recordKeys } from '../records/record-format.ts';
import { ORPHAN_GRACE_PERIOD } from './orphan-grace-period.ts';
import { randomBytes } from 'node:crypto';
import type { BlobId, BlobStore, SegmentId } from '../../store/blob-store.ts';
import { partsOf } from '../records/upload-record.ts';
import { isPacked, placeOf } from '../../store/packed-id.ts';
import { countGarbage } from './segment-garbage.ts';
import { readUnpromoted } from '../../store/promotion.ts';
import { type StoreError, isStoreUnavailable } from '../../store/store-error.ts';
import { queueRemoval } from '../records/blob-claims.ts';

/**
 * The lifetime of a hold in milliseconds, after which a hold of a dead process ends. It is longer than the clocks of servers may
 * differ.
 */
const HOLD_LIFETIME = 30 * 60_000;
const RENEW_INTERVAL = 60_000;

/**
 * Keeps garbage collection from removing blobs, so that every blob that a record refers to from now on stays. A collection in progress
 * continues: it removes only blobs that nothing referred to when it began.
 */
export async function holdGarbageCollection(
  records: RecordStore,
  { clock, random }: { readonly clock: () => number; readonly random: (size: number) => Buffer },
): Promise<{ release(): Promise<void> }> {
  const key = recordKeys.hold(random(16).toString('hex'));
  const renew = () =>
    commitOnce(records, { put: [{ key, value: encodeRecord({ until: clock() + HOLD_LIFETIME }) }] }, random);
  await renew();
  // The next renewal makes up for a failed one.
  const timer = setInterval(() => void renew().catch(() => undefined), RENEW_INTERVAL).unref();
  return {
    async release() {
      clearInterval(timer);
      await commitOnce(records, { delete: [key] }, random);
    },
  };
}

/** Reports if a hold is active, or the store must be promoted first: another store may need what this one would remove. */
export async function isGarbageCollectionHeld(records: RecordStore, now: number): Promise<boolean> {
  if ((await readUnpromoted(records)) !== undefined) return true;
  for await (const item of records.scan(within('hold'))) {
    if (item.kind !== 'entry') continue;
    const { until } = decodeRecord(item.value, 'a hold on removals') as { until: number };
    if (until > now) return true;
  }
  return false;
}

/** The dependencies of garbage collection. Times are milliseconds since 1970. */
interface GarbageCollectionOptions {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  readonly now: number;
  readonly random?: (size: number) => Buffer;
}

/** Milliseconds. Readers that read an object's record just before it was replaced still find its blob. */
export const REMOVAL_DELAY = 60_000;
/** Milliseconds. No writer is alive this long after its blob was abandoned. */
const TOMBSTONE_LIFETIME = 7 * 24 * 3_600_000;
const COMMIT_SIZE = 500;
/** Removals from tiers at a time. */
const TIER_REMOVALS = 8;

/**
 * Removes the blobs in the removal queue that are older than `delay` milliseconds, and the leftover parts of uploads that ended. It can
 * be interrupted and repeated at any point.
 */
export async function removeQueuedBlobs(
  options: GarbageCollectionOptions & { readonly delay?: number },
): Promise<{ removed: number }> {
  const { records, blobs, now, random = randomBytes, delay = REMOVAL_DELAY } = options;
  if (await isGarbageCollectionHeld(records, now)) return { removed: 0 };
  await queueLeftoverParts(options);
  let removed = 0;
  let done: Key[] = [];
  let packed: BlobId[] = [];
  const forget = async () => {
    const [keys, bodies] = [done, packed];
    done = [];
    packed = [];
    if (keys.length === 0) return;
    for (let outcome; outcome?.kind !== 'committed';) {
      // A store without segments has no garbage in them.
      const counted = blobs.segments === undefined ? {} : await countGarbage(records, bodies);
      outcome = await commitOnce(records, { ...counted, delete: keys }, random);
    }
  };
  const isInSegment = segmentCheck(blobs);
  for await (const item of records.scan(within('x'))) {
    if (item.kind !== 'entry') continue;
    const { queued } = decodeRecord(item.value, 'a removal') as { queued: number };
    if (queued + delay > now) continue;
    const blob = blobOf(item.key);
    if (!(await isInSegment(blob))) await blobs.remove(blob);
    if (isPacked(blob)) packed.push(blob);
    removed += 1;
    if (done.push(item.key, recordKeys.blockSums(blob)) >= COMMIT_SIZE) await forget();
  }
  await forget();
  return { removed };
}

/** Returns a function that reports if a body is in a segment, and so no file to remove. It looks for each segment once. */
export function segmentCheck({ segments }: BlobStore): (blob: BlobId) => Promise<boolean> {
  const known = new Map<SegmentId, Promise<boolean>>();
  return async (blob) => {
    const segment = placeOf(blob)?.segment;
    if (segment === undefined || segments === undefined) return false;
    const found = known.get(segment) ?? segments.has(segment);
    known.set(segment, found);
    return found;
  };
}

/**
 * Removes the bodies in tiers that are queued for removal longer than `delay` milliseconds. A tier that does not answer keeps its queue, and
 * does not hinder the others. Bodies in a tier that was removed by force are forgotten.
 */
export async function removeTieredBodies(
  options: GarbageCollectionOptions & {
    readonly delay?: number;
    /** Called when a tier does not answer: it may have been removed. */
    readonly tierNames: () => Promise<ReadonlyMap<TierNumber, string>>;
    readonly onAway: (tier: string, error: StoreError) => void;
  },
): Promise<{ removed: number }> {
  const { records, blobs, now, random = randomBytes, delay = REMOVAL_DELAY, tierNames, onAway } = options;
  if (await isGarbageCollectionHeld(records, now)) return { removed: 0 };
  const away = new Set<TierNumber>();
  let removed = 0;
  const removeOne = async ({ key, value, revision }: Entry): Promise<void> => {
    const { queued } = decodeRecord(value, 'a removal from a tier') as { queued: number };
    const blob = blobOf(key);
    const tier = tierOf(blob);
    if (queued + delay > now || tier === undefined || away.has(tier)) return;
    try {
      await blobs.remove(blob);
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
      const name = (await tierNames()).get(tier);
      if (name !== undefined) {
        if (!away.has(tier)) onAway(name, error);
        away.add(tier);
        return;
      }
    }
    const expect = [{ kind: 'revision' as const, key, revision }];
    await commitOnce(records, { expect, delete: [key, recordKeys.blockSums(blob)] }, random);
    removed += 1;
  };
  for await (const page of scanPages(records, within('tier-removal'))) {
    const due = page.flatMap((item) => (item.kind === 'entry' ? [item] : []));
    await mapLimit(due, TIER_REMOVALS, removeOne);
  }
  return { removed };
}

/** Queues the parts of uploads that were aborted, or completed without them. The record of the upload is gone, so that no part is added. */
async function queueLeftoverParts({ records, now, random = randomBytes }: GarbageCollectionOptions): Promise<void> {
  for await (const item of records.scan(within('q'))) {
    if (item.kind !== 'entry') continue;
    const uploadId = String(decodeKey(item.key)[1]);
    for (;;) {
      const parts = await Array.fromAsync(partsOf(records, uploadId, { limit: COMMIT_SIZE }));
      const removal = queueRemoval(
        parts.map((part) => part.record.blob),
        now,
      );
      const last = parts.length < COMMIT_SIZE;
      const gone = [
        ...parts.map((part) => part.key),
        ...removal.delete,
        ...(last ? [item.key, recordKeys.partCommits(uploadId)] : []),
      ];
      await commitOnce(records, { put: removal.put, delete: gone }, random);
      if (last) break;
    }
  }
}

/**
 * Removes blobs that have had no owner for `grace` milliseconds: uploads that broke off. A tombstone is written first, so that the
 * commit of a slow writer fails instead of referring to a blob that is gone. The blob stays as long again: its age says nothing about how
 * long these records have not known it. Records of a week ago know none of the bodies since, which are those of objects.
 */
export async function removeOrphanBlobs(
  options: GarbageCollectionOptions & { readonly grace?: number },
): Promise<{ removed: number }> {
  const { records, blobs, now, random = randomBytes, grace = ORPHAN_GRACE_PERIOD } = options;
  if (await isGarbageCollectionHeld(records, now)) return { removed: 0 };
  let removed = 0;
  for await (const { id, ageMs } of blobs.list()) {
    if (ageMs < grace) continue;
    const abandoned = await abandonBlob(records, id, now, random);
    if (abandoned === undefined || now - abandoned < grace) continue;
    await blobs.remove(id);
    removed += 1;
  }
  await forgetTombstones(records, now, random);
  return { removed };
}

/** Writes a tombstone, or finds that of an earlier round. Returns its time; undefined where the blob has an owner or is queued for removal. */
async function abandonBlob(
  records: RecordStore,
  blob: BlobId,
  now: number,
  random: (size: number) => Buffer,
): Promise<number | undefined> {
  const [owner, removal, tombstone] = [recordKeys.owner(blob), recordKeys.removal(blob), recordKeys.tombstone(blob)];
  const [owned, queued, found] = await records.getAll([owner, removal, tombstone]);
  if (owned !== undefined || queued !== undefined) return undefined;
  if (found !== undefined)
    return (decodeRecord(found.value, `the tombstone of blob ${blob}`) as { given: number }).given;
  const outcome = await commitOnce(
    records,
    {
      expect: [owner, removal, tombstone].map((key) => ({ kind: 'absent', key })),
      put: [{ key: tombstone, value: encodeRecord({ given: now }) }],
    },
    random,
  );
  return outcome.kind === 'committed' ? now : undefined;
}

async function forgetTombstones(records: RecordStore, now: number, random: (size: number) => Buffer): Promise<void> {
  let old: Key[] = [];
  for await (const item of records.scan(within('t'))) {
    if (item.kind !== 'entry') continue;
    const { given } = decodeRecord(item.value, 'a tombstone') as { given: number };
    if (given + TOMBSTONE_LIFETIME <= now) old.push(item.key);
    if (old.length < COMMIT_SIZE) continue;
    await commitOnce(records, { delete: old }, random);
    old = [];
  }
  if (old.length > 0) await commitOnce(records, { delete: old }, random);
}

function blobOf(key: Key): BlobId {
  return String(decodeKey(key)[1]) as BlobId;
}
