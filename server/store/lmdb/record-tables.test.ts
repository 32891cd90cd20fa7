import type { RootDatabase } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { key, within } from '../keys.ts';
import { commitId, Patient } from '../../../test/support/store/patient.ts';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { openEnvironment } from './environment.ts';
import { openLmdbRecordStore } from './record-store.ts';
import { commitsHavePlaces } from '../../../test/support/store/places-of-commits.ts';

commitsHavePlaces('unchecked');

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

const pattern = (size: number, seed: string) => Buffer.alloc(size, Buffer.from(`pattern of ${size}, ${seed}`));
const bySize = (size: number) => key('of', String(size).padStart(8, '0'));
const put = (name: string, size: number) => ({ key: key(name), value: pattern(size, name) });
/** About where a piece more is needed, and where what stands beside the key is nothing, or a page of its own. */
const sizes = [
  1, 2_000, 4_056, 4_063, 4_064, 4_065, 4_072, 4_096, 8_130, 8_131, 8_144, 8_145, 16_384, 131_072, 1_000_003,
];

const table = (root: RootDatabase<Buffer, Buffer>, name: string) =>
  root.openDB<Buffer, Buffer>({ name, keyEncoding: 'binary', encoding: 'binary', cache: false });

/** Pages of the file that values have to themselves, and how many pieces there are. */
async function pages(): Promise<{ readonly overflow: number; readonly chunks: number; readonly records: number }> {
  const { root } = openEnvironment(folder.path);
  const counted = (name: string) => table(root, name).getStats() as { entryCount: number; overflowPages: number };
  const [ofRecords, ofPieces] = [counted('records'), counted('pieces')];
  await root.close();
  return {
    overflow: ofRecords.overflowPages + ofPieces.overflowPages,
    chunks: ofPieces.entryCount,
    records: ofRecords.entryCount,
  };
}

describe('a large record in LMDB', () => {
  it('never asks for two pages side by side', async () => {
    const store = openLmdbRecordStore({ folder: folder.path });
    await store.commit({
      id: commitId(),
      put: sizes.map((size) => ({ key: key('of', String(size)), value: pattern(size, 'a') })),
    });
    await store.close();
    const { overflow, chunks, records } = await pages();
    expect(chunks).toBeGreaterThan(sizes.length);
    expect(overflow).toBeLessThanOrEqual(chunks + records);
  });

  it('comes back from a scan in either direction, between others, whatever was there before', async () => {
    const patient = new Patient(openLmdbRecordStore({ folder: folder.path }));
    for (const seed of ['a', 'b']) for (const size of sizes) await patient.put(bySize(size), pattern(size, seed));
    // Another size for each: the largest becomes the smallest, and so on.
    for (const [index, size] of sizes.toReversed().entries())
      await patient.put(bySize(sizes[index] ?? 0), pattern(size, 'c'));
    for (const reverse of [false, true]) {
      const found = await patient.scan({ ...within('of'), reverse });
      const values = found.map((item) => (item.kind === 'entry' ? item.value : undefined));
      const expected = sizes.toReversed().map((size) => pattern(size, 'c'));
      expect(values.map((value) => value?.length)).toEqual(
        (reverse ? expected.toReversed() : expected).map(({ length }) => length),
      );
      expect(
        values.every((value, index) =>
          (reverse ? expected.toReversed() : expected)[index]?.equals(value ?? Buffer.alloc(0)),
        ),
      ).toBe(true);
    }
    await patient.store.close();
  });

  it('takes its pieces with it when it is deleted, or is small from then on', async () => {
    const store = openLmdbRecordStore({ folder: folder.path });
    await store.commit({ id: commitId(), put: [put('a', 100_000), put('b', 100_000), put('c', 100_000)] });
    await store.commit({ id: commitId(), put: [put('a', 50_000)], delete: [key('b')] });
    await store.commit({ id: commitId(), put: [put('a', 10), put('c', 4_000)] });
    await store.close();
    expect(await pages()).toMatchObject({ chunks: 0, records: 2 });
  });

  it('is told from another of the same commit', async () => {
    const store = openLmdbRecordStore({ folder: folder.path });
    await store.commit({ id: commitId(), put: [put('a', 9_000), put('b', 9_000)] });
    const [a, b] = await store.getAll([key('a'), key('b')]);
    expect([a?.value, b?.value]).toEqual([pattern(9_000, 'a'), pattern(9_000, 'b')]);
    expect(a?.revision).toBe(b?.revision);
    await store.close();
  });

  it('that lacks a piece is refused, never given out in part', async () => {
    const first = openLmdbRecordStore({ folder: folder.path });
    await first.commit({ id: commitId(), put: [put('a', 9_000), put('b', 9_000)] });
    await first.close();
    const { root } = openEnvironment(folder.path);
    const chunks = table(root, 'pieces');
    const [lost] = [...chunks.getKeys({ limit: 1 })];
    await chunks.remove(lost ?? Buffer.alloc(0));
    await root.close();

    const store = openLmdbRecordStore({ folder: folder.path });
    await expect(store.get(key('a'))).rejects.toThrow(
      /record file is damaged: piece 0 .* is missing; restore a snapshot/,
    );
    await expect(new Patient(store).scan(within('a'))).rejects.toThrow('the record file is damaged');
    expect((await store.get(key('b')))?.value).toEqual(pattern(9_000, 'b'));
    await store.close();
  });

  it('is read, replaced and deleted as a server of folder format 1 wrote it: whole', async () => {
    await openLmdbRecordStore({ folder: folder.path }).close();
    const { root } = openEnvironment(folder.path);
    const records = table(root, 'records');
    for (const name of ['a', 'b', 'c'])
      await records.put(key(name), Buffer.concat([Buffer.from('0000000000000007', 'hex'), pattern(9_000, name)]));
    await root.close();

    const store = openLmdbRecordStore({ folder: folder.path });
    expect(await store.get(key('a'))).toMatchObject({ value: pattern(9_000, 'a'), revision: 7 });
    const replaced = await store.commit({
      id: commitId(),
      expect: [{ kind: 'revision', key: key('b'), revision: 7 }],
      put: [{ key: key('b'), value: pattern(9_000, 'new') }],
      delete: [key('c')],
    });
    expect(replaced.kind).toBe('committed');
    const [b, c] = await store.getAll([key('b'), key('c')]);
    expect(b?.value).toEqual(pattern(9_000, 'new'));
    expect(c).toBeUndefined();
    await store.close();
  });
});
