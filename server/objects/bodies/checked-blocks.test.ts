import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyBuffers } from '../../streams/body-memory.ts';
import { eachChunk, ownChunks } from '../../streams/chunks.ts';
import { SharedMutex, sharedMutexMemory } from '../../shared-memory/shared-mutex.ts';
import {
  blobOf,
  flipped,
  makeOlder,
  recordOf,
  replaceBlob,
  valueOf,
  writeRecord,
} from '../../../test/support/maintenance/filled-layer.ts';
import { CheckedBlocks } from './checked-blocks.ts';
import { BLOCK_SIZE, BlockSumsHasher } from '../checksums/block-sums.ts';
import { recordKeys } from '../records/record-format.ts';
import { removeQueuedBlobs } from '../garbage-collection/garbage-collection.ts';
import {
  chunks,
  put,
  randomBody,
  readAll,
  testLayer,
  type TestLayer,
} from '../../../test/support/objects/test-layer.ts';

const block = 65_536;
const stored = randomBody(5 * block + 1000);
const inProgress = new BlockSumsHasher(block);
inProgress.update(stored);
const sums = inProgress.digest();

/** What is given of a range before it ends or fails. */
async function given(bytes: Buffer, range: { start: number; end: number }, chunk: number, ownership: 'own' | 'lent') {
  const out: Buffer[] = [];
  const checked = new CheckedBlocks({
    range,
    size: stored.length,
    sums: () => Promise.resolve(sums),
    read: ({ start, end }) => ({ ...ownChunks(chunks(bytes.subarray(start, end), chunk)), ownership }),
    damage: (what) => new Error(what),
  });
  try {
    for await (const part of eachChunk(checked)) out.push(Buffer.from(part));
    return { out: Buffer.concat(out) };
  } catch (error) {
    return { out: Buffer.concat(out), error };
  }
}

describe('checked blocks', () => {
  const ranges = fc
    .tuple(fc.nat(stored.length - 1), fc.nat(stored.length - 1))
    .map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) + 1 }));
  const bodyChunks = fc.oneof(fc.constantFrom(block, 2 * block, 8 * block), fc.integer({ min: 500, max: 3 * block }));
  const tenures = fc.constantFrom('own' as const, 'lent' as const);

  it('give the wanted bytes, however the store cuts them', async () => {
    const lent = bodyBuffers.lent;
    await fc.assert(
      fc.asyncProperty(ranges, bodyChunks, tenures, async (range, chunk, ownership) => {
        const { out, error } = await given(stored, range, chunk, ownership);
        expect(error).toBeUndefined();
        expect(out.equals(stored.subarray(range.start, range.end))).toBe(true);
      }),
      { numRuns: 60 },
    );
    expect(bodyBuffers.lent).toBe(lent);
  });

  it('give no byte of a damaged block, and name it', async () => {
    await fc.assert(
      fc.asyncProperty(ranges, bodyChunks, tenures, fc.nat(stored.length - 1), async (range, chunk, ownership, at) => {
        const { out, error } = await given(flipped(stored, at), range, chunk, ownership);
        const first = at - (at % block);
        const isRead = first < range.end && first + block > range.start;
        expect(error !== undefined).toBe(isRead);
        if (isRead) expect(String(error)).toContain(`block ${at / block - ((at / block) % 1)} of`);
        expect(out.equals(stored.subarray(range.start, range.start + out.length))).toBe(true);
        if (isRead) expect(range.start + out.length).toBeLessThanOrEqual(Math.max(first, range.start));
      }),
      { numRuns: 60 },
    );
  });

  it('end with damage where the store gives too few bytes or too many', async () => {
    const range = { start: 0, end: stored.length };
    expect(String((await given(stored.subarray(0, -1), range, block, 'lent')).error)).toContain('ends before');
    const checked = await given(Buffer.concat([stored, stored]).subarray(0, stored.length), range, block, 'own');
    expect(checked.error).toBeUndefined();
  });
});

async function ranged(test: TestLayer, key: string, start: number, end: number): Promise<Buffer> {
  return readAll((await test.layer.getObject('bucket', key)).read({ start, end }));
}

async function prepared(size: number): Promise<{ test: TestLayer; bytes: Buffer }> {
  const test = testLayer({ inlineLimit: 1000 });
  await test.layer.createBucket('bucket', { location: '' });
  const bytes = randomBody(size);
  await test.layer.putObject(put('bucket', 'key', bytes));
  return { test, bytes };
}

describe('a plain blob', () => {
  it('has up to 64 block sums in its record, and more in a record of their own, which goes with the blob', async () => {
    const { test } = await prepared(64 * BLOCK_SIZE);
    expect((await recordOf(test, 'key')).body).toMatchObject({ block: BLOCK_SIZE, sums: expect.any(String) });
    const small = await blobOf(test, 'key');
    expect(await test.records.get(recordKeys.blockSums(small))).toBeUndefined();
    const bytes = randomBody(64 * BLOCK_SIZE + 1);
    await test.layer.putObject(put('bucket', 'key', bytes));
    const large = await blobOf(test, 'key');
    expect((await recordOf(test, 'key')).body).toMatchObject({ block: BLOCK_SIZE, root: expect.any(String) });
    expect((await valueOf(test, recordKeys.blockSums(large))).length).toBe(6 + 65 * 8);
    expect((await ranged(test, 'key', 64 * BLOCK_SIZE - 3, bytes.length)).equals(bytes.subarray(-4))).toBe(true);
    await test.layer.deleteObject('bucket', 'key');
    expect(await test.records.get(recordKeys.blockSums(large))).toBeDefined();
    await removeQueuedBlobs({ ...test, now: Date.now(), delay: -1 });
    expect(await test.records.get(recordKeys.blockSums(large))).toBeUndefined();
  });

  it('has its sums computed again where their record is lost or damaged', async () => {
    const { test, bytes } = await prepared(64 * BLOCK_SIZE + 1);
    const key = recordKeys.blockSums(await blobOf(test, 'key'));
    const value = await valueOf(test, key);
    await writeRecord(test, key, flipped(value, 100));
    expect((await ranged(test, 'key', 5, 9)).equals(bytes.subarray(5, 9))).toBe(true);
    expect((await valueOf(test, key)).equals(value)).toBe(true);
  });

  it.each(['crc', 'gmac'] as const)(
    'of before, with its %s alone, is read once by all its first readers',
    async (sum) => {
      const { test } = await prepared(3 * BLOCK_SIZE);
      const bytes = await makeOlder(test, 'key', sum);
      let read = 0;
      const readBlob = test.blobs.read.bind(test.blobs);
      test.blobs.read = (id, range) => {
        if (range.end - range.start === bytes.length) read += 1;
        return readBlob(id, range);
      };
      const readers = Array.from({ length: 8 }, (_, at) => ranged(test, 'key', at * 1000, at * 1000 + 10));
      for (const [at, part] of (await Promise.all(readers)).entries()) {
        expect(part.equals(bytes.subarray(at * 1000, at * 1000 + 10))).toBe(true);
      }
      expect(read).toBe(1);
      await ranged(test, 'key', 5, 9);
      expect(read).toBe(1);
      const blob = await blobOf(test, 'key');
      expect(await test.records.get(recordKeys.blockSums(blob))).toBeDefined();
      await replaceBlob(test, blob, flipped(bytes, 2 * BLOCK_SIZE));
      await expect(ranged(test, 'key', 2 * BLOCK_SIZE + 5, 2 * BLOCK_SIZE + 9)).rejects.toThrow('block 2 of');
    },
  );

  it('of before is read again by another thread where the first one fails', async () => {
    const { test } = await prepared(3 * BLOCK_SIZE);
    const bytes = await makeOlder(test, 'key');
    const memory = sharedMutexMemory();
    const readBlob = test.blobs.read.bind(test.blobs);
    let read = 0;
    test.blobs.read = (id, range) => {
      if (range.end - range.start === bytes.length && (read += 1) === 1) throw new Error('the disk failed');
      return readBlob(id, range);
    };
    const readers = Array.from({ length: 3 }, () => {
      const thread = testLayer({ ...test, blockSumsMutex: new SharedMutex({ memory }) });
      return ranged(thread, 'key', 5, 9).then(
        (part) => part.equals(bytes.subarray(5, 9)),
        (error: unknown) => String(error),
      );
    });
    const results = await Promise.all(readers);
    expect(results.filter((result) => result === true)).toHaveLength(2);
    expect(read).toBe(2);
  });

  it('of before that is damaged gives nothing, also where the range is whole', async () => {
    const { test } = await prepared(3 * BLOCK_SIZE);
    const bytes = await makeOlder(test, 'key', 'gmac');
    await replaceBlob(test, await blobOf(test, 'key'), flipped(bytes, 2 * BLOCK_SIZE));
    await expect(ranged(test, 'key', 5, 9)).rejects.toThrow('are damaged');
  });

  it('that has another length gives nothing', async () => {
    const { test, bytes } = await prepared(3 * BLOCK_SIZE);
    const blob = await blobOf(test, 'key');
    await replaceBlob(test, blob, Buffer.concat([bytes, Buffer.of(1)]));
    await expect(ranged(test, 'key', 5, 9)).rejects.toThrow('bytes instead of');
    await replaceBlob(test, blob, bytes.subarray(0, -1));
    await expect(ranged(test, 'key', 5, 9)).rejects.toThrow('are damaged');
  });
});
