import { describe, expect, it } from 'vitest';
import { countOf, tieredLayer } from '../../../test/support/objects/tiered-layer.ts';
import { body, put, randomBody, readAll, rename } from '../../../test/support/objects/test-layer.ts';
import { commitId } from '../../../test/support/store/patient.ts';
import type { BlobStore } from '../../store/blob-store.ts';
import { recordKeys } from '../records/record-format.ts';
import { verifyStores } from '../../maintenance/verify/verify-stores.ts';
import { allEncryptions, uploadParts } from '../../../test/support/objects/tiered-bodies.ts';

const MIB = 1024 * 1024;

async function withBucket(options: Parameters<typeof tieredLayer>[0] = {}) {
  const test = tieredLayer(options);
  await test.layer.createBucket('bucket', { location: '' });
  return test;
}

/** Replaces the bytes of the only blob of a store. */
async function replaceBlob(store: BlobStore, bytes: Buffer) {
  const [blob] = await Array.fromAsync(store.list());
  if (blob === undefined) throw new Error('there is no blob');
  await store.remove(blob.id);
  await store.write(
    blob.id,
    (async function* () {
      yield bytes;
    })(),
  );
}

describe('a body that moves to a tier', () => {
  it.each([
    ['small', 11, allEncryptions],
    ['of one blob', MIB + 7, allEncryptions],
    // The sums of more than 64 blocks are a record of their own.
    ['of many blocks', 17 * MIB + 1, [undefined]],
  ])('is read from there: %s', async (_, size, encryptions) => {
    for (const encryption of encryptions) {
      const { layer, move, cold, own, collect, time } = await withBucket();
      const bytes = randomBody(size);
      const info = await layer.putObject(put('bucket', 'key', bytes, { encryption, tags: { k: 'v' } }));
      expect(await move('key')).toBe(true);
      time.now += 120_000;
      await collect();
      expect([await countOf(own), await countOf(cold)]).toEqual([0, 1]);
      expect((await body(layer, 'bucket', 'key')).equals(bytes)).toBe(true);
      const { info: after, read } = await layer.getObject('bucket', 'key');
      expect(after).toEqual({ ...info, storageClass: 'COLD' });
      expect((await readAll(read({ start: 3, end: size - 2 }))).equals(bytes.subarray(3, size - 2))).toBe(true);
    }
  });

  it('keeps its parts', async () => {
    for (const encryption of allEncryptions) {
      const { layer, move, cold } = await withBucket();
      const bytes = await uploadParts(layer, 'bucket', 'key', [5 * MIB, 5 * MIB, 100], encryption);
      const before = await layer.headObject('bucket', 'key', { parts: { after: 0, limit: 10 } });
      expect(await move('key')).toBe(true);
      expect(await countOf(cold)).toBe(3);
      expect(await layer.headObject('bucket', 'key', { parts: { after: 0, limit: 10 } })).toEqual({
        ...before,
        storageClass: 'COLD',
      });
      const { read } = await layer.getObject('bucket', 'key');
      const [start, end] = [5 * MIB - 2, 10 * MIB + 3];
      expect((await readAll(read({ start, end }))).equals(bytes.subarray(start, end))).toBe(true);
    }
  });

  it('moves once, and neither where it is empty nor to a tier that is not there', async () => {
    const { layer, move } = await withBucket();
    await layer.putObject(put('bucket', 'key', 'text'));
    await layer.putObject(put('bucket', 'empty', ''));
    const request = { bucket: 'bucket', key: 'key', versionId: 'null', isDue: () => true };
    expect(await layer.transitionObject({ ...request, tier: 'OTHER' })).toBe(false);
    expect(await layer.transitionObject({ ...request, tier: 'COLD', isDue: () => false })).toBe(false);
    expect([await move('key'), await move('key'), await move('empty'), await move('absent')]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('moves once where two ask for it at the same time', async () => {
    const { layer, move, cold } = await withBucket();
    await layer.putObject(put('bucket', 'key', 'text'));
    expect(await Promise.all([move('key'), move('key')])).toEqual([true, true]);
    expect(await countOf(cold)).toBe(1);
  });

  it('leaves the tier when its version is removed or replaced, once the tier answers', async () => {
    const { layer, move, cold, collect, state, time, warnings } = await withBucket();
    for (const key of ['removed', 'replaced', 'kept']) {
      await layer.putObject(put('bucket', key, randomBody(200_000)));
      await move(key);
    }
    await layer.deleteObject('bucket', 'removed');
    await layer.putObject(put('bucket', 'replaced', 'new'));
    state.away = true;
    time.now += 120_000;
    await collect();
    expect(warnings).toHaveLength(1);
    state.away = false;
    expect((await collect()).fromTiers).toBe(2);
    expect(await countOf(cold)).toBe(1);
    expect((await body(layer, 'bucket', 'kept')).length).toBe(200_000);
  });

  it('leaves nothing in the tier where the move is interrupted or too late', async () => {
    const { layer, cold, collect, time } = await withBucket();
    await layer.putObject(put('bucket', 'key', randomBody(200_000)));
    const request = { bucket: 'bucket', key: 'key', versionId: 'null', tier: 'COLD' };
    let asked = 0;
    // The rule is asked again by the commit, which comes after the bytes.
    expect(await layer.transitionObject({ ...request, isDue: () => (asked += 1) === 1 })).toBe(false);
    expect(await countOf(cold)).toBe(1);
    time.now += 120_000;
    await collect();
    expect(await countOf(cold)).toBe(0);
    expect((await layer.headObject('bucket', 'key')).storageClass).toBeUndefined();
  });

  it('stays here while the tier is away', async () => {
    const { layer, move, state, collect, time } = await withBucket();
    await layer.putObject(put('bucket', 'key', 'text'));
    state.away = true;
    await expect(move('key')).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    time.now += 120_000;
    await collect();
    expect(String(await body(layer, 'bucket', 'key'))).toBe('text');
  });

  it('is not served while the tier is away, nor where its bytes were changed there', async () => {
    const { layer, move, state, cold } = await withBucket();
    await layer.putObject(put('bucket', 'key', randomBody(200_000)));
    await move('key');
    state.away = true;
    await expect(body(layer, 'bucket', 'key')).rejects.toThrow('the tier is away');
    expect((await layer.headObject('bucket', 'key')).storageClass).toBe('COLD');
    state.away = false;
    await replaceBlob(cold, randomBody(200_000));
    await expect(body(layer, 'bucket', 'key')).rejects.toThrow('are damaged');
  });

  it('moves with its version, whatever becomes of the key, and a lock does not hinder it', async () => {
    const { layer, move, cold } = await withBucket();
    await layer.putBucketVersioning('bucket', { status: 'Enabled' });
    await layer.putObjectLockConfiguration('bucket', {});
    const { versionId = '' } = await layer.putObject(put('bucket', 'key', 'old text', { lock: { legalHold: true } }));
    expect(await move('key', versionId)).toBe(true);
    await layer.putObject(put('bucket', 'key', 'new text'));
    await layer.deleteObject('bucket', 'key');
    expect(String(await body(layer, 'bucket', 'key', versionId))).toBe('old text');
    await expect(layer.deleteObject('bucket', 'key', { versionId })).rejects.toMatchObject({ code: 'AccessDenied' });
    expect(await countOf(cold)).toBe(1);
  });

  it('comes back by a copy, which is in no tier', async () => {
    const { layer, move } = await withBucket();
    await layer.putObject(put('bucket', 'key', 'text'));
    await move('key');
    const source = { bucket: 'bucket', key: 'key' };
    await layer.copyObject({ source, bucket: 'bucket', key: 'copy' });
    await layer.copyObject({ source, bucket: 'bucket', key: 'key', storageClass: 'STANDARD' });
    for (const key of ['key', 'copy']) {
      expect((await layer.headObject('bucket', key)).storageClass).toBeUndefined();
      expect(String(await body(layer, 'bucket', key))).toBe('text');
    }
  });

  it('stays there with the metadata that another server sends', async () => {
    const { layer, move } = await withBucket();
    await layer.putBucketVersioning('bucket', { status: 'Enabled' });
    const { versionId = '' } = await layer.putObject(put('bucket', 'key', 'text'));
    await move('key', versionId);
    const headers = { metadata: { colour: 'red' } };
    await layer.putReplicaAttributes({
      bucket: 'bucket',
      key: 'key',
      versionId,
      headers,
      tags: {},
      lock: undefined,
      modified: new Date(8.64e15),
      may: { tags: true, retention: true, bypassGovernance: true, legalHold: true },
    });
    expect(await layer.headObject('bucket', 'key')).toMatchObject({
      storageClass: 'COLD',
      metadata: { colour: 'red' },
    });
    expect(String(await body(layer, 'bucket', 'key'))).toBe('text');
  });

  it('is here again when its keys are changed by writing it anew', async () => {
    const { layer, move, own, cold, collect, time } = await withBucket();
    const bytes = randomBody(200_000);
    await layer.putObject(put('bucket', 'key', bytes, { encryption: { scheme: 'SSE-KMS' } }));
    await move('key');
    expect(await layer.rewriteBody({ bucket: 'bucket', key: 'key', keyName: 'default-key' })).toBe(true);
    time.now += 120_000;
    await collect();
    expect([await countOf(own), await countOf(cold)]).toEqual([1, 0]);
    expect((await layer.headObject('bucket', 'key')).storageClass).toBeUndefined();
    expect((await body(layer, 'bucket', 'key')).equals(bytes)).toBe(true);
  });

  it('is listed with its tier as storage class, and renamed without being read', async () => {
    const { layer, move, state } = await withBucket();
    await layer.putObject(put('bucket', 'key', 'text'));
    await move('key');
    state.away = true;
    await layer.renameObject(rename('bucket', 'key', 'other'));
    state.away = false;
    const { objects } = await layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 10 });
    expect(objects).toMatchObject([{ key: 'other', storageClass: 'COLD' }]);
    expect(String(await body(layer, 'bucket', 'other'))).toBe('text');
  });

  it('is no issue of a verification, whether it was restored or not', async () => {
    const { layer, move, records, collect, time, work, ...test } = await withBucket();
    await layer.putObject(put('bucket', 'one', randomBody(17 * MIB)));
    await layer.putObject(put('bucket', 'two', 'text'));
    await uploadParts(layer, 'bucket', 'parts', [5 * MIB, 10], undefined);
    for (const key of ['one', 'two', 'parts']) await move(key);
    await layer.requestRestore({ bucket: 'bucket', key: 'one', days: 1 });
    await layer.requestRestore({ bucket: 'bucket', key: 'parts', days: 1 });
    await work();
    time.now += 120_000;
    await collect();
    test.state.away = true;
    const issues = await Array.fromAsync(
      verifyStores({ records, blobs: test.own, now: time.now, bodies: true, concurrency: 2 }),
    );
    expect(issues).toEqual([]);
  });
});

describe('a body in a tier that is restored', () => {
  it('is read from its copy, which ends at midnight after the days', async () => {
    for (const encryption of allEncryptions) {
      const { layer, move, own, cold, state, work, collect, time } = await withBucket();
      const bytes = randomBody(200_000);
      await layer.putObject(put('bucket', 'key', bytes, { encryption }));
      await move('key');
      time.now += 120_000;
      await collect();
      const request = { bucket: 'bucket', key: 'key', days: 2 };
      expect(await layer.requestRestore(request)).toBe('asked');
      expect(await layer.headObject('bucket', 'key')).toMatchObject({ restore: { ongoing: true } });
      await expect(layer.requestRestore(request)).rejects.toMatchObject({ code: 'RestoreAlreadyInProgress' });
      await work();
      const until = new Date(Math.floor(time.now / 1_000) * 1_000 + 3_000);
      const shown = { restore: { ongoing: false, until }, storageClass: 'COLD' };
      expect(await layer.headObject('bucket', 'key')).toMatchObject(shown);
      const page = { bucket: 'bucket', prefix: '', delimiter: '', limit: 10, details: true };
      const [listed] = (await layer.listObjects({ ...page, after: '' })).objects;
      const [version] = (await layer.listObjectVersions({ ...page, keyMarker: '' })).versions;
      expect([listed?.details?.restore, version?.details?.restore]).toEqual([shown.restore, shown.restore]);
      state.away = true;
      expect((await body(layer, 'bucket', 'key')).equals(bytes)).toBe(true);
      state.away = false;
      time.now += 1_000;
      expect(await layer.requestRestore(request)).toBe('renewed');
      time.now = until.getTime();
      await work();
      expect((await layer.headObject('bucket', 'key')).restore).toBeDefined();
      time.now += 1_000;
      await work();
      expect((await layer.headObject('bucket', 'key')).restore).toBeUndefined();
      await collect();
      expect([await countOf(own), await countOf(cold)]).toEqual([0, 1]);
      expect((await body(layer, 'bucket', 'key')).equals(bytes)).toBe(true);
    }
  });

  it('keeps its lock and its tags, also those that a client sets meanwhile', async () => {
    const { layer, move, work, time } = await withBucket();
    await layer.putBucketVersioning('bucket', { status: 'Enabled' });
    await layer.putObjectLockConfiguration('bucket', {});
    const retention = { mode: 'COMPLIANCE', until: new Date(time.now + 1e9) } as const;
    const { versionId = '' } = await layer.putObject(
      put('bucket', 'key', randomBody(200_000), { lock: { retention } }),
    );
    await move('key', versionId);
    await layer.requestRestore({ bucket: 'bucket', key: 'key', versionId, days: 1 });
    await layer.putObjectLegalHold('bucket', 'key', { versionId, legalHold: true });
    await work();
    await layer.putObjectTags('bucket', 'key', { k: 'v' }, versionId);
    time.now += 10_000;
    await work();
    const after = await layer.headObject('bucket', 'key', { versionId });
    expect(after).toMatchObject({ lock: { retention, legalHold: true }, tags: { k: 'v' } });
    expect(after.restore).toBeUndefined();
    const removal = layer.deleteObject('bucket', 'key', { versionId, bypassGovernance: true });
    await expect(removal).rejects.toMatchObject({ code: 'AccessDenied' });
  });

  it('is refused for a body that is in no tier', async () => {
    const { layer } = await withBucket();
    await layer.putObject(put('bucket', 'key', 'text'));
    await expect(layer.requestRestore({ bucket: 'bucket', key: 'key', days: 1 })).rejects.toMatchObject({
      code: 'InvalidObjectState',
    });
  });

  it('waits while the tier is away', async () => {
    const { layer, move, state, work, time, warnings } = await withBucket();
    await uploadParts(layer, 'bucket', 'key', [5 * MIB, 10], undefined);
    await move('key');
    await layer.requestRestore({ bucket: 'bucket', key: 'key', days: 1 });
    state.away = true;
    await work();
    expect(warnings).toHaveLength(1);
    expect(await layer.headObject('bucket', 'key')).toMatchObject({ restore: { ongoing: true } });
    state.away = false;
    time.now += 10_000;
    await work();
    expect(await layer.headObject('bucket', 'key')).toMatchObject({ restore: { ongoing: false } });
  });

  it('can be asked for again where its tier was removed, or its bytes are damaged there', async () => {
    const { layer, move, work, state, cold, warnings, time } = await withBucket();
    await layer.putObject(put('bucket', 'key', randomBody(MIB)));
    await move('key');
    const ask = () => layer.requestRestore({ bucket: 'bucket', key: 'key', days: 1 });
    expect(await ask()).toBe('asked');
    state.removed = true;
    await work();
    expect((await layer.headObject('bucket', 'key')).restore).toBeUndefined();
    state.removed = false;
    expect(await ask()).toBe('asked');
    await replaceBlob(cold, randomBody(MIB));
    time.now += 1;
    await work();
    expect(warnings).toHaveLength(1);
    expect((await layer.headObject('bucket', 'key')).restore).toBeUndefined();
    expect(await ask()).toBe('asked');
  });

  it('goes with its object, copy and all', async () => {
    const { layer, move, work, own, cold, collect, time } = await withBucket();
    await uploadParts(layer, 'bucket', 'key', [5 * MIB, 10], undefined);
    await move('key');
    await layer.requestRestore({ bucket: 'bucket', key: 'key', days: 1 });
    await work();
    await layer.deleteObject('bucket', 'key');
    time.now += 120_000;
    await work();
    await collect();
    expect([await countOf(own), await countOf(cold)]).toEqual([0, 0]);
  });
});

describe('a rule that moves objects at once', () => {
  const rule = { id: 'rule', enabled: true, filter: { prefix: 'logs/' }, transition: { days: 0, tier: 'COLD' } };
  const atOnce = (prefix: string, tier: string) => ({
    ...rule,
    id: prefix,
    filter: { prefix },
    transition: { days: 0, tier },
  });

  it('moves each new object of its filter, put or uploaded in parts', async () => {
    const { layer, work } = await withBucket();
    await layer.putBucketLifecycle('bucket', [rule]);
    await layer.putObject(put('bucket', 'logs/a', 'text'));
    await layer.putObject(put('bucket', 'other', 'text'));
    await uploadParts(layer, 'bucket', 'logs/parts', [5 * MIB, 10], undefined);
    await work();
    const classes = await Promise.all(
      ['logs/a', 'other', 'logs/parts'].map(async (key) => (await layer.headObject('bucket', key)).storageClass),
    );
    expect(classes).toEqual(['COLD', undefined, 'COLD']);
  });

  it('moves objects to one tier while another one is away', async () => {
    const { layer, work, state, cold, far, time } = await withBucket();
    await layer.putBucketLifecycle('bucket', [atOnce('a', 'COLD'), atOnce('b', 'FAR')]);
    state.away = true;
    for (const key of ['a1', 'a2', 'a3', 'a4', 'a5', 'b']) await layer.putObject(put('bucket', key, 'text'));
    await work();
    expect([await countOf(cold), await countOf(far)]).toEqual([0, 1]);
    state.away = false;
    time.now += 5_000;
    await work();
    expect([await countOf(cold), await countOf(far)]).toEqual([5, 1]);
  });

  it('moves objects where an entry of another queue cannot be read', async () => {
    const { layer, records, work, cold, warnings } = await withBucket();
    await layer.putBucketLifecycle('bucket', [rule]);
    await layer.putObject(put('bucket', 'logs/key', 'text'));
    const key = recordKeys.restored(Buffer.alloc(16));
    await records.commit({ id: commitId(), put: [{ key, value: Buffer.from('damaged') }] });
    await work();
    expect(await countOf(cold)).toBe(1);
    expect(warnings).toHaveLength(1);
    expect(await records.get(key)).toBeUndefined();
  });

  it('sends few bodies to a full tier, keeps them here, and moves them when it has room', async () => {
    const { layer, work, state, cold, time, warnings, refused } = await withBucket();
    await layer.putBucketLifecycle('bucket', [{ ...rule, filter: {} }]);
    const keys = Array.from({ length: 20 }, (_, at) => `key-${at}`);
    for (const key of keys) await layer.putObject(put('bucket', key, `text of ${key}`));
    state.full = true;
    await work();
    expect(refused()).toBeLessThanOrEqual(4);
    expect(warnings).toMatchObject([{ tier: 'COLD', err: { message: 'the tier is full' } }]);
    expect(String(await body(layer, 'bucket', 'key-19'))).toBe('text of key-19');
    state.full = false;
    time.now += 10_000;
    await work();
    expect(await countOf(cold)).toBe(20);
    expect(String(await body(layer, 'bucket', 'key-19'))).toBe('text of key-19');
  });

  it('is refused where there is no such tier', async () => {
    const { layer } = await withBucket();
    const other = { ...rule, transition: { days: 0, tier: 'OTHER' } };
    await expect(layer.putBucketLifecycle('bucket', [other])).rejects.toMatchObject({ code: 'InvalidStorageClass' });
  });
});
