import { beforeEach, describe, expect, it } from 'vitest';
import { decodeCounter } from '../../../server/store/commits.ts';
import { key, within } from '../../../server/store/keys.ts';
import { type Answer, Patient } from './patient.ts';
import type { Expectation, Key, RecordStore } from '../../../server/store/record-store.ts';

/**
 * The part of the record stores' conformance that concerns many at once. `another` opens a second store over the same records, as a
 * second replica does; engines that have none run the same tests through one store.
 */
export function describeConcurrency(current: () => Patient, another?: () => Promise<RecordStore>): void {
  describe('many at once', () => {
    let first: Patient;
    let second: Patient;

    beforeEach(async () => {
      first = current();
      second = another === undefined ? first : new Patient(await another());
      return async () => {
        if (second !== first) await second.store.close();
      };
    });

    it('read through one store what another was answered', async () => {
      for (let round = 0; round < 30; round += 1) {
        const [writer, reader] = round % 2 === 0 ? [first, second] : [second, first];
        await writer.put(key('a'), String(round));
        expect((await reader.get(key('a')))?.value.toString()).toBe(String(round));
        expect((await reader.scan(within('a'))).length).toBe(1);
        expect((await reader.getAll([key('a')]))[0]?.value.toString()).toBe(String(round));
      }
    });

    it('never both commit when each expects the absence of what the other puts', async () => {
      for (let round = 0; round < 50; round += 1) {
        const [left, right] = [key('left', String(round)), key('right', String(round))];
        await Promise.all([putUnless(first, left, right), putUnless(second, right, left)]);
        const found = await first.getAll([left, right]);
        expect(found.filter((entry) => entry !== undefined).length).toBeLessThan(2);
      }
    });

    it('never all commit when each expects the absence of what the next puts', async () => {
      for (let round = 0; round < 30; round += 1) {
        const keys = Array.from({ length: 5 }, (_, index) => key('ring', String(round), String(index)));
        await Promise.all(
          keys.map((own, index) =>
            putUnless(index % 2 === 0 ? first : second, own, keys[(index + 1) % keys.length] ?? own),
          ),
        );
        // In any order of the five the first one's neighbour is refused, or one further on.
        const found = await first.getAll(keys);
        expect(found.filter((entry) => entry !== undefined).length).toBeLessThan(keys.length);
      }
    });

    it('never both commit when each changes the record that the other expects', async () => {
      for (let round = 0; round < 30; round += 1) {
        const [left, right] = [key('left', String(round)), key('right', String(round))];
        await first.commit(() => ({ put: [left, right].map((one) => ({ key: one, value: Buffer.from('on duty') })) }));
        await Promise.all([leave(first, left, right), leave(second, right, left)]);
        const still = (await first.getAll([left, right])).map((entry) => entry?.value.toString());
        expect(still).toContain('on duty');
      }
    });

    it('commit side by side when they expect the same record and change others', async () => {
      await first.put(key('bucket'), 'live');
      const bucket = await first.get(key('bucket'));
      const expected: Expectation = { kind: 'revision', key: key('bucket'), revision: bucket?.revision ?? 0 };
      await Promise.all(
        Array.from({ length: 60 }, async (_, index) => {
          const put = [{ key: key('object', String(index)), value: Buffer.from('x') }];
          // A conflict may be made up by an engine that fails on purpose.
          while ((await (index % 2 ? first : second).attempt({ expect: [expected], put })).kind === 'conflict');
        }),
      );
      expect((await second.scan(within('object'))).length).toBe(60);
    });

    it('lose no change of a record that all read, change and put back', async () => {
      await first.put(key('sum'), '0');
      await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          (index % 2 ? first : second).commit(async (store) => {
            const entry = await store.get(key('sum'));
            const value = Buffer.from(String(Number(entry?.value.toString()) + 1));
            return {
              expect: [{ kind: 'revision', key: key('sum'), revision: entry?.revision ?? 0 }],
              put: [{ key: key('sum'), value }],
            };
          }),
        ),
      );
      expect((await first.get(key('sum')))?.value.toString()).toBe('24');
    });

    it('give a record that is put and deleted by many revisions that only grow', async () => {
      const progress = { writing: true };
      const seen: number[] = [];
      const reader = (async () => {
        while (progress.writing) {
          await new Promise((resolve) => setImmediate(resolve));
          const entry = await second.get(key('a'));
          if (entry !== undefined) seen.push(entry.revision);
        }
      })();
      await Promise.all(
        Array.from({ length: 8 }, async (_, index) => {
          const store = index % 2 ? first : second;
          for (let round = 0; round < 15; round += 1) {
            if ((round + index) % 3 === 0) await store.delete(key('a'));
            else await store.put(key('a'), `${index} ${round}`);
          }
        }),
      );
      progress.writing = false;
      await reader;
      expect(seen).toEqual(seen.toSorted((left, right) => left - right));
    });

    it('add to new counters and old ones in any order, beside their other changes', async () => {
      await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          (index % 2 ? first : second).commit(() => ({
            put: [{ key: key('object', String(index)), value: Buffer.from('x') }],
            add: [
              { key: key('count', String(index % 3)), delta: 1n },
              { key: key('total'), delta: BigInt(index) },
            ],
          })),
        ),
      );
      const counters = await first.getAll([key('count', '0'), key('count', '1'), key('count', '2'), key('total')]);
      expect(counters.map((entry) => decodeCounter(entry?.value))).toEqual([20n, 20n, 20n, 1770n]);
    });

    it('put many records at once, or nothing of a batch, whatever the others do', async () => {
      const keys = Array.from({ length: 20 }, (_, index) => key('row', String(index).padStart(2, '0')));
      await Promise.all(
        Array.from({ length: 12 }, async (_, index) => {
          const ordered = index % 2 ? keys : keys.toReversed();
          const value = Buffer.from(`writer ${index}`);
          await (index % 2 ? first : second).commit(() => ({ put: ordered.map((one) => ({ key: one, value })) }));
        }),
      );
      const values = new Set((await first.getAll(keys)).map((entry) => entry?.value.toString()));
      expect(values.size).toBe(1);
      const revisions = new Set((await first.getAll(keys)).map((entry) => entry?.revision));
      expect(revisions.size).toBe(1);
    });
  });
}

function putUnless(store: Patient, own: Key, other: Key): Promise<Answer> {
  return store.attempt({ expect: [{ kind: 'absent', key: other }], put: [{ key: own, value: Buffer.from('x') }] });
}

async function leave(store: Patient, own: Key, other: Key): Promise<Answer | undefined> {
  const entry = await store.get(other);
  if (entry?.value.toString() !== 'on duty') return undefined;
  const expected: Expectation = { kind: 'revision', key: other, revision: entry.revision };
  return store.attempt({ expect: [expected], put: [{ key: own, value: Buffer.from('gone') }] });
}
