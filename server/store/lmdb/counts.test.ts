import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commitId } from '../../../test/support/store/patient.ts';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { key } from '../keys.ts';
import { encodeCount, type RecordCount, RecordTally } from '../record-counts.ts';
import type { Batch, RecordStore } from '../record-store.ts';
import { countRecords } from './counts.ts';
import { openEnvironment } from './environment.ts';
import { openLmdbRecordStore } from './record-store.ts';
import { commitsHavePlaces } from '../../../test/support/store/places-of-commits.ts';

commitsHavePlaces('unchecked');

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

const shown = (counts: readonly RecordCount[] | undefined) =>
  counts
    ?.filter(({ records }) => records > 0)
    .map(({ group, ...count }) => [group.toString('latin1'), encodeCount(count).toString('hex')].join(': '))
    .sort();

/** Counts the records as a reader of all of them finds them. */
async function scanned(records: RecordStore): Promise<readonly RecordCount[]> {
  const tally = new RecordTally();
  for await (const item of records.scan({ start: Buffer.of(0), end: Buffer.alloc(100, 0xff) })) {
    if (item.kind === 'entry') tally.add(item.key, item.revision, item.value.length);
  }
  return tally.counts();
}

const name = fc.constantFrom(
  key('o', 'one', 'a'),
  key('o', 'one', 'b'),
  key('o', 'two', 'a'),
  key('i', 'one', 'a'),
  key('r', 'ff00'),
  key('system', 'x'),
  key('v'),
);
const number = fc.constantFrom(key('n', 'one'), key('n', 'two'));
const change = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), name, length: fc.constantFrom(0, 10, 500, 20_000) }),
  fc.record({ kind: fc.constant('delete' as const), name }),
  fc.record({ kind: fc.constant('add' as const), name: number }),
);

function batchOf(changes: readonly (typeof change extends fc.Arbitrary<infer T> ? T : never)[]): Batch {
  const names = new Set<string>();
  const fresh = changes.filter(({ name: one }) => {
    const isNew = !names.has(one.toString('hex'));
    names.add(one.toString('hex'));
    return isNew;
  });
  return {
    id: commitId(),
    put: fresh.flatMap((one) => (one.kind === 'put' ? [{ key: one.name, value: Buffer.alloc(one.length) }] : [])),
    delete: fresh.flatMap((one) => (one.kind === 'delete' ? [one.name] : [])),
    add: fresh.flatMap((one) => (one.kind === 'add' ? [{ key: one.name, delta: 1n }] : [])),
  };
}

describe('the counts of records', () => {
  it('are those that a reader of all records finds, after any commits', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 1, maxLength: 5 }), { maxLength: 20 }),
        async (groups) => {
          const own = await temporaryFolder();
          const records = openLmdbRecordStore({ folder: own.path });
          try {
            await Promise.all(groups.map((changes) => records.commit(batchOf(changes))));
            expect(shown(await records.counts?.())).toEqual(shown(await scanned(records)));
          } finally {
            await records.close();
            await own.remove();
          }
        },
      ),
      { numRuns: 50 },
    );
  }, 360_000);

  it('are not told where a server without them wrote, until all records are counted', async () => {
    const records = openLmdbRecordStore({ folder: folder.path });
    await records.commit({ id: commitId(), put: [{ key: key('o', 'b', 'k'), value: Buffer.alloc(20_000) }] });
    await records.close();
    const older = openEnvironment(folder.path);
    // Such a server writes the sequence without the mark.
    await older.root.put(Buffer.from('sequence'), Buffer.from('0000000000000005', 'hex'));
    await older.root.close();
    const again = openLmdbRecordStore({ folder: folder.path });
    expect(await again.counts?.()).toBeUndefined();
    await again.commit({ id: commitId(), put: [{ key: key('o', 'b', 'l'), value: Buffer.alloc(10) }] });
    expect(await again.counts?.()).toBeUndefined();
    await again.close();
    countRecords(folder.path);
    const counted = openLmdbRecordStore({ folder: folder.path });
    expect(shown(await counted.counts?.())).toEqual(shown(await scanned(counted)));
    await counted.commit({ id: commitId(), delete: [key('o', 'b', 'k')] });
    expect(shown(await counted.counts?.())).toEqual(shown(await scanned(counted)));
    await counted.close();
  });
});
