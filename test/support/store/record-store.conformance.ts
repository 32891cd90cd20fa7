import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VALUE_LIMIT, decodeCounter } from '../../../server/store/commits.ts';
import { endOf, key, KEY_LIMIT, within } from '../../../server/store/keys.ts';
import { describeConcurrency } from './record-concurrency.conformance.ts';
import { describeScans, everything, keysOf } from './record-scan.conformance.ts';
import { commitId, Patient } from './patient.ts';
import { commitsHavePlaces } from './places-of-commits.ts';
import { type Batch, type Key, type RecordStore } from '../../../server/store/record-store.ts';
import { isStoreError, isStoreUnavailable } from '../../../server/store/store-error.ts';

interface RecordEngine {
  /** A store over nothing. */
  open(): Promise<RecordStore>;
  /** Another store over the records of the last one opened, as a second replica has it. */
  another?(): Promise<RecordStore>;
  /** Frees what `open` made, after the store was closed. */
  clean?(): Promise<void>;
}

/** What `record-store.ts` says an implementer owes. */
export function describeRecordStore(name: string, engine: RecordEngine): void {
  describe(`record store: ${name}`, () => {
    let patient: Patient;

    commitsHavePlaces('unchecked');

    beforeEach(async () => {
      patient = new Patient(await engine.open());
    });

    afterEach(async () => {
      await patient.store.close();
      await engine.clean?.();
    });

    describe('records', () => {
      it('are absent before they are put', async () => {
        expect(await patient.get(key('a'))).toBeUndefined();
      });

      it('are read as they were put', async () => {
        await patient.put(key('a'), Buffer.from([0, 1, 255]));
        expect(await patient.get(key('a'))).toMatchObject({ key: key('a'), value: Buffer.from([0, 1, 255]) });
      });

      it('may have an empty value', async () => {
        await patient.put(key('a'), '');
        expect((await patient.get(key('a')))?.value).toEqual(Buffer.alloc(0));
      });

      it.each([1, 2_040, 4_064, 4_072, 4096, 8_130, 8_144, 32_760, 32_768, 40_000, 131_072, 1_000_003])(
        'of %i bytes come back whole',
        async (size) => {
          const value = Buffer.alloc(size, Buffer.from(`pattern of ${size}`));
          await patient.put(key('big'), value);
          expect((await patient.get(key('big')))?.value.equals(value)).toBe(true);
          const [item] = await patient.scan(within('big'));
          expect(item?.kind === 'entry' && item.value.equals(value)).toBe(true);
        },
      );

      it('keep a value that the caller read, whatever is read next', async () => {
        await patient.put(key('a'), 'first');
        await patient.put(key('b'), 'other');
        const first = await patient.get(key('a'));
        await patient.get(key('b'));
        await patient.put(key('a'), 'third');
        expect(first?.value.toString()).toBe('first');
      });

      it('are read several at once, in the order asked for, the absent ones and those asked for twice too', async () => {
        await patient.put(key('a'), '1');
        await patient.put(key('b'), '2');
        const entries = await patient.getAll([key('b'), key('none'), key('a'), key('b')]);
        expect(entries.map((entry) => entry?.value.toString())).toEqual(['2', undefined, '1', '2']);
        expect(entries[0]).toEqual(await patient.get(key('b')));
        expect(await patient.getAll([])).toEqual([]);
      });

      it('that change in one commit are never read half changed', async () => {
        const keys = [key('left'), key('right')];
        const put = (value: string) =>
          patient.commit(() => ({ put: keys.map((one) => ({ key: one, value: Buffer.from(value) })) }));
        await put('0');
        const progress = { writing: true };
        const writer = (async () => {
          for (let round = 1; round <= 50; round += 1) await put(String(round));
          progress.writing = false;
        })();
        while (progress.writing) {
          // Reading may be done within the turn: the writer needs one too.
          await new Promise((resolve) => setImmediate(resolve));
          const [left, right] = (await patient.getAll(keys)).map((entry) => entry?.value.toString());
          expect(left).toBe(right);
        }
        await writer;
      });

      it('take the value as it was when the commit was made', async () => {
        const value = Buffer.from('before');
        const committing = patient.store
          .commit({ id: commitId(), put: [{ key: key('a'), value }] })
          .catch(() => undefined);
        value.fill('x');
        await committing;
        // Absent where the engine lost the commit.
        expect(['before', undefined]).toContain((await patient.get(key('a')))?.value.toString());
      });

      it('are gone once deleted', async () => {
        await patient.put(key('a'), '1');
        await patient.delete(key('a'));
        expect(await patient.get(key('a'))).toBeUndefined();
      });

      it('may be deleted though absent', async () => {
        await patient.delete(key('a'));
        expect(await patient.get(key('a'))).toBeUndefined();
      });
    });

    describe('limits', () => {
      it(`takes a key of ${KEY_LIMIT} bytes and a value of ${VALUE_LIMIT}`, async () => {
        const longest = Buffer.alloc(KEY_LIMIT, 0xff);
        await patient.put(longest, Buffer.alloc(VALUE_LIMIT, 7));
        expect((await patient.get(longest))?.value.length).toBe(VALUE_LIMIT);
        expect(await keysOf(patient, { start: Buffer.alloc(0), end: endOf(Buffer.alloc(0)) })).toEqual([longest]);
      });

      it.each([
        ['an empty key', { put: [{ key: Buffer.alloc(0), value: Buffer.alloc(1) }] }],
        ['a key too long', { delete: [Buffer.alloc(KEY_LIMIT + 1)] }],
        ['an expected key too long', { expect: [{ kind: 'absent' as const, key: Buffer.alloc(KEY_LIMIT + 1) }] }],
        ['a value too long', { put: [{ key: key('a'), value: Buffer.alloc(VALUE_LIMIT + 1) }] }],
        ['one key changed twice', { put: [{ key: key('a'), value: Buffer.alloc(1) }], delete: [key('a')] }],
      ])('refuses %s', async (_what, batch) => {
        await expect(patient.store.commit({ id: commitId(), ...batch })).rejects.toThrow(RangeError);
      });
    });

    describe('expectations', () => {
      it('hold for the revision that was read', async () => {
        await patient.put(key('a'), '1');
        await patient.commit(async () => ({
          expect: [await revisionOf(patient, key('a'))],
          put: [{ key: key('a'), value: Buffer.from('2') }],
        }));
        expect((await patient.get(key('a')))?.value.toString()).toBe('2');
      });

      it('refuse a revision that is no longer the key’s, and name the key', async () => {
        await patient.put(key('a'), '1');
        const stale = await revisionOf(patient, key('a'));
        await patient.put(key('a'), '2');
        const answer = await patient.attempt({ expect: [stale], put: [{ key: key('b'), value: Buffer.from('x') }] });
        expect(answer).toEqual({ kind: 'conflict', key: key('a') });
        expect(await patient.get(key('b'))).toBeUndefined();
      });

      it('refuse a revision of a key that was deleted', async () => {
        await patient.put(key('a'), '1');
        const stale = await revisionOf(patient, key('a'));
        await patient.delete(key('a'));
        expect((await patient.attempt({ expect: [stale], delete: [key('a')] })).kind).toBe('conflict');
      });

      it('refuse absence of a key that is there', async () => {
        await patient.put(key('a'), '1');
        const answer = await patient.attempt({
          expect: [{ kind: 'absent', key: key('a') }],
          put: [{ key: key('a'), value: Buffer.from('2') }],
        });
        expect(answer).toEqual({ kind: 'conflict', key: key('a') });
        expect((await patient.get(key('a')))?.value.toString()).toBe('1');
      });

      it('let exactly one of many win who all expect absence', async () => {
        const answers = await Promise.all(
          Array.from({ length: 20 }, async (_, index) => {
            const value = Buffer.from(String(index));
            // A conflict may be made up, so each asks until it has won or sees a winner.
            for (;;) {
              const answer = await patient.attempt({
                expect: [{ kind: 'absent', key: key('lock') }],
                put: [{ key: key('lock'), value }],
              });
              if (answer.kind === 'committed') return true;
              if ((await patient.get(key('lock'))) !== undefined) return false;
            }
          }),
        );
        expect(answers.filter(Boolean)).toHaveLength(1);
        expect((await patient.get(key('lock')))?.value.toString()).toBe(String(answers.indexOf(true)));
      });

      it('refuse write skew: of two batches that expect what the other changes, one loses', async () => {
        for (let round = 0; round < 20; round += 1) {
          const [left, right] = [key('left', String(round)), key('right', String(round))];
          await patient.put(left, 'on duty');
          await patient.put(right, 'on duty');
          const leaves = async (own: Key, other: Key) => {
            const entry = await patient.get(other);
            if (entry?.value.toString() !== 'on duty') return;
            const expectation = { kind: 'revision' as const, key: other, revision: entry.revision };
            await patient.attempt({ expect: [expectation], put: [{ key: own, value: Buffer.from('gone') }] });
          };
          await Promise.all([leaves(left, right), leaves(right, left)]);
          const still = [await patient.get(left), await patient.get(right)].map((entry) => entry?.value.toString());
          expect(still).toContain('on duty');
        }
      });

      it('let no object slip into a bucket while it is deleted', async () => {
        for (let round = 0; round < 20; round += 1) {
          const bucket = key('b', String(round));
          const object = key('o', String(round), 'object');
          await patient.put(bucket, 'live');
          const expectLive = await revisionOf(patient, bucket);
          const putting = patient.attempt({ expect: [expectLive], put: [{ key: object, value: Buffer.from('x') }] });
          const deleting = (async () => {
            const marked = await patient.attempt({
              expect: [expectLive],
              put: [{ key: bucket, value: Buffer.from('deleting') }],
            });
            if (marked.kind === 'conflict') return;
            const expectMarked = await revisionOf(patient, bucket);
            if ((await keysOf(patient, within('o', String(round)))).length > 0) return;
            await patient.attempt({ expect: [expectMarked], delete: [bucket] });
          })();
          await Promise.all([putting, deleting]);
          expect((await patient.get(object)) !== undefined && (await patient.get(bucket)) === undefined).toBe(false);
        }
      });
    });

    describe('revisions', () => {
      it('grow with every change of a key, also across its deletion', async () => {
        const seen: number[] = [];
        for (let round = 0; round < 5; round += 1) {
          await patient.put(key('a'), String(round));
          seen.push((await patient.get(key('a')))?.revision ?? Number.NaN);
          if (round % 2 === 1) await patient.delete(key('a'));
        }
        expect(seen).toEqual(seen.toSorted((left, right) => left - right));
        expect(new Set(seen).size).toBe(seen.length);
      });

      it('are what the commit answered', async () => {
        for (let tries = 0; ; tries += 1) {
          const outcome = await patient.store
            .commit({ id: commitId(), put: [{ key: key('a'), value: Buffer.from(String(tries)) }] })
            .catch(() => undefined);
          if (outcome?.kind !== 'committed') continue;
          expect(await patient.get(key('a'))).toMatchObject({ revision: outcome.revision });
          return;
        }
      });

      it('are the same in a scan', async () => {
        await patient.put(key('a'), '1');
        const [item] = await patient.scan(within('a'));
        expect(item).toEqual({ kind: 'entry', ...(await patient.get(key('a'))) });
      });
    });

    describe('counters', () => {
      it('count an absent key as 0, and below it', async () => {
        await patient.commit(() => ({ add: [{ key: key('n'), delta: -3n }] }));
        expect(decodeCounter((await patient.get(key('n')))?.value)).toBe(-3n);
      });

      it('keep every one of many additions at once', async () => {
        await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            patient.commit(() => ({ add: [{ key: key('n'), delta: BigInt(index) }] })),
          ),
        );
        expect(decodeCounter((await patient.get(key('n')))?.value)).toBe(1225n);
      });

      it('hold more than a double can', async () => {
        await patient.commit(() => ({ add: [{ key: key('n'), delta: 2n ** 60n }] }));
        await patient.commit(() => ({ add: [{ key: key('n'), delta: 1n }] }));
        expect(decodeCounter((await patient.get(key('n')))?.value)).toBe(2n ** 60n + 1n);
      });

      describe('with a maximum', () => {
        it('reach it, and conflict above it without a change of the batch', async () => {
          expect(await patient.attempt(add(4n, 5n))).toMatchObject({ kind: 'committed' });
          const put = [{ key: key('other'), value: Buffer.from('x') }];
          expect(await patient.attempt({ ...add(2n, 5n), put })).toEqual({ kind: 'conflict', key: key('n') });
          expect(await patient.get(key('other'))).toBeUndefined();
          expect(await patient.attempt({ ...add(1n, 5n), put })).toMatchObject({ kind: 'committed' });
          expect(decodeCounter((await patient.get(key('n')))?.value)).toBe(5n);
        });

        it('conflict at the first addition', async () => {
          expect(await patient.attempt(add(6n, 5n))).toEqual({ kind: 'conflict', key: key('n') });
          expect(await patient.get(key('n'))).toBeUndefined();
        });

        it('are never above it, however many add at once', async () => {
          const outcomes = await Promise.all(Array.from({ length: 64 }, () => patient.attempt(add(3n, 100n))));
          const committed = outcomes.filter(({ kind }) => kind === 'committed').length;
          expect(committed).toBe(33);
          expect(decodeCounter((await patient.get(key('n')))?.value)).toBe(99n);
        });

        it('count what other batches free', async () => {
          await patient.commit(() => add(5n, 5n));
          await patient.commit(() => ({ add: [{ key: key('n'), delta: -5n }] }));
          expect(await patient.attempt(add(5n, 5n))).toMatchObject({ kind: 'committed' });
        });

        it('are refused below 0', async () => {
          await expect(patient.attempt(add(1n, -1n))).rejects.toThrow(RangeError);
        });
      });

      it('refuse a value that is none, and change nothing of the batch', async () => {
        await patient.put(key('n'), 'text');
        await expect(
          patient.attempt({
            put: [{ key: key('other'), value: Buffer.from('x') }],
            add: [{ key: key('n'), delta: 1n }],
          }),
        ).rejects.toThrow(RangeError);
        expect(await patient.get(key('other'))).toBeUndefined();
      });
    });

    describeScans(() => patient);

    describeConcurrency(() => patient, engine.another && (() => engine.another?.() ?? engine.open()));

    describe('lost acknowledgements', () => {
      it('tell a commit that took effect from one that did not, and never change their mind', async () => {
        for (let round = 0; round < 30; round += 1) {
          const id = commitId();
          const at = key('round', String(round));
          const outcome = await patient.store
            .commit({ id, put: [{ key: at, value: Buffer.from('x') }] })
            .catch((error: unknown) => {
              if (isStoreUnavailable(error)) return { kind: 'unavailable' as const };
              throw error;
            });
          if (outcome.kind === 'unavailable') continue;
          const settled = await eventually(() => patient.store.outcome(id));
          if (outcome.kind !== 'unknown')
            expect(settled).toBe(outcome.kind === 'committed' ? 'committed' : 'not-committed');
          expect((await patient.get(at)) !== undefined).toBe(settled === 'committed');
        }
      });

      it('rule a commit out once its outcome was answered so', async () => {
        const id = commitId();
        expect(await eventually(() => patient.store.outcome(id))).toBe('not-committed');
        await patient.store.commit({ id, put: [{ key: key('a'), value: Buffer.from('x') }] }).catch(() => undefined);
        expect(await patient.get(key('a'))).toBeUndefined();
      });
    });

    describe('closed', () => {
      it('refuses everything', async () => {
        await patient.store.close();
        const refusal = expect.objectContaining({ name: 'StoreError', code: 'closed' });
        await expect(patient.store.get(key('a'))).rejects.toEqual(refusal);
        await expect(patient.store.commit({ id: commitId() })).rejects.toEqual(refusal);
        await expect(Array.fromAsync(patient.store.scan(everything))).rejects.toEqual(refusal);
      });
    });
  });
}

async function revisionOf(patient: Patient, key: Key) {
  return { kind: 'revision' as const, key, revision: (await patient.get(key))?.revision ?? Number.NaN };
}

async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isStoreError(error, 'unreachable')) throw error;
    }
  }
}

function add(delta: bigint, max: bigint): Omit<Batch, 'id'> {
  return { add: [{ key: key('n'), delta, max }] };
}
