import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../platform/output/logger.ts';
import { body, put, rename, testLayer } from '../../../test/support/objects/test-layer.ts';
import { SimulatedDisk } from '../../../test/support/store/simulated-disk.ts';
import type { BlobId, BlobStore, SegmentId } from '../../store/blob-store.ts';
import { openFilesBlobStore } from '../../store/files/blob-store.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { Batch, RecordStore } from '../../store/record-store.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { commitOnce } from '../../store/commits.ts';
import { encodeRecord, recordKeys } from '../records/record-format.ts';
import { readAllGarbage } from '../garbage-collection/segment-garbage.ts';
import { packedId, placeOf } from '../../store/packed-id.ts';
import { removeQueuedBlobs } from '../garbage-collection/garbage-collection.ts';
import { createObjectLayer } from '../objects.ts';
import { compactSegments } from './compact-segments.ts';
import { sealWastefulSegments } from './seal-wasteful-segments.ts';
import { readSegmentSpace } from './segment-space.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const size = 20_000;

/** A bucket over segments on a disk. `now` is the clock of everything. */
async function prepared() {
  const clock = { now: Date.now() };
  const disk = new SimulatedDisk('/data', { now: () => clock.now });
  const open = (): BlobStore => openFilesBlobStore('/data', { fs: disk, now: () => clock.now });
  const { records, keys } = testLayer();
  const layerOver = (blobs: BlobStore) =>
    createObjectLayer({ records, blobs, keys, inlineLimit: 100, clock: () => clock.now });
  let blobs = open();
  let layer = layerOver(blobs);
  await layer.createBucket('bucket', { location: '' });
  const unmovable = new Set<BlobId>();
  const compact = (through: RecordStore = records, also: Partial<Parameters<typeof compactSegments>[0]> = {}) =>
    compactSegments({
      records: through,
      blobs,
      move: (blob, owner) => layer.moveBody(blob, owner),
      maxGarbage: 0.25,
      unmovable,
      log: createLogger({ name: 'test', level: 'silent' }),
      now: clock.now,
      ...also,
    });
  return {
    clock,
    disk,
    records,
    compact,
    get layer() {
      return layer;
    },
    get blobs() {
      return blobs;
    },
    restart() {
      blobs = open();
      layer = layerOver(blobs);
    },
    segments: async () => (await Array.fromAsync(blobs.segments?.list() ?? [])).length,
    seal: () => sealWastefulSegments({ records, blobs, maxGarbage: 0.25 }),
    removals: () => removeQueuedBlobs({ records, blobs, now: clock.now }),
    owners: async () => {
      const ids: BlobId[] = [];
      for await (const item of records.scan(within('r'))) {
        if (item.kind === 'entry') ids.push(String(decodeKey(item.key)[1]) as BlobId);
      }
      return ids;
    },
  };
}

type Test = Awaited<ReturnType<typeof prepared>>;

/** Puts objects `k0`, `k1`, …, and returns their bodies. */
async function fill({ layer }: Test, count: number): Promise<Map<string, Buffer>> {
  const bodies = new Map<string, Buffer>();
  for (let n = 0; n < count; n += 1) {
    const bytes = randomBytes(size);
    bodies.set(`k${n}`, bytes);
    await layer.putObject(put('bucket', `k${n}`, bytes));
  }
  return bodies;
}

async function expectAll({ layer }: Test, bodies: Map<string, Buffer>): Promise<void> {
  for (const [key, bytes] of bodies) expect((await body(layer, 'bucket', key)).equals(bytes), key).toBe(true);
}

/** Runs the rounds of removal and compaction for some minutes. */
async function pass(test: Test, minutes = 5): Promise<number> {
  let moved = 0;
  for (let minute = 0; minute < minutes; minute += 1) {
    test.clock.now += MINUTE + 1;
    await test.removals();
    await test.seal();
    moved += (await test.compact()).moved;
  }
  return moved;
}

describe('objects of medium size', () => {
  it('share a segment, with an owner record for each', async () => {
    const test = await prepared();
    const bodies = await fill(test, 5);
    expect(new Set((await test.owners()).map((id) => placeOf(id)?.segment)).size).toBe(1);
    expect(await Array.fromAsync(test.blobs.list())).toEqual([]);
    await expectAll(test, bodies);
  });

  it('keep their segment while little of it is garbage', async () => {
    const test = await prepared();
    const bodies = await fill(test, 10);
    await test.layer.deleteObject('bucket', 'k0');
    bodies.delete('k0');
    test.restart();
    test.clock.now += DAY;
    expect(await pass(test)).toBe(0);
    expect(await test.segments()).toBe(1);
    await expectAll(test, bodies);
  });

  it('give the space back within minutes when all are deleted', async () => {
    const test = await prepared();
    await fill(test, 10);
    for (let n = 0; n < 10; n += 1) await test.layer.deleteObject('bucket', `k${n}`);
    test.restart();
    test.clock.now += 61 * MINUTE;
    await pass(test, 3);
    expect(await test.segments()).toBe(0);
  });

  it('give the space back within minutes when all are deleted, although the server could append to their segment', async () => {
    const test = await prepared();
    await fill(test, 10);
    for (let n = 0; n < 10; n += 1) await test.layer.deleteObject('bucket', `k${n}`);
    await pass(test, 3);
    expect(await test.segments()).toBe(0);
  });

  it('are in no figure of a round that removed their segment', async () => {
    const test = await prepared();
    await fill(test, 10);
    for (let n = 0; n < 10; n += 1) await test.layer.deleteObject('bucket', `k${n}`);
    test.clock.now += 2 * MINUTE;
    await test.removals();
    await test.seal();
    expect(await test.compact()).toMatchObject({ removed: 1, space: { segments: 0, bytes: 0, garbage: 0 } });
  });

  it('move within minutes when too much of the segment that the server appends to is garbage', async () => {
    const test = await prepared();
    const bodies = await fill(test, 20);
    const before = await test.owners();
    for (let n = 0; n < 10; n += 1) {
      await test.layer.deleteObject('bucket', `k${n}`);
      bodies.delete(`k${n}`);
    }
    expect(await pass(test)).toBe(10);
    expect(await test.segments()).toBe(1);
    expect((await test.owners()).filter((id) => before.includes(id))).toEqual([]);
    await expectAll(test, bodies);
  });

  it('stay in the segment that the server appends to while its garbage is little', async () => {
    const test = await prepared();
    const bodies = await fill(test, 10);
    for (let n = 0; n < 5; n += 1) {
      await test.layer.deleteObject('bucket', `k${n}`);
      bodies.delete(`k${n}`);
    }
    expect(await pass(test)).toBe(0);
    expect(await test.segments()).toBe(1);
    await expectAll(test, bodies);
  });

  it('move to another segment when too much of theirs is garbage', async () => {
    const test = await prepared();
    const bodies = await fill(test, 10);
    const before = await test.owners();
    for (const n of [0, 3, 4, 8]) {
      await test.layer.deleteObject('bucket', `k${n}`);
      bodies.delete(`k${n}`);
    }
    test.restart();
    test.clock.now += 61 * MINUTE;
    expect(await pass(test)).toBe(6);
    expect(await test.segments()).toBe(1);
    expect(await readSegmentSpace(test.records)).toMatchObject({
      segments: 1,
      garbage: 0,
      removed: 1,
      moved: 6,
      movedBytes: 6 * size,
    });
    const after = await test.owners();
    expect(after).toHaveLength(6);
    expect(after.filter((id) => before.includes(id))).toEqual([]);
    await expectAll(test, bodies);
  });

  it('stay where nothing may move, and segments without bodies are removed nevertheless', async () => {
    const test = await prepared();
    await fill(test, 10);
    for (let n = 0; n < 9; n += 1) await test.layer.deleteObject('bucket', `k${n}`);
    test.restart();
    test.clock.now += 61 * MINUTE;
    await test.removals();
    expect(await test.compact(test.records, { moves: false })).toMatchObject({ moved: 0, removed: 0 });
    expect(await test.segments()).toBe(1);
    await test.layer.deleteObject('bucket', 'k9');
    test.clock.now += 2 * MINUTE;
    await test.removals();
    expect(await test.compact(test.records, { moves: false })).toMatchObject({ moved: 0, removed: 1 });
  });

  it('move at the pace that was given, and stop in it when the round is stopped', async () => {
    const test = await prepared();
    await fill(test, 30);
    for (let n = 0; n < 10; n += 1) await test.layer.deleteObject('bucket', `k${n}`);
    test.restart();
    test.clock.now += 61 * MINUTE;
    await test.removals();
    const stopping = new AbortController();
    const asked: number[] = [];
    const paced = (bytes: number, signal?: AbortSignal) => {
      asked.push(bytes);
      if (asked.length === 2) stopping.abort(new Error('stopped'));
      signal?.throwIfAborted();
    };
    await expect(test.compact(test.records, { paced, signal: stopping.signal })).rejects.toThrow('stopped');
    expect(asked).toEqual([8 * size, 8 * size]);
  });

  it('are in the figures when those of their segment have moved, before the round ends', async () => {
    const test = await prepared();
    for (const segment of [0, 1]) {
      await fill(test, 10);
      for (let n = 0; n < 4; n += 1) await test.layer.deleteObject('bucket', `k${n}`);
      test.restart();
      if (segment === 0)
        for (let n = 4; n < 10; n += 1) await test.layer.renameObject(rename('bucket', `k${n}`, `other${n}`));
    }
    test.clock.now += 61 * MINUTE;
    await test.removals();
    const shown: (number | undefined)[] = [];
    const paced = async () => void shown.push((await readSegmentSpace(test.records))?.moved);
    expect((await test.compact(test.records, { paced })).moved).toBe(12);
    expect(shown).toEqual([undefined, 6]);
  });

  it('are served to a reader that began before they moved', async () => {
    const test = await prepared();
    const bodies = await fill(test, 4);
    const { info, read } = await test.layer.getObject('bucket', 'k3');
    for (const n of [0, 1, 2]) await test.layer.deleteObject('bucket', `k${n}`);
    test.restart();
    test.clock.now += 61 * MINUTE;
    await test.removals();
    expect((await test.compact()).moved).toBe(1);
    await test.compact();
    const chunks = read({ start: 0, end: info.size });
    const got = Buffer.isBuffer(chunks) ? chunks : Buffer.from((await chunks.next()) ?? '');
    expect(got.equals(bodies.get('k3') ?? Buffer.alloc(0))).toBe(true);
  });

  it('that are replaced or deleted while they move stay replaced or deleted', async () => {
    const test = await prepared();
    await fill(test, 10);
    for (let n = 0; n < 8; n += 1) await test.layer.deleteObject('bucket', `k${n}`);
    test.restart();
    test.clock.now += 61 * MINUTE;
    await test.removals();
    const other = randomBytes(size);
    const { layer, blobs, records, clock } = test;
    const moved: boolean[] = [];
    const move: Parameters<typeof compactSegments>[0]['move'] = async (blob, owner) => {
      const moving = layer.moveBody(blob, owner);
      if (owner.key === 'k8') await layer.putObject(put('bucket', 'k8', other));
      else await layer.deleteObject('bucket', owner.key);
      moved.push(await moving);
      return false;
    };
    const log = createLogger({ name: 'test', level: 'silent' });
    await compactSegments({ records, blobs, move, maxGarbage: 0.25, unmovable: new Set(), log, now: clock.now });
    expect(moved).toHaveLength(2);
    expect((await body(layer, 'bucket', 'k8')).equals(other)).toBe(true);
    await expect(layer.headObject('bucket', 'k9')).rejects.toMatchObject({ code: 'NoSuchKey' });
    expect(await test.owners()).toHaveLength(1);
  });

  it('move as noncurrent versions too', async () => {
    const test = await prepared();
    await test.layer.putBucketVersioning('bucket', { status: 'Enabled' });
    const [first, second] = [randomBytes(size), randomBytes(size)];
    const { versionId } = await test.layer.putObject(put('bucket', 'key', first));
    await test.layer.putObject(put('bucket', 'key', second));
    await fill(test, 4);
    for (let n = 0; n < 4; n += 1) {
      const { versionId: gone } = await test.layer.headObject('bucket', `k${n}`);
      await test.layer.deleteObject('bucket', `k${n}`, { versionId: gone });
    }
    test.restart();
    test.clock.now += 61 * MINUTE;
    expect(await pass(test)).toBe(2);
    expect((await body(test.layer, 'bucket', 'key')).equals(second)).toBe(true);
    expect((await body(test.layer, 'bucket', 'key', versionId)).equals(first)).toBe(true);
  });

  it('move under the name that a rename gave them', async () => {
    const test = await prepared();
    const bodies = await fill(test, 4);
    await test.layer.renameObject(rename('bucket', 'k3', 'renamed'));
    for (const n of [0, 1, 2]) await test.layer.deleteObject('bucket', `k${n}`);
    test.restart();
    test.clock.now += 61 * MINUTE;
    expect(await pass(test)).toBe(1);
    expect((await body(test.layer, 'bucket', 'renamed')).equals(bodies.get('k3') ?? Buffer.alloc(0))).toBe(true);
  });

  it('that were never committed are garbage a day after their segment was counted', async () => {
    const test = await prepared();
    const bodies = await fill(test, 1);
    const orphan = Buffer.alloc(size);
    await test.blobs.segments?.write(
      (async function* () {
        yield await Promise.resolve(orphan);
      })(),
      { length: size },
    );
    test.restart();
    test.clock.now += 61 * MINUTE;
    expect(await pass(test)).toBe(0);
    test.clock.now += DAY - 5 * MINUTE;
    expect(await pass(test)).toBe(1);
    expect(await test.segments()).toBe(1);
    await expectAll(test, bodies);
  });

  it('that uploads broke off within are garbage within minutes, since their writer counted them', async () => {
    const test = await prepared();
    const bodies = await fill(test, 2);
    for (let n = 0; n < 8; n += 1) {
      const bytes = randomBytes(size);
      const half = (async function* () {
        yield await Promise.resolve(bytes.subarray(0, 1000));
        throw new Error('the client went away');
      })();
      await expect(test.layer.putObject(put('bucket', 'broken', bytes, { body: half }))).rejects.toThrow();
    }
    await test.layer.putObject(put('bucket', 'last', randomBytes(size)));
    expect(await pass(test)).toBe(3);
    expect(await test.segments()).toBe(1);
    await expectAll(test, bodies);
  });

  it('that the records do not know, since they are of yesterday, stay for a day', async () => {
    const test = await prepared();
    await fill(test, 2);
    const yesterday = test.records.copy();
    const bodies = await fill(test, 12);
    for (const [key, bytes] of bodies) await test.layer.putObject(put('bucket', `today-${key}`, bytes));
    test.restart();
    test.clock.now += 2 * 60 * MINUTE;
    const { blobs, clock } = test;
    const { layer: wrong } = testLayer({ records: yesterday, blobs: blobs as never, clock: () => clock.now });
    for (let hour = 0; hour < 23; hour += 1) {
      await removeQueuedBlobs({ records: yesterday, blobs: test.blobs, now: test.clock.now });
      await test.compact(yesterday, { move: (blob, owner) => wrong.moveBody(blob, owner) });
      test.clock.now += 60 * MINUTE;
    }
    // Open files would hide a removal.
    test.restart();
    await expectAll(test, bodies);
    for (const [key, bytes] of bodies) {
      expect((await body(test.layer, 'bucket', `today-${key}`)).equals(bytes)).toBe(true);
    }
  });

  it('cannot be committed into a segment that was given up', async () => {
    const test = await prepared();
    const gate = Promise.withResolvers<void>();
    const bytes = randomBytes(size);
    const slow = test.layer.putObject(
      put('bucket', 'slow', bytes, {
        body: (async function* () {
          yield bytes.subarray(0, 1000);
          await gate.promise;
          yield bytes.subarray(1000);
        })(),
      }),
    );
    await expect.poll(() => test.segments(), { timeout: 180_000 }).toBe(1);
    test.clock.now += 2 * DAY;
    const { compact } = test;
    expect((await compact()).removed).toBe(1);
    gate.resolve();
    await expect(slow).rejects.toMatchObject({ code: 'RequestTimeout' });
  });

  it('that are removed while their segment is counted are counted once', async () => {
    const test = await prepared();
    const bodies = await fill(test, 50);
    for (let n = 0; n < 4; n += 1) await test.layer.deleteObject('bucket', `k${n}`);
    test.restart();
    test.clock.now += DAY + MINUTE;
    let removing: Promise<unknown> | undefined;
    await test.compact(
      before(
        test.records,
        (batch) => batch.put?.some(isGarbage) === true,
        async () => {
          removing ??= test.removals();
          await removing;
        },
      ),
    );
    const garbage = [...(await readAllGarbage(test.records)).values()].map(({ bytes }) => bytes);
    expect(garbage).toEqual([4 * 20_480]);
    await expectAll(test, new Map([...bodies].slice(4)));
  });

  it('keep their segment where one was committed and deleted again while it was given up', async () => {
    const test = await prepared();
    const [id] = await orphans(test, 1);
    test.restart();
    test.clock.now += DAY + 61 * MINUTE;
    await test.compact();
    test.clock.now += DAY;
    const { removed } = await test.compact(
      before(
        test.records,
        (batch) => batch.put?.some(isTombstone) === true,
        async () => {
          const removal = { key: recordKeys.removal(id as BlobId), value: encodeRecord({ queued: test.clock.now }) };
          await commitOnce(test.records, { put: [removal] }, randomBytes);
        },
      ),
    );
    expect(removed).toBe(0);
    expect(await test.segments()).toBe(1);
    await pass(test);
    expect(await test.segments()).toBe(0);
  });

  it('are tried again after a move that met too many other changes', async () => {
    const test = await prepared();
    await fill(test, 4);
    for (const n of [0, 1, 2]) await test.layer.deleteObject('bucket', `k${n}`);
    test.restart();
    test.clock.now += 61 * MINUTE;
    await test.removals();
    const { layer, blobs, records, clock } = test;
    const unmovable = new Set<BlobId>();
    const round = (move: Parameters<typeof compactSegments>[0]['move']) =>
      compactSegments({ records, blobs, move, maxGarbage: 0.25, unmovable, log: silent, now: clock.now });
    expect(await round(() => Promise.reject(new S3Error('SlowDown', 'too many')))).toMatchObject({ moved: 0 });
    expect(await round((blob, owner) => layer.moveBody(blob, owner))).toMatchObject({ moved: 1 });
  });

  it('stay where they are without their checksum, and the others of their segment move', async () => {
    const test = await prepared();
    const bodies = await fill(test, 6);
    for (const n of [0, 1, 2]) await test.layer.deleteObject('bucket', `k${n}`);
    const damaged = (await test.owners()).map((id) => placeOf(id)).find((place) => place?.offset === 3 * 20_480);
    if (damaged === undefined) throw new Error('there is a body at this place');
    test.disk.overwrite(`/data/segments/${damaged.segment}`, Buffer.from('damage'), damaged.offset + 100);
    test.restart();
    test.clock.now += 61 * MINUTE;
    expect(await pass(test)).toBe(2);
    expect(await test.segments()).toBe(2);
    await expect(body(test.layer, 'bucket', 'k3')).rejects.toMatchObject({ code: 'damaged-body' });
    await expectAll(test, new Map([...bodies].slice(4)));
  });

  it('of small segments, which restarts leave, are joined in one', async () => {
    const test = await prepared();
    const bodies = new Map<string, Buffer>();
    for (let start = 0; start < 8; start += 1) {
      test.restart();
      bodies.set(`k${start}`, randomBytes(size));
      await test.layer.putObject(put('bucket', `k${start}`, bodies.get(`k${start}`) as Buffer));
    }
    expect(await test.segments()).toBe(8);
    test.restart();
    test.clock.now += 61 * MINUTE;
    expect(await pass(test)).toBe(8);
    expect(await test.segments()).toBe(1);
    await expectAll(test, bodies);
  });

  it('leave no count behind where a copy has them as files of their own', async () => {
    const test = await prepared();
    const gone = packedId({ segment: 'ff00000000000000' as SegmentId, offset: 0, length: size });
    const removal = { key: recordKeys.removal(gone), value: encodeRecord({ queued: 0 }) };
    await commitOnce(test.records, { put: [removal] }, randomBytes);
    await test.removals();
    await test.compact();
    expect((await readAllGarbage(test.records)).size).toBe(0);
  });
});

const silent = createLogger({ name: 'test', level: 'silent' });

/** Writes bodies that no commit follows. */
async function orphans({ blobs }: Test, count: number): Promise<readonly BlobId[]> {
  const ids: BlobId[] = [];
  for (let n = 0; n < count; n += 1) {
    const bytes = (async function* () {
      yield await Promise.resolve(Buffer.alloc(size));
    })();
    const written = await blobs.segments?.write(bytes, { length: size });
    if (written !== undefined) ids.push(written.id);
  }
  return ids;
}

const isTombstone = ({ key }: { readonly key: Buffer }) => String(decodeKey(key)[0]) === 't';
const isGarbage = ({ key }: { readonly key: Buffer }) => String(decodeKey(key)[0]) === 'g';

/** The records, where `act` happens before each commit that `matches`. */
function before(records: RecordStore, matches: (batch: Batch) => boolean, act: () => Promise<void>): RecordStore {
  return {
    ...records,
    get: (key) => records.get(key),
    getAll: (keys) => records.getAll(keys),
    scan: (range) => records.scan(range),
    outcome: (id) => records.outcome(id),
    close: () => records.close(),
    async commit(batch) {
      if (matches(batch)) await act();
      return records.commit(batch);
    },
  };
}
