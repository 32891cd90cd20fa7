import { randomBytes } from 'node:crypto';
import {
  removeQueuedBlobs,
  removeTieredBodies,
} from '../../../server/objects/garbage-collection/garbage-collection.ts';
import type { ObjectLayerOptions } from '../../../server/objects/objects.ts';
import { blobsUnavailable, type BlobStore } from '../../../server/store/blob-store.ts';
import { MemoryBlobStore } from '../../../server/store/memory/blob-store.ts';
import { newTierNumber } from '../../../server/store/tiered-id.ts';
import { TieredBlobs } from '../../../server/tiering/tiered-blobs.ts';
import { tierRounds } from '../../../server/maintenance/tiers/tier-rounds.ts';
import { MemoryRecordStore } from '../../../server/store/memory/record-store.ts';
import { testLayer } from './test-layer.ts';

/** An object layer with the tiers `COLD`, which can be away, full or removed, and `FAR`, on the memory engines. */
export function tieredLayer(options: Partial<Omit<ObjectLayerOptions, 'records' | 'blobs'>> = {}) {
  const time = { now: 1_000_000 };
  const tier = { name: 'COLD', number: newTierNumber(randomBytes) };
  const farTier = { name: 'FAR', number: newTierNumber(randomBytes) };
  const own = new MemoryBlobStore();
  const cold = new MemoryBlobStore();
  const far = new MemoryBlobStore();
  const state = { away: false, full: false, removed: false };
  let refused = 0;
  const fullStore: BlobStore = {
    write() {
      refused += 1;
      return Promise.reject(blobsUnavailable('full', 'the tier is full'));
    },
    read: cold.read.bind(cold),
    remove: cold.remove.bind(cold),
    list: cold.list.bind(cold),
    space: cold.space.bind(cold),
  };
  const blobs: BlobStore = new TieredBlobs(own, {
    storeOf: (number) => {
      if (number === farTier.number) return Promise.resolve(far);
      if (state.full) return Promise.resolve(fullStore);
      return state.away ? Promise.reject(blobsUnavailable('unreachable', 'the tier is away')) : Promise.resolve(cold);
    },
  });
  const records = new MemoryRecordStore();
  const test = testLayer({
    clock: () => time.now,
    lifecycleDayMs: 1_000,
    tiers: {
      find: (name) => Promise.resolve([farTier, ...(state.removed ? [] : [tier])].find((known) => known.name === name)),
    },
    ...options,
    records,
    // The double of the engine is all that the layer needs.
    blobs: blobs as unknown as MemoryBlobStore,
  });
  const warnings: object[] = [];
  const round = tierRounds({
    log: { warn: (fields) => void warnings.push(fields) },
    clock: () => time.now,
    random: randomBytes,
  });
  const collect = async () => {
    const sweep = { records, blobs, now: time.now, delay: 0 };
    const { removed } = await removeQueuedBlobs(sweep);
    const ofTiers = await removeTieredBodies({
      ...sweep,
      tierNames: () => Promise.resolve(new Map([[tier.number, tier.name]])),
      onAway: (_tier, error) => void warnings.push(error),
    });
    return { removed, fromTiers: ofTiers.removed };
  };
  return {
    ...test,
    time,
    tier,
    own,
    cold,
    far,
    state,
    warnings,
    /** The count of bodies that `COLD` refused since it was full. */
    refused: () => refused,
    collect,
    work: () => round({ records, objects: test.layer, signal: new AbortController().signal }),
    /** Moves the body of a version to the tier, whatever the rules say. */
    move: (key: string, versionId = 'null') =>
      test.layer.transitionObject({ bucket: 'bucket', key, versionId, tier: 'COLD', isDue: () => true }),
  };
}

/** The count of blobs in a store. */
export async function countOf(blobs: BlobStore): Promise<number> {
  return (await Array.fromAsync(blobs.list())).length;
}
