import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../platform/output/logger.ts';
import type { KeySource } from '../../encryption/key-source.ts';
import { keyServiceKeys } from '../../encryption/key-service-keys.ts';
import { decodeObject } from '../../objects/records/object-record.ts';
import { recordKeys } from '../../objects/records/record-format.ts';
import { body, put, readAll, testLayer, type TestLayer } from '../../../test/support/objects/test-layer.ts';
import { contentsOf } from '../../../test/support/maintenance/versioned-layer.ts';
import { verifyStores } from '../verify/verify-stores.ts';
import { keyUsage } from './key-lifecycle.ts';
import { rewrapRound } from './rewrap.ts';
import { readRewrapState, writeRewrapState, type RewrapState } from './rewrap-state.ts';

const kms = (keyName: string, context?: Record<string, string>) =>
  ({ encryption: { scheme: 'SSE-KMS', keyName, ...(context && { context }) } }) as const;
const log = createLogger({ name: 'test', level: 'silent' });
const large = 'x'.repeat(100_000);

async function prepared() {
  const test = testLayer({ inlineLimit: 1_000 });
  test.keyService.keys.set('old', Buffer.alloc(32, 1)).set('new', Buffer.alloc(32, 2));
  await test.layer.createBucket('bucket', { location: '' });
  const ask = (more: Partial<RewrapState> = {}) =>
    writeRewrapState(
      test.records,
      {
        from: 'old',
        to: 'new',
        mode: 'reseal',
        objectsPerSecond: 100_000,
        started: 1,
        looked: 0,
        done: 0,
        failed: 0,
        ...more,
      },
      randomBytes,
    );
  const round = (
    more: Partial<Pick<Parameters<typeof rewrapRound>[0], 'signal' | 'keys' | 'clock' | 'objects'>> = {},
  ) => rewrapRound({ records: test.records, keys: test.keys, objects: test.layer, log, ...more });
  return { ...test, ask, round };
}

async function versionOf(records: TestLayer['records'], name: string): Promise<string | undefined> {
  const entry = await records.get(recordKeys.object('bucket', name));
  const sealed = entry && decodeObject(entry.value, 'bucket', name).sealed;
  return sealed?.scheme === 'SSE-KMS' ? sealed.keyVersion : undefined;
}

async function blobsOf({ blobs }: TestLayer): Promise<Buffer[]> {
  const found: Buffer[] = [];
  for await (const { id, size } of blobs.list()) found.push(await readAll(blobs.read(id, { start: 0, end: size })));
  return found;
}

async function versioned(names: readonly string[]) {
  const test = await prepared();
  await test.layer.putBucketVersioning('bucket', { status: 'Enabled' });
  for (const name of names) {
    await test.layer.putObject(put('bucket', name, `first of ${name}`, kms('old')));
    await test.layer.putObject(put('bucket', name, `second of ${name}`, kms('old')));
  }
  return test;
}
const versionsOf = async ({ layer }: Pick<TestLayer, 'layer'>, key: string): Promise<readonly string[]> =>
  (
    await layer.listObjectVersions({ bucket: 'bucket', prefix: key, delimiter: '', keyMarker: '', limit: 9 })
  ).versions.map(({ versionId }) => versionId);

describe('a change of keys', () => {
  it('gives every object of the old key the new one, and touches no body, no ETag, no time', async () => {
    const test = await prepared();
    const { layer, ask, round, keyService } = test;
    await layer.putObject(put('bucket', 'small', 'x', kms('old', { a: 'b' })));
    await layer.putObject(put('bucket', 'large', large, kms('old')));
    await layer.putObject(put('bucket', 'other', 'x', { encryption: { scheme: 'SSE-S3' } }));
    await layer.putObject(put('bucket', 'plain', 'x'));
    const upload = { bucket: 'bucket', key: 'parts', headers: { metadata: {} }, ...kms('old') };
    const { uploadId } = await layer.createMultipartUpload(upload);
    const part = await layer.putPart({ ...put('bucket', 'parts', large), uploadId, partNumber: 1 });
    const before = await Promise.all(['small', 'large'].map((key) => layer.headObject('bucket', key)));
    const bodies = await blobsOf(test);

    await ask();
    expect(await round()).toMatchObject({ done: 3, failed: 0, looked: 4, finished: expect.any(Number) });

    expect(await blobsOf(test)).toEqual(bodies);
    // The old key is not needed any more.
    keyService.keys.delete('old');
    const fresh = testLayer({ ...test, inlineLimit: 1_000, keys: test.keys });
    expect(await body(fresh.layer, 'bucket', 'small')).toEqual(Buffer.from('x'));
    expect(await body(fresh.layer, 'bucket', 'large')).toEqual(Buffer.from(large));
    for (const [at, key] of ['small', 'large'].entries()) {
      const { encryption, ...rest } = await layer.headObject('bucket', key);
      const { encryption: was, ...same } = before[at] ?? {};
      expect([rest, encryption]).toEqual([same, { ...was, keyName: 'new' }]);
    }
    const parts = [{ partNumber: 1, etag: part.etag }];
    await layer.completeMultipartUpload({ bucket: 'bucket', key: 'parts', uploadId, parts });
    expect(await body(layer, 'bucket', 'parts')).toEqual(Buffer.from(large));
    expect([...(await keyUsage(test)).keys()].toSorted()).toEqual(['default-key', 'new']);
  });

  describe('with versions', () => {
    it('gives noncurrent versions the new key too, and keeps their ids', async () => {
      const test = await versioned(['a', 'b']);
      await test.layer.deleteObject('bucket', 'b');
      const before = await versionsOf(test, '');
      await test.ask();
      expect(await test.round()).toMatchObject({ done: 4, failed: 0 });
      expect([...(await keyUsage(test)).keys()]).toEqual(['new']);
      expect(await versionsOf(test, '')).toEqual(before);
      test.keyService.keys.delete('old');
      const fresh = testLayer({ ...test, inlineLimit: 1_000, keys: test.keys });
      const [, older] = await versionsOf(test, 'a');
      const { info, read } = await fresh.layer.getObject('bucket', 'a', { versionId: older });
      expect(String(await readAll(read({ start: 0, end: info.size })))).toBe('first of a');
    });

    it.each(['becomes noncurrent', 'becomes current'])('misses no version that %s behind the pass', async (how) => {
      const test = await versioned(['a', 'b', 'c', 'd']);
      await test.ask();
      let unsealed = 0;
      const moving: KeySource = {
        ...test.keys,
        async unseal(sealed, context) {
          unsealed += 1;
          // All of the first table was listed: the pass is at the second object, or at the first noncurrent version.
          if (unsealed === 2 && how === 'becomes noncurrent')
            await test.layer.putObject(put('bucket', 'd', 'x', kms('new')));
          if (unsealed === 4 && how === 'becomes current') {
            const [newest] = await versionsOf(test, 'a');
            await test.layer.deleteObject('bucket', 'a', { versionId: newest });
          }
          return test.keys.unseal(sealed, context);
        },
      };
      expect(await test.round({ keys: moving })).toMatchObject({ failed: 0, finished: expect.any(Number) });
      expect((await keyUsage(test)).has('old')).toBe(false);
    });

    it('goes on between versions where it was stopped', async () => {
      const test = await versioned(['a', 'b', 'c']);
      await test.ask();
      for (let stops = 0; stops < 20; stops += 1) {
        const stop = new AbortController();
        const stopping: KeySource = {
          ...test.keys,
          unseal(sealed, context) {
            stop.abort();
            return test.keys.unseal(sealed, context);
          },
        };
        if ((await test.round({ signal: stop.signal, keys: stopping }).catch(() => undefined))?.finished) break;
      }
      expect(await readRewrapState(test.records)).toMatchObject({ looked: 6, done: 6, finished: expect.any(Number) });
    });

    it('by rewriting keeps ids, order, times, ETags, tags and locks', async () => {
      const test = await versioned(['a', 'b']);
      await test.layer.createBucket('locked', { location: '', objectLock: true });
      const lock = { retention: { mode: 'COMPLIANCE', until: new Date('2100-01-01T00:00:00Z') } } as const;
      for (const text of ['small', large, 'last']) {
        await test.layer.putObject(put('locked', 'a', text, { ...kms('old'), lock, tags: { a: 'b' } }));
      }
      await test.layer.deleteObject('bucket', 'b');
      const before = await contentsOf(test);
      const bodies = await blobsOf(test);
      await test.ask({ mode: 'rewrite' });
      expect(await test.round()).toMatchObject({ done: 7, failed: 0 });
      expect([...(await keyUsage(test)).keys()]).toEqual(['new']);
      test.keyService.keys.delete('old');
      const { layer } = testLayer({ ...test, inlineLimit: 1_000, keys: test.keys });
      const renamed = JSON.stringify(before).replaceAll('"keyName":"old"', '"keyName":"new"');
      expect(JSON.parse(JSON.stringify(await contentsOf({ layer })))).toEqual(JSON.parse(renamed));
      expect((await blobsOf(test)).at(-1)).not.toEqual(bodies.at(-1));
      expect(await Array.fromAsync(verifyStores({ ...test, now: Date.now(), bodies: true }))).toEqual([]);
    });

    it.each(['is replaced', 'is deleted', 'is tagged'])(
      'by rewriting loses no version that %s meanwhile',
      async (how) => {
        const test = await versioned(['a']);
        await test.ask({ mode: 'rewrite' });
        const [newest = ''] = await versionsOf(test, 'a');
        let asked = 0;
        const keys: KeySource = {
          ...test.keys,
          async generate(...given) {
            asked += 1;
            if (asked === 1 && how === 'is replaced')
              await test.layer.putObject(put('bucket', 'a', 'third', kms('new')));
            if (asked === 1 && how === 'is deleted')
              await test.layer.deleteObject('bucket', 'a', { versionId: newest });
            if (asked === 1 && how === 'is tagged') await test.layer.putObjectTags('bucket', 'a', { b: 'c' });
            return test.keys.generate(...given);
          },
        };
        const { layer: objects } = testLayer({ ...test, keys });
        expect(await test.round({ objects })).toMatchObject({ failed: 0, finished: expect.any(Number) });
        expect((await keyUsage(test)).has('old')).toBe(false);
        const left = await versionsOf(test, 'a');
        expect(left).toHaveLength({ 'is replaced': 3, 'is deleted': 1, 'is tagged': 2 }[how] ?? 0);
        if (how === 'is tagged') expect((await test.layer.getObjectTags('bucket', 'a')).tags).toEqual({ b: 'c' });
        for (const versionId of left) await body(test.layer, 'bucket', 'a', versionId);
        expect(await Array.fromAsync(verifyStores({ ...test, now: Date.now(), bodies: true }))).toEqual([]);
      },
    );
  });

  it('gives new objects of a bucket whose default it was the new key', async () => {
    const { layer, ask, round } = await prepared();
    await layer.putBucketEncryption('bucket', { scheme: 'SSE-KMS', keyName: 'old', bucketKey: true });
    await ask();
    await round();
    expect(await layer.getBucketEncryption('bucket')).toEqual({ scheme: 'SSE-KMS', keyName: 'new', bucketKey: true });
  });

  it('by rewriting gives bodies new keys and leaves nothing of the old', async () => {
    const test = await prepared();
    const { layer, ask, round, keyService } = test;
    const headers = { metadata: { a: 'b' }, storageClass: 'REDUCED_REDUNDANCY', websiteRedirect: '/page' };
    await layer.putObject(put('bucket', 'small', 'x', { ...kms('old'), headers, tags: { tag: 'c' } }));
    await layer.putObject(put('bucket', 'large', large, kms('old')));
    const was = await layer.headObject('bucket', 'small');
    const bodies = await blobsOf(test);
    await ask({ mode: 'rewrite' });
    expect(await round()).toMatchObject({ done: 2, failed: 0 });
    keyService.keys.delete('old');
    expect(await body(layer, 'bucket', 'large')).toEqual(Buffer.from(large));
    const { encryption: _, ...same } = was;
    expect(await layer.headObject('bucket', 'small')).toMatchObject(same);
    expect((await blobsOf(test)).at(-1)).not.toEqual(bodies[0]);
    expect([...(await keyUsage(test)).keys()]).toEqual(['new']);
  });

  it('goes on where it was stopped, and looks at nothing twice', async () => {
    const { layer, records, ask, round, keys } = await prepared();
    for (let at = 0; at < 20; at += 1) await layer.putObject(put('bucket', `k${at + 10}`, 'x', kms('old')));
    await ask();
    const stop = new AbortController();
    let opened = 0;
    const stopping: KeySource = {
      ...keys,
      unseal(sealed, context) {
        opened += 1;
        if (opened === 7) stop.abort();
        return keys.unseal(sealed, context);
      },
    };
    await expect(round({ signal: stop.signal, keys: stopping })).rejects.toThrow();
    const half = await readRewrapState(records);
    expect([half?.looked, half?.finished]).toEqual([7, undefined]);
    await round();
    expect(await readRewrapState(records)).toMatchObject({ looked: 20, failed: 0, finished: expect.any(Number) });
    expect((await keyUsage({ records })).get('new')).toMatchObject({ objects: 20 });
  });

  it('does nothing where nothing was asked for, and nothing twice', async () => {
    const { ask, round, keyService, layer } = await prepared();
    expect(await round()).toBeUndefined();
    await layer.putObject(put('bucket', 'small', 'x', kms('old')));
    await ask();
    await round();
    const calls = keyService.calls.length;
    await round();
    expect(keyService.calls).toHaveLength(calls);
  });

  it('to a new version passes over what has it, however old the data keys are that this thread holds', async () => {
    const { layer, records, keyService, ask, round } = await prepared();
    for (const name of ['a', 'b']) await layer.putObject(put('bucket', name, name, kms('old')));
    const version = await keyService.rotateKey('old');
    // Under the data key of the version before, which the layer holds on to.
    await layer.putObject(put('bucket', 'c', 'c', kms('old')));
    await ask({ to: 'old', version, started: 1_000 });
    expect(await round({ clock: () => 1_000 })).toMatchObject({ done: 3, againAfter: 361_000 });
    for (const name of ['a', 'b', 'c']) expect(await versionOf(records, name)).toBe(version);
    keyService.former.clear();
    const fresh = testLayer({ records, keys: keyServiceKeys(keyService, { defaultKey: 'default-key' }) });
    for (const name of ['a', 'b', 'c']) expect((await body(fresh.layer, 'bucket', name)).toString()).toBe(name);
  });

  it('to a new version looks again when nobody can hold data keys of the one before', async () => {
    const { layer, records, keyService, ask, round } = await prepared();
    await layer.putObject(put('bucket', 'a', 'a', kms('old')));
    const version = await keyService.rotateKey('old');
    await ask({ to: 'old', version, started: 1_000 });
    await round({ clock: () => 1_000 });
    await layer.putObject(put('bucket', 'late', 'late', kms('old')));
    expect(await versionOf(records, 'late')).not.toBe(version);
    expect(await round({ clock: () => 360_999 })).toMatchObject({ done: 1, againAfter: 361_000 });
    expect(await round({ clock: () => 361_000 })).toMatchObject({ done: 2, failed: 0, finished: 361_000 });
    expect(await versionOf(records, 'late')).toBe(version);
  });

  it('passes over what cannot be opened, counts it, and tells the first', async () => {
    const { layer, ask, round } = await prepared();
    await layer.putObject(put('bucket', 'b', 'x', kms('new')));
    await ask({ from: 'new', to: 'no-such-key' });
    expect(await round()).toMatchObject({
      failed: 1,
      done: 0,
      failure: { bucket: 'bucket', key: 'b', message: expect.stringContaining('no-such-key') },
    });
    expect(await body(layer, 'bucket', 'b')).toEqual(Buffer.from('x'));
  });

  it('never brings back what was replaced while it was looked at', async () => {
    const { layer, records, ask, round } = await prepared();
    for (let at = 0; at < 30; at += 1) await layer.putObject(put('bucket', `k${at}`, 'before', kms('old')));
    await ask();
    const writing = (async () => {
      for (let at = 0; at < 30; at += 1) await layer.putObject(put('bucket', `k${at}`, 'after', kms('old')));
    })();
    await Promise.all([round(), writing]);
    for (let at = 0; at < 30; at += 1) expect((await body(layer, 'bucket', `k${at}`)).toString()).toBe('after');
    await ask();
    await round();
    expect((await keyUsage({ records })).get('new')).toMatchObject({ objects: 30 });
  });
});
