import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { lifecycleRounds } from '../../server/maintenance/lifecycle/lifecycle-rounds.ts';
import { copyStores } from '../../server/maintenance/migrate/copy-stores.ts';
import { unlimited } from '../../server/maintenance/pace.ts';
import { outboxKeys, uniquePart } from '../../server/objects/events/outbox.ts';
import { removeOrphanBlobs, removeQueuedBlobs } from '../../server/objects/garbage-collection/garbage-collection.ts';
import { newBlobId } from '../../server/objects/records/blob-claims.ts';
import { encodeRecord, recordKeys } from '../../server/objects/records/record-format.ts';
import { DeliveredEvents } from '../../server/outbox/delivered-events.ts';
import { fencedRecords } from '../../server/cluster/lease.ts';
import { liveKeys } from '../../server/cluster/server-registry.ts';
import { commitOnce } from '../../server/store/commits.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { key } from '../../server/store/keys.ts';
import { MemoryBlobStore } from '../../server/store/memory/blob-store.ts';
import { MemoryRecordStore } from '../../server/store/memory/record-store.ts';
import { type CrossingName, crossingCommits } from '../../server/store/places.ts';
import type { Key } from '../../server/store/record-store.ts';
import { put, randomBody, testLayer } from '../support/objects/test-layer.ts';
import { SimulatedDisk } from '../support/store/simulated-disk.ts';

const buckets = ['animals', 'plants'];
const now = Date.UTC(2026, 10, 30);
const week = 7 * 24 * 3_600_000;

/** A store with both buckets. Bodies of more than 100 bytes are blobs. */
async function filledStore(options: Parameters<typeof testLayer>[0] = {}) {
  const made = testLayer({ inlineLimit: 100, clock: () => now, ...options });
  for (const bucket of buckets) await made.layer.createBucket(bucket, { location: '' });
  return made;
}

async function putRecords(records: MemoryRecordStore, keys: readonly Key[]): Promise<void> {
  for (const one of keys) await commitOnce(records, { put: [{ key: one, value: encodeRecord({}) }] }, randomBytes);
}

/** What needs each entry of the list, by the functions of the server. Each returns the store that allowed it. */
const needs: Readonly<Record<CrossingName, () => Promise<MemoryRecordStore>>> = {
  async lease() {
    const records = new MemoryRecordStore();
    await putRecords(records, [liveKeys.term('background')]);
    const term = await records.get(liveKeys.term('background'));
    const fence = [{ kind: 'revision' as const, key: liveKeys.term('background'), revision: term?.revision ?? 0 }];
    const hold = { generation: 1, fence, signal: new AbortController().signal };
    await filledStore({ records: fencedRecords(records, hold) as MemoryRecordStore });
    return records;
  },

  async keyUse() {
    const { layer, records } = await filledStore();
    await layer.putObject(put('animals', 'cat', 'text', { encryption: { scheme: 'SSE-KMS' } }));
    return records;
  },

  async segment() {
    const disk = new SimulatedDisk('/data', { now: () => now });
    const blobs = openFilesBlobStore('/data', { fs: disk, now: () => now });
    const { layer, records } = await filledStore({ blobs: blobs as never });
    await layer.putObject(put('animals', 'cat', randomBody(1_000)));
    return records;
  },

  async removals() {
    const { layer, records, blobs } = await filledStore();
    for (const bucket of buckets) {
      await layer.putObject(put(bucket, 'key', randomBody(1_000)));
      await layer.deleteObject(bucket, 'key');
    }
    expect(await removeQueuedBlobs({ records, blobs, now, delay: 0 })).toEqual({ removed: 2 });
    return records;
  },

  async tombstones() {
    const [records, blobs] = [new MemoryRecordStore(), new MemoryBlobStore()];
    for (const bucket of buckets) {
      await blobs.write(newBlobId(bucket, now, randomBytes), (async function* () {})());
    }
    await removeOrphanBlobs({ records, blobs, now, grace: 0 });
    await removeOrphanBlobs({ records, blobs, now: now + week, grace: 0 });
    return records;
  },

  async events() {
    const records = new MemoryRecordStore();
    const keys = buckets.map((bucket) =>
      outboxKeys.event('hook', { bucket, key: 'key' }, uniquePart({ time: now, bucket }, randomBytes)),
    );
    await putRecords(records, keys);
    const delivered = new DeliveredEvents<undefined>({
      commit: async (batch) => (await commitOnce(records, batch, randomBytes)).kind === 'committed',
      isOfEvent: () => false,
    });
    for (const one of keys) delivered.add(one, undefined);
    await delivered.end();
    return records;
  },

  async progress() {
    const { layer, records } = await filledStore();
    await putRecords(records, [key('lifecycle', 'gone'), key('lifecycle', 'also-gone')]);
    const log = { info: () => undefined, warn: () => undefined };
    const round = lifecycleRounds({ dayMs: 1_000, reads: unlimited, removalsPerSecond: Infinity, log });
    await round({ records, objects: layer, signal: new AbortController().signal });
    return records;
  },

  async copy() {
    const from = await filledStore();
    for (const bucket of buckets) await from.layer.putObject(put(bucket, 'key', 'text'));
    const to = { records: new MemoryRecordStore(), blobs: new MemoryBlobStore() };
    await Array.fromAsync(copyStores({ from, to, deploymentId: '6f0d9a9e-8f3f-4d49-8f0e-0f6f3cf1a111' }));
    return to.records;
  },

  /** The upload began before ids had slots. */
  async idsMadeBefore() {
    const { layer, records } = await filledStore({
      records: new MemoryRecordStore({ places: 'with-ids-made-before' }),
    });
    const uploadId = `${now.toString(16).padStart(12, '0')}${'7'.repeat(20)}`;
    const upload = { initiated: now, headers: { metadata: {} } };
    const begun = { key: recordKeys.upload('animals', 'cat', uploadId), value: encodeRecord(upload) };
    await commitOnce(records, { put: [begun] }, randomBytes);
    const { etag } = await layer.putPart({ ...put('animals', 'cat', 'text'), uploadId, partNumber: 1 });
    await layer.completeMultipartUpload({ bucket: 'animals', key: 'cat', uploadId, parts: [{ partNumber: 1, etag }] });
    expect((await layer.headObject('animals', 'cat')).size).toBe(4);
    return records;
  },
};

it.each(Object.entries(needs))('the server still needs the crossing commits "%s"', async (name, use) => {
  expect([...(await use()).crossed]).toEqual([name]);
});

it.each(Object.entries(crossingCommits))('the crossing commits "%s" say how they would be split', (_, { split }) => {
  expect(split).toMatch(/^[A-Z].*[a-z]\.$/);
});
