import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { body, put, testLayer, type TestLayer } from '../../../test/support/objects/test-layer.ts';
import { tieredLayer } from '../../../test/support/objects/tiered-layer.ts';
import { backendKeyRecord } from '../../encryption/backend-key.ts';
import { canariesRecord, encodeCanaries } from '../../encryption/key-canaries.ts';
import { sealedKey, sealedRecords } from '../../encryption/sealed-records.ts';
import { recordKeys } from '../../objects/records/record-format.ts';
import type { BlobId, BlobStore } from '../../store/blob-store.ts';
import { commitOnce } from '../../store/commits.ts';
import { decodeDeployment, deploymentKey } from '../../store/deployment.ts';
import { key, within } from '../../store/keys.ts';
import { MemoryBlobStore } from '../../store/memory/blob-store.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { StoreError } from '../../store/store-error.ts';
import { compareRecords } from './copied-records.ts';
import { finishCopy, readCopyState, copyStores } from './copy-stores.ts';
import type { Issue } from '../verify/issue.ts';
import {
  allBlockSums,
  blobOf,
  filledLayer,
  flipped,
  makeOlder,
  readBlob,
  replaceBlob,
  writeRecord,
} from '../../../test/support/maintenance/filled-layer.ts';
import { contentsOf, versionedLayer } from '../../../test/support/maintenance/versioned-layer.ts';
import { quarantine, quarantined } from '../../objects/operations/quarantine.ts';
import { verifyStores } from '../verify/verify-stores.ts';

const deploymentId = '6f0d9a9e-8f3f-4d49-8f0e-0f6f3cf1a111';

interface Stores {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
}

function newStores() {
  return { records: new MemoryRecordStore(), blobs: new MemoryBlobStore() };
}

async function copied(from: Stores, to: Stores, signal?: AbortSignal): Promise<Issue[]> {
  return Array.fromAsync(copyStores({ from, to, deploymentId, concurrency: 3, batch: 10, ...(signal && { signal }) }));
}

/** What differs, and what is wrong in the copy by itself. */
async function complaints(from: Stores, to: Stores): Promise<unknown[]> {
  return [
    ...(await Array.fromAsync(compareRecords(from.records, to.records))),
    ...(await Array.fromAsync(verifyStores({ ...to, now: Date.now(), bodies: true, graceMs: 0 }))),
  ];
}

const ann = sealedKey('iam', 'user', 'ann');

async function source(): Promise<TestLayer> {
  const test = await filledLayer();
  for (let index = 0; index < 30; index += 1) {
    await test.layer.putObject(put('bucket', `many/${index}`, randomBytes(index * 10)));
  }
  const sealed = sealedRecords({ records: test.records, keys: test.keys });
  await sealed.start({ turnOn: true });
  await sealed.put(ann, Buffer.from('{}'));
  await writeRecord(test, canariesRecord('default-key'), encodeCanaries([]));
  return test;
}

describe('copyStores', () => {
  it('makes a copy in which nothing differs and nothing is wrong', async () => {
    const from = await source();
    const to = newStores();
    expect(await copied(from, to)).toEqual([]);
    expect(await complaints(from, to)).toEqual([]);
    const { layer } = testLayer({ ...to, keys: from.keys });
    for (const name of ['small', 'small-sealed', 'large', 'large-sealed', 'parts', 'empty']) {
      expect((await body(layer, 'bucket', name)).equals(await body(from.layer, 'bucket', name)), name).toBe(true);
    }
  });

  it('has the block sums of objects, parts and uploads, and of older bodies those that are known', async () => {
    const from = await source();
    await makeOlder(from, 'large');
    await makeOlder(from, 'replaced');
    await body(from.layer, 'bucket', 'large');
    const kept = await allBlockSums(from.records);
    // Two parts, one of the upload, and the body that was read.
    expect(kept.size).toBe(4);
    await writeRecord(from, recordKeys.blockSums('0'.repeat(32) as BlobId), Buffer.from('of a blob that went'));
    const to = newStores();
    expect(await copied(from, to)).toEqual([]);
    expect(await allBlockSums(to.records)).toEqual(kept);
    expect(await complaints(from, to)).toEqual([]);
    const { layer } = testLayer({ ...to, keys: from.keys });
    expect((await body(layer, 'bucket', 'replaced')).equals(await body(from.layer, 'bucket', 'replaced'))).toBe(true);
    expect((await allBlockSums(to.records)).size).toBe(5);
  });

  it('has every version and delete marker in its order, with body, tags and lock, however it was interrupted', async () => {
    const from = await versionedLayer();
    await from.layer.putObject(put('bucket', 'unreadable', randomBytes(10)));
    const damage = { found: 1, what: 'a test' };
    const place = { bucket: 'bucket', key: 'unreadable' };
    const entry = await from.records.get(recordKeys.object('bucket', 'unreadable'));
    if (entry !== undefined) await quarantine(from.records, place, entry, damage, randomBytes);
    await from.layer.deleteObject('bucket', 'unreadable');
    const found = await Array.fromAsync(quarantined(from.records));
    const seen = [{ ...place, ...damage, versionId: expect.any(String), order: expect.any(Buffer) }];
    expect(found).toEqual(seen);
    const counted = breaking(newStores(), Infinity);
    await Array.fromAsync(copyStores({ from, to: counted.stores, deploymentId, batch: 3 }));
    for (let step = 2; step <= counted.steps(); step += 3) {
      const to = newStores();
      const broken = Array.fromAsync(copyStores({ from, to: breaking(to, step).stores, deploymentId, batch: 3 }));
      await expect(broken, `step ${step}`).rejects.toThrow('power cut');
      const after = { ...to, blobs: to.blobs.crash() };
      expect(await copied(from, after)).toEqual([]);
      const isQuarantined = expect.objectContaining({ kind: 'quarantined-object', key: 'unreadable' }) as unknown;
      expect(await complaints(from, after), `step ${step}`).toEqual([isQuarantined]);
      expect(await Array.fromAsync(quarantined(to.records))).toEqual(found);
    }
    await from.layer.deleteObject('bucket', 'unreadable', { versionId: found[0]?.versionId });
    const to = newStores();
    await copied(from, to);
    expect(await contentsOf(testLayer({ ...to, keys: from.keys }))).toEqual(await contentsOf(from));
  });

  it('leaves bodies in their tier, and takes their records and removals along', async () => {
    const { layer, records, own, move } = tieredLayer();
    await layer.createBucket('bucket', { location: '' });
    for (const objectKey of ['small', 'large', 'removed']) {
      await layer.putObject(put('bucket', objectKey, randomBytes(objectKey === 'large' ? 300_000 : 5)));
      await move(objectKey);
    }
    await layer.deleteObject('bucket', 'removed');
    const from = { records, blobs: own };
    const to = newStores();
    expect(await copied(from, to)).toEqual([]);
    expect(await complaints(from, to)).toEqual([]);
    expect(await Array.fromAsync(to.blobs.list())).toEqual([]);
    const queued = await Array.fromAsync(to.records.scan(within('tier-removal')));
    expect(queued).toHaveLength(1);
  });

  it('leaves behind what belongs to a place', async () => {
    const from = await source();
    await writeRecord(from, key('live', 'replica', 'a'), Buffer.from('x'));
    await writeRecord(from, key('system', 'read-only'), Buffer.from('x'));
    const to = newStores();
    await copied(from, to);
    for (const left of [key('live', 'replica', 'a'), key('system', 'read-only')]) {
      expect(await to.records.get(left)).toBeUndefined();
    }
  });

  it('leaves its mark until it is removed', async () => {
    const to = newStores();
    await copied(await source(), to);
    expect(await readCopyState(to.records)).toMatchObject({ deploymentId, phase: 'done' });
    await finishCopy(to.records, deploymentId, randomBytes);
    expect(await readCopyState(to.records)).toBeUndefined();
    const said = await to.records.get(deploymentKey);
    expect(said && decodeDeployment(said.value, 'here')).toEqual({ format: 1, deploymentId, marked: true });
  });

  it('interrupted before any step of the target and resumed, is the same', { timeout: 360_000 }, async () => {
    const from = await source();
    const whole = newStores();
    const counted = breaking(whole, Infinity);
    await copied(from, counted.stores);
    expect(counted.steps()).toBeGreaterThan(10);
    for (let step = 1; step <= counted.steps(); step += 1) {
      const to = newStores();
      await expect(copied(from, breaking(to, step).stores), `step ${step}`).rejects.toThrow('power cut');
      expect(await copied(from, { ...to, blobs: to.blobs.crash() })).toEqual([]);
      expect(await Array.fromAsync(compareRecords(from.records, to.records)), `step ${step}`).toEqual([]);
    }
  });

  it('goes on after each of its interruptions without copying all again', async () => {
    const from = await source();
    const to = newStores();
    let rounds = 0;
    for (let done = false; !done; rounds += 1) {
      const broken = breaking(to, 6);
      done = await copied(from, broken.stores).then(
        () => true,
        () => false,
      );
      expect(rounds).toBeLessThan(60);
    }
    expect(rounds).toBeGreaterThan(2);
    expect(await complaints(from, to)).toEqual([]);
  });

  it('tells that the target is full, which is no defect', async () => {
    const from = await source();
    const to = newStores();
    const error = new StoreError('full', 'no space is left for blobs', { store: 'blobs' });
    const failing = copied(from, { ...to, blobs: Object.assign(to.blobs, { write: () => Promise.reject(error) }) });
    await expect(failing).rejects.toMatchObject({ name: 'StoreError', code: 'full', store: 'blobs' });
  });

  it('stops when it is told to', async () => {
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    await expect(copied(await source(), newStores(), stop.signal)).rejects.toThrow('stopped');
  });

  it('tells what is damaged or missing at the source, and copies the rest', async () => {
    const from = await source();
    const blob = await blobOf(from, 'large');
    await replaceBlob(from, blob, flipped(await readBlob(from, blob), 5));
    await from.blobs.remove(await blobOf(from, 'replaced'));
    const to = newStores();
    expect(await copied(from, to)).toMatchObject([
      { kind: 'damaged-body', key: 'large' },
      { kind: 'missing-body', key: 'replaced' },
    ]);
    expect(await complaints(from, to)).toMatchObject([
      { kind: 'damaged-body', key: 'large' },
      { kind: 'missing-body', key: 'replaced' },
    ]);
  });
});

describe('compareRecords', () => {
  it('finds what was changed, added and removed at the source since', async () => {
    const from = await source();
    const to = newStores();
    await copied(from, to);
    await writeRecord(from, ann, Buffer.from('other'));
    await from.layer.putObject(put('bucket', 'new', 'x'));
    await commitOnce(from.records, { delete: [backendKeyRecord] }, randomBytes);
    const found = await Array.fromAsync(compareRecords(from.records, to.records));
    expect(found).toContainEqual(expect.stringMatching(/"ann".*was changed/));
    expect(found).toContainEqual(expect.stringMatching(/\["o","bucket","new"\] is not in the copy/));
    expect(found).toContainEqual(expect.stringMatching(/"backend".*not in the source/));
  });
});

/** Stores whose power goes before the given step: commits and blobs that are written. */
function breaking(stores: Stores, at: number): { readonly stores: Stores; steps(): number } {
  let step = 0;
  const count = () => {
    step += 1;
    if (step >= at) throw new Error('power cut');
  };
  const records = Object.create(stores.records, {
    commit: { value: async (batch: never) => (count(), stores.records.commit(batch)) },
  }) as RecordStore;
  for (const name of ['get', 'getAll', 'scan', 'outcome'] as const) {
    Object.defineProperty(records, name, { value: (stores.records[name] as () => unknown).bind(stores.records) });
  }
  const blobs = {
    write: async (id: never, chunks: AsyncIterable<Buffer>) => (count(), stores.blobs.write(id, chunks)),
    read: (id: never, range: never) => stores.blobs.read(id, range),
    remove: (id: never) => stores.blobs.remove(id),
    list: () => stores.blobs.list(),
    space: () => stores.blobs.space(),
  };
  return { stores: { records, blobs }, steps: () => step };
}
