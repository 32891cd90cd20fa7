import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { body, put, testLayer } from '../../test/support/objects/test-layer.ts';
import { SimulatedDisk } from '../../test/support/store/simulated-disk.ts';
import type { BlobStore } from '../store/blob-store.ts';
import { openFilesBlobStore } from '../store/files/blob-store.ts';
import { decodeKey, within } from '../store/keys.ts';
import { placeOf } from '../store/packed-id.ts';
import { removeQueuedBlobs } from '../objects/garbage-collection/garbage-collection.ts';
import { MemoryBlobStore } from '../store/memory/blob-store.ts';
import { newTierNumber } from '../store/tiered-id.ts';
import { TieredBlobs } from '../tiering/tiered-blobs.ts';
import { packBodies, readPackState } from './pack-bodies.ts';

const DAY = 24 * 3_600_000;
const log = createLogger({ name: 'test', level: 'silent' });

/** A bucket with versions and bodies that an older server stored as files of their own. */
async function olderStore() {
  const clock = { now: Date.now() };
  const disk = new SimulatedDisk('/data', { now: () => clock.now });
  const blobs = openFilesBlobStore('/data', { fs: disk, now: () => clock.now });
  const older: BlobStore = {
    write: (...args) => blobs.write(...args),
    read: (...args) => blobs.read(...args),
    remove: (id) => blobs.remove(id),
    list: () => blobs.list(),
    space: () => blobs.space(),
  };
  const base = testLayer();
  const { records, keys } = base;
  const layerOver = (store: BlobStore) =>
    testLayer({ records, keys, blobs: store as never, inlineLimit: 100, clock: () => clock.now }).layer;
  const [before, layer] = [layerOver(older), layerOver(blobs)];
  await before.createBucket('bucket', { location: '' });
  await before.putBucketVersioning('bucket', { status: 'Enabled' });
  const written: { key: string; versionId: string | undefined; bytes: Buffer }[] = [];
  const write = async (key: string, bytes: Buffer, encryption?: { readonly scheme: 'SSE-S3' }) => {
    const { versionId } = await before.putObject(put('bucket', key, bytes, { ...(encryption && { encryption }) }));
    written.push({ key, versionId, bytes });
  };
  await write('plain', randomBytes(20_000));
  await write('plain', randomBytes(300_000));
  await write('sealed', randomBytes(150_000), { scheme: 'SSE-S3' });
  await write('small', randomBytes(50));
  return {
    clock,
    disk,
    records,
    keys,
    blobs,
    layer,
    write,
    files: async () => (await Array.fromAsync(blobs.list())).length,
    pack: (signal?: AbortSignal) =>
      packBodies({
        records,
        blobs,
        move: (blob, owner) => layer.moveBody(blob, owner),
        log,
        clock: () => clock.now,
        ...(signal && { signal }),
      }),
    async expectAll() {
      for (const { key, versionId, bytes } of written) {
        expect((await body(layer, 'bucket', key, versionId)).equals(bytes), key).toBe(true);
      }
    },
  };
}

it('a body in a tier stays there', async () => {
  const { records, blobs, keys, clock } = await olderStore();
  const [cold, tier] = [new MemoryBlobStore(), { name: 'COLD', number: newTierNumber(randomBytes) }];
  const tiered = new TieredBlobs(blobs, { storeOf: () => Promise.resolve(cold) });
  const { layer } = testLayer({
    records,
    keys,
    blobs: tiered as never,
    tiers: { find: () => Promise.resolve(tier) },
    inlineLimit: 100,
    clock: () => clock.now,
  });
  const { versionId = 'null' } = await layer.headObject('bucket', 'sealed');
  const move = { bucket: 'bucket', key: 'sealed', versionId, tier: 'COLD', isDue: () => true };
  expect(await layer.transitionObject(move)).toBe(true);
  const state = await packBodies({
    records,
    blobs: tiered,
    move: (blob, owner) => layer.moveBody(blob, owner),
    log,
    clock: () => clock.now,
  });
  expect(state).toMatchObject({ moved: 2, failed: 0 });
  expect((await layer.headObject('bucket', 'sealed')).storageClass).toBe('COLD');
  expect((await Array.fromAsync(cold.list())).length).toBe(1);
  const queued = (await Array.fromAsync(records.scan(within('tier-removal')))).filter(({ kind }) => kind === 'entry');
  expect(queued).toEqual([]);
});

describe('bodies that are files of their own', () => {
  it('are moved to segments, also those of noncurrent versions and encrypted ones', async () => {
    const store = await olderStore();
    expect(await store.files()).toBe(3);
    expect(await store.pack()).toMatchObject({ moved: 3, failed: 0 });
    await store.expectAll();
    store.clock.now += 61_000;
    await removeQueuedBlobs({ records: store.records, blobs: store.blobs, now: store.clock.now });
    expect(await store.files()).toBe(0);
    await store.expectAll();
  });

  it('are looked for again a day after a pass', async () => {
    const store = await olderStore();
    await store.pack();
    await store.write('later', randomBytes(20_000));
    expect(await store.pack()).toMatchObject({ moved: 3 });
    store.clock.now += DAY;
    expect(await store.pack()).toMatchObject({ moved: 1 });
    await store.expectAll();
  });

  it('of a copy, with ids of packed bodies, are moved too', async () => {
    const store = await olderStore();
    const bytes = randomBytes(30_000);
    await store.layer.putObject(put('bucket', 'copied', bytes));
    // The copy of a store has the body under its id, and not its segment.
    const [segment] = await Array.fromAsync(store.blobs.segments?.list() ?? []);
    const owned = (await ownersOf(store.records)).find((id) => placeOf(id as never) !== undefined);
    if (segment === undefined || owned === undefined) throw new Error('the body is packed');
    await store.blobs.segments?.remove(segment.segment);
    await store.blobs.write(owned as never, [bytes] as never);
    const fresh = openFilesBlobStore('/data', { fs: store.disk, now: () => store.clock.now });
    const { layer } = testLayer({ records: store.records, blobs: fresh as never, inlineLimit: 100 });
    const move: Parameters<typeof packBodies>[0]['move'] = (blob, owner) => layer.moveBody(blob, owner);
    expect(await packBodies({ records: store.records, blobs: fresh, move, log })).toMatchObject({ moved: 4 });
    expect((await body(layer, 'bucket', 'copied')).equals(bytes)).toBe(true);
    expect((await ownersOf(store.records)).every((id) => placeOf(id as never) !== undefined)).toBe(true);
  });

  it('stay where they cannot be read, and the others move', async () => {
    const store = await olderStore();
    const [damaged] = await Array.fromAsync(store.blobs.list());
    await store.blobs.remove(damaged?.id as never);
    expect(await store.pack()).toMatchObject({ moved: 2, failed: 1 });
  });

  it('go on moving where the last round was interrupted', async () => {
    const store = await olderStore();
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    await expect(store.pack(stop.signal)).rejects.toThrow('stopped');
    expect((await readPackState(store.records))?.finished).toBeUndefined();
    expect(await store.pack()).toMatchObject({ moved: 3 });
  });
});

async function ownersOf(records: ReturnType<typeof testLayer>['records']): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const item of records.scan(within('r')))
    if (item.kind === 'entry') ids.push(String(decodeKey(item.key)[1]));
  return ids;
}
