import { beforeEach, describe, expect, it } from 'vitest';
import { inFullForm } from '../../../test/support/full-form.ts';
import { put, testLayer, type TestLayer } from '../../../test/support/objects/test-layer.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { decodeObject } from '../../objects/records/object-record.ts';
import { versionPass } from './version-pass.ts';

let test: TestLayer;
beforeEach(async () => {
  test = testLayer();
  await test.layer.createBucket('bucket', { location: '' });
  await test.layer.putBucketVersioning('bucket', { status: 'Enabled' });
});

const write = async (key: string) => (await test.layer.putObject(put('bucket', key, 'x'))).versionId ?? '';
const remove = (key: string, versionId: string) => test.layer.deleteObject('bucket', key, { versionId });

/** The versions that a pass visits, while `during` moves some between the tables after each of them. */
async function visited(during: (step: number) => Promise<void>): Promise<Set<string>> {
  const found = new Set<string>();
  let step = 0;
  for await (const { entry, place } of versionPass(test.records, {}, undefined)) {
    found.add(decodeObject(entry.value, place.bucket, place.key).versionId ?? 'null');
    await during((step += 1));
    if (step > 10_000) throw new Error('the pass does not end');
  }
  return found;
}

describe('a pass over all versions', () => {
  it('visits each version once where nothing becomes current again', async () => {
    const all = [await write('a'), await write('a'), await write('b')];
    let steps = 0;
    const found = await visited(async () => {
      steps += 1;
    });
    expect([...found].toSorted()).toEqual(all.toSorted());
    expect(steps).toBe(all.length);
  });

  it('waits for the rate of all walks, with every 256 records of a table', async () => {
    for (let at = 0; at < 600; at += 1) await write(`${at}`);
    const read: number[] = [];
    const reads = async (records: number) => void read.push(records);
    for await (const _ of versionPass(test.records, {}, undefined, reads));
    expect(read).toEqual([256, 256]);
  });

  it('visits a version that moves twice: it becomes current behind the pass, and is replaced before the pass comes again', async () => {
    for (const key of ['a', 'b']) await write(key);
    await write('b');
    const moving = await write('z');
    const newer = await write('z');
    const found = await visited(async (step) => {
      // The three current objects were visited, and then the noncurrent version of b.
      if (step === 3) await remove('z', newer);
      if (step === 4) await write('z');
    });
    expect(found).toContain(moving);
  });

  it('visits every version that was there all the time, however versions move', async () => {
    for (let seed = 1; seed <= inFullForm(40, 8); seed += 1) {
      const random = new SeededRandom(seed);
      const keys = Array.from({ length: 6 }, (_, at) => `${seed}/${at}`);
      const oldest = await Promise.all(keys.map(write));
      const newest = new Map<string, string>();
      const found = await visited(async (step) => {
        if (step > 300) return;
        const key = keys[random.between(0, keys.length - 1)] ?? '';
        const current = newest.get(key);
        if (current === undefined) newest.set(key, await write(key));
        else {
          newest.delete(key);
          await remove(key, current);
        }
      });
      expect(
        oldest.filter((id) => !found.has(id)),
        `seed ${seed}`,
      ).toEqual([]);
    }
  });

  it('gives up where versions move faster than it reads', async () => {
    await write('a');
    let newest = await write('a');
    const moving = visited(async () => {
      await remove('a', newest);
      newest = await write('a');
    });
    await expect(moving).rejects.toMatchObject({ code: 'versions-move' });
  });
});
