import { crc32 } from 'node:zlib';
import { randomBytes } from 'node:crypto';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { openFilesBlobStore } from '../../store/files/blob-store.ts';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../platform/output/logger.ts';
import { quarantined } from '../../objects/operations/quarantine.ts';
import { encodeObject } from '../../objects/records/object-record.ts';
import { decodeBlockSums, encodeBlockSums } from '../../objects/records/body-records.ts';
import { recordKeys } from '../../objects/records/record-format.ts';
import { BlockSumsHasher } from '../../objects/checksums/block-sums.ts';
import { body, put, readAll, testLayer, type TestLayer } from '../../../test/support/objects/test-layer.ts';
import { versionedLayer } from '../../../test/support/maintenance/versioned-layer.ts';
import { pace } from '../pace.ts';
import { scrubRound, type ScrubOptions, readScrubState } from './scrub.ts';
import {
  blobOf,
  deleteRecord,
  filledLayer,
  flipped,
  makeOlder,
  partBlobs,
  readBlob,
  recordOf,
  replaceBlob,
  valueOf,
  writeRecord,
} from '../../../test/support/maintenance/filled-layer.ts';

const log = createLogger({ name: 'test', level: 'silent' });

function scrub({ records, blobs, keys }: TestLayer, options: Partial<ScrubOptions> = {}) {
  return scrubRound({ records, blobs, keys, log, bytesPerSecond: 1e12, ...options });
}

async function marks({ records }: TestLayer): Promise<string[]> {
  return (await Array.fromAsync(quarantined(records))).map(({ key }) => key);
}

describe('scrubRound', () => {
  it('marks nothing where nothing is damaged', async () => {
    const test = await filledLayer();
    expect(await scrub(test)).toMatchObject({ objects: 7, damaged: 0, missing: 0, finished: expect.any(Number) });
    expect(await marks(test)).toEqual([]);
  });

  it('asks no key service for bodies whose ciphertext has a checksum', async () => {
    const test = await filledLayer();
    const blob = await blobOf(test, 'large-sealed');
    await replaceBlob(test, blob, flipped(await readBlob(test, blob), 70_000));
    const keys = new Proxy(test.keys, { get: () => () => Promise.reject(new Error('asked')) });
    await scrub(test, { keys });
    expect(await marks(test)).toEqual(['large-sealed']);
  });

  it('asks none for those of before, whose ciphertext has a CRC-32', async () => {
    const test = await filledLayer();
    const record = await recordOf(test, 'large-sealed');
    if (record.body.kind !== 'blob' || !('salt' in record.body)) throw new Error('not encrypted');
    const { mac: _, ...rest } = record.body;
    const ciphertext = await readBlob(test, rest.blob);
    const body = { ...rest, stored: crc32(ciphertext) };
    await writeRecord(test, recordKeys.object('bucket', 'large-sealed'), encodeObject({ ...record, body }));
    const keys = new Proxy(test.keys, { get: () => () => Promise.reject(new Error('asked')) });
    await scrub(test, { keys });
    expect(await marks(test)).toEqual([]);
    await replaceBlob(test, rest.blob, flipped(ciphertext, 70_000));
    await scrub(test, { keys, everyMs: 0 });
    expect(await marks(test)).toEqual(['large-sealed']);
  });

  it('opens older ones', async () => {
    const test = await filledLayer();
    const record = await recordOf(test, 'large-sealed');
    if (record.body.kind !== 'blob' || !('salt' in record.body)) throw new Error('not encrypted');
    const { mac: _, ...body } = record.body;
    await writeRecord(test, recordKeys.object('bucket', 'large-sealed'), encodeObject({ ...record, body }));
    await replaceBlob(test, body.blob, flipped(await readBlob(test, body.blob), 70_000));
    await scrub(test);
    expect(await marks(test)).toEqual(['large-sealed']);
  });

  it('marks what is damaged and what is missing, and counts both', async () => {
    const test = await filledLayer();
    const inline = recordKeys.inline('bucket', 'small');
    await writeRecord(test, inline, flipped(await valueOf(test, inline), 500));
    await test.blobs.remove(await blobOf(test, 'large'));
    expect(await scrub(test)).toMatchObject({ damaged: 1, missing: 1 });
    expect(await marks(test)).toEqual(['large', 'small']);
  });

  it('takes the mark away from what is whole again', async () => {
    const test = await filledLayer();
    const blob = await blobOf(test, 'large');
    const bytes = await readBlob(test, blob);
    await replaceBlob(test, blob, flipped(bytes, 9));
    await scrub(test);
    await replaceBlob(test, blob, bytes);
    expect(await scrub(test, { everyMs: 0 })).toMatchObject({ released: 1 });
    expect(await marks(test)).toEqual([]);
    await expect(test.layer.getObject('bucket', 'large')).resolves.toBeDefined();
  });

  it('marks and releases noncurrent versions, and continues between the versions of a key', async () => {
    const test = await versionedLayer();
    const damaged = [];
    for (const { id } of await Array.fromAsync(test.blobs.list())) {
      const bytes = await readBlob(test, id);
      damaged.push({ id, bytes });
      await replaceBlob(test, id, flipped(bytes, 9));
    }
    let clock = 0;
    for (let stop = 1; stop < 100; stop += 1) {
      const signal = new AbortController();
      // Each round ends after one version, and saves the position.
      const options = { clock: () => (clock += 20_000), everyMs: 1e12, signal: signal.signal, bytesPerSecond: 1e15 };
      const records = stopping(test.records, () => signal.abort());
      const state = await scrub({ ...test, records }, options).catch(() => undefined);
      if (state?.finished !== undefined) break;
    }
    const state = await readScrubState(test.records);
    expect(state).toMatchObject({ damaged: damaged.length, missing: 0, finished: expect.any(Number) });
    expect((await Array.fromAsync(quarantined(test.records))).map(({ key }) => key)).toHaveLength(damaged.length);
    for (const { id, bytes } of damaged) await replaceBlob(test, id, bytes);
    expect(await scrub(test, { everyMs: 0 })).toMatchObject({ released: damaged.length });
    expect(await marks(test)).toEqual([]);
  });

  it('marks nothing where the blob store is empty: it is the wrong one', async () => {
    const test = await filledLayer();
    for (const { id } of await Array.fromAsync(test.blobs.list())) await test.blobs.remove(id);
    await expect(scrub(test)).rejects.toThrow('no blob at all');
    expect(await marks(test)).toEqual([]);
  });

  it('marks a missing body of a store that has nothing but segments', async () => {
    const folder = await temporaryFolder();
    const blobs = openFilesBlobStore(folder.path);
    const test = testLayer({ blobs: blobs as never, inlineLimit: 100 });
    await test.layer.createBucket('bucket', { location: '' });
    await test.layer.putObject(put('bucket', 'lost', randomBytes(5_000)));
    const [lost] = await Array.fromAsync(blobs.segments?.list() ?? []);
    const other = openFilesBlobStore(folder.path);
    await testLayer({ ...test, blobs: other as never, inlineLimit: 100 }).layer.putObject(
      put('bucket', 'kept', randomBytes(5_000)),
    );
    await blobs.segments?.remove(lost?.segment as never);
    const fresh = openFilesBlobStore(folder.path);
    expect(await scrub({ ...test, blobs: fresh as never })).toMatchObject({ missing: 1, objects: 2 });
    await folder.remove();
  });

  describe('keeps block sums', () => {
    it.each(['crc', 'gmac'] as const)('of bodies that have a %s alone', async (sum) => {
      const test = await filledLayer();
      const bytes = await makeOlder(test, 'large', sum);
      const record = await valueOf(test, recordKeys.object('bucket', 'large'));
      expect(await scrub(test)).toMatchObject({ damaged: 0, missing: 0 });
      const sums = new BlockSumsHasher();
      sums.update(bytes);
      const blob = await blobOf(test, 'large');
      expect(await valueOf(test, recordKeys.blockSums(blob))).toEqual(encodeBlockSums(sums.digest()));
      expect(await valueOf(test, recordKeys.object('bucket', 'large'))).toEqual(record);
      let whole = 0;
      const readBlob = test.blobs.read.bind(test.blobs);
      test.blobs.read = (id, range) => {
        if (range.end - range.start === bytes.length) whole += 1;
        return readBlob(id, range);
      };
      const read = await test.layer.getObject('bucket', 'large');
      expect((await readAll(read.read({ start: 7, end: 9 }))).equals(bytes.subarray(7, 9))).toBe(true);
      expect(whole).toBe(0);
    });

    it('of no body that is damaged', async () => {
      const test = await filledLayer();
      const bytes = await makeOlder(test, 'large');
      const blob = await blobOf(test, 'large');
      await replaceBlob(test, blob, flipped(bytes, 9));
      expect(await scrub(test)).toMatchObject({ damaged: 1 });
      expect(await test.records.get(recordKeys.blockSums(blob))).toBeUndefined();
    });

    it('of parts, of uploads too, whose record is lost or damaged, and says so', async () => {
      const test = await filledLayer();
      const keys = (await partBlobs(test)).map((blob) => recordKeys.blockSums(blob));
      expect(keys).toHaveLength(3);
      const values = await Promise.all(keys.map((key) => valueOf(test, key)));
      const [lost, damaged, ofUpload] = keys as [Buffer, Buffer, Buffer];
      await deleteRecord(test, lost);
      await writeRecord(test, damaged, flipped(await valueOf(test, damaged), 7));
      await writeRecord(test, ofUpload, Buffer.of(99));
      const told: unknown[] = [];
      await scrub(test, { log: { ...log, warn: (about: unknown) => told.push(about) } });
      expect(await Promise.all(keys.map((key) => valueOf(test, key)))).toEqual(values);
      expect(told).toMatchObject(keys.map(() => ({ event: 'block-sums-repaired' })));
      expect(await marks(test)).toEqual([]);
      expect((await body(test.layer, 'bucket', 'parts')).length).toBe(5 * 1024 * 1024 + 1_000);
    });

    it('as they are where a server of another block size wrote them', async () => {
      const test = await filledLayer();
      const bytes = await makeOlder(test, 'large');
      const key = recordKeys.blockSums(await blobOf(test, 'large'));
      for (const block of [65_536, 1_048_576]) {
        const sums = new BlockSumsHasher(block);
        sums.update(bytes);
        await writeRecord(test, key, encodeBlockSums(sums.digest()));
        await scrub(test, { everyMs: 0 });
        expect(decodeBlockSums(await valueOf(test, key), 'it').block).toBe(block);
      }
    });
  });

  it('goes on where it was stopped', async () => {
    const test = await filledLayer();
    const stop = new AbortController();
    const get = test.records.getAll.bind(test.records);
    let calls = 0;
    test.records.getAll = (keys) => {
      calls += 1;
      if (calls === 2) stop.abort(new Error('stopped'));
      return get(keys);
    };
    await expect(scrub(test, { signal: stop.signal })).rejects.toThrow('stopped');
    const state = await readScrubState(test.records);
    expect(state?.finished).toBeUndefined();
    expect(state?.objects).toBeGreaterThan(0);
    expect(state?.objects).toBeLessThan(7);
    expect(await scrub(test)).toMatchObject({ objects: 7 });
  });

  it('rests until its next pass is due', async () => {
    const test = await filledLayer();
    let now = Date.now();
    const clock = () => now;
    await scrub(test, { clock });
    await test.layer.putObject(put('bucket', 'more', 'x'));
    now += 23 * 3_600_000;
    expect(await scrub(test, { clock })).toMatchObject({ objects: 7 });
    now += 3_600_000;
    expect(await scrub(test, { clock })).toMatchObject({ objects: 8 });
  });
});

function paced() {
  let now = 0;
  const pass = (ms: number) => {
    now += ms;
    return Promise.resolve();
  };
  return { wait: pace(1_000_000, { clock: () => now, wait: pass }), pass, now: () => now };
}

describe('pace', () => {
  it('lets so many bytes pass in a second', async () => {
    const { wait, now } = paced();
    for (let bytes = 0; bytes < 3_000_000; bytes += 10_000) await wait(10_000);
    expect(now()).toBeCloseTo(3_000, 3);
  });

  it('saves no more than a second of a pause', async () => {
    const { wait, pass, now } = paced();
    await pass(60_000);
    for (let bytes = 0; bytes < 3_000_000; bytes += 10_000) await wait(10_000);
    expect(now()).toBeCloseTo(62_000, 3);
  });
});

/** Calls `stop` after each commit. */
function stopping(records: TestLayer['records'], stop: () => void): TestLayer['records'] {
  return new Proxy(records, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      const call = member.bind(target) as (...given: unknown[]) => Promise<unknown>;
      if (name !== 'commit') return call;
      return async (...given: unknown[]) => {
        const result = await call(...given);
        stop();
        return result;
      };
    },
  });
}
