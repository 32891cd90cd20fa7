import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { endOf, escape, key, partialPrefix, within } from '../../../server/store/keys.ts';
import { MemoryRecordStore } from '../../../server/store/memory/record-store.ts';
import { Patient } from './patient.ts';
import type { Entry, Key, ScanItem, ScanRange } from '../../../server/store/record-store.ts';

export const everything = { start: Buffer.alloc(0), end: endOf(Buffer.alloc(0)) };

/** The part of the record stores' conformance that concerns scans. */
export function describeScans(current: () => Patient): void {
  describe('scans', () => {
    let patient: Patient;

    beforeEach(() => {
      patient = current();
    });

    it('find nothing in an empty store, in an empty range and in a range whose end is before its start', async () => {
      expect(await patient.scan(within('a'))).toEqual([]);
      await patient.put(key('a'), '1');
      expect(await patient.scan({ start: key('b'), end: endOf(key('b')) })).toEqual([]);
      expect(await patient.scan({ start: key('a'), end: key('a') })).toEqual([]);
      expect(await patient.scan({ start: key('b'), end: key('a') })).toEqual([]);
      expect(await patient.scan({ start: key('b'), end: key('a'), reverse: true })).toEqual([]);
    });

    it('include their start and exclude their end, in both directions', async () => {
      for (const name of ['a', 'b', 'c']) await patient.put(key(name), name);
      const range = { start: key('a'), end: key('c') };
      expect(await keysOf(patient, range)).toEqual([key('a'), key('b')]);
      expect(await keysOf(patient, { ...range, reverse: true })).toEqual([key('b'), key('a')]);
    });

    it('order keys as bytes, not as text', async () => {
      // By UTF-16 the second sorts before the first.
      const names = ['\uffee', '\u{1f600}', 'Z', 'a', 'ä'];
      for (const name of names) await patient.put(key(name), name);
      const ordered = names
        .toSorted((left, right) => Buffer.from(left).compare(Buffer.from(right)))
        .map((name) => key(name));
      expect(await keysOf(patient, everything)).toEqual(ordered);
    });

    it('go through more records than one page holds', async () => {
      const names = Array.from({ length: 700 }, (_, index) => String(index).padStart(4, '0'));
      await patient.commit(() => ({ put: names.map((name) => ({ key: key(name), value: Buffer.from(name) })) }));
      const keys = names.map((name) => key(name).toString('hex'));
      const found = async (range: ScanRange) => (await keysOf(patient, range)).map((one) => one.toString('hex'));
      expect(await found(everything)).toEqual(keys);
      expect(await found({ ...everything, reverse: true })).toEqual(keys.toReversed());
      expect(await found({ ...everything, limit: 300 })).toEqual(keys.slice(0, 300));
    });

    it('collapse the keys below a delimiter into one group each', async () => {
      for (const name of ['a', 'd/1', 'd/2/x', 'd!', 'e/', 'f//g', 'other']) await patient.put(key('o', name), name);
      expect(await names(patient, 'o', '', '/')).toEqual(['a', 'd!', '[d/]', '[e/]', '[f/]', 'other']);
      expect(await names(patient, 'o', 'd/', '/')).toEqual(['d/1', '[d/2/]']);
      expect(await names(patient, 'o', 'f/', '/')).toEqual(['[f//]']);
    });

    it('collapse by a delimiter of several characters', async () => {
      for (const name of ['a--b', 'a-b', 'a--c']) await patient.put(key('o', name), name);
      expect(await names(patient, 'o', '', '--')).toEqual(['[a--]', 'a-b']);
    });

    it('see no delimiter in a later part of the key', async () => {
      await patient.put(key('v', 'object', Buffer.from('/')), 'x');
      const prefix = partialPrefix('v', '');
      const items = await patient.scan({
        start: prefix,
        end: endOf(prefix),
        collapse: { prefix, delimiter: escape('/') },
      });
      expect(items.map((item) => item.kind)).toEqual(['entry']);
    });

    it('collapse groups of many keys, and many groups, across pages', async () => {
      const put: { key: Key; value: Buffer }[] = [];
      for (let group = 0; group < 300; group += 1) {
        for (let index = 0; index < (group % 40 === 0 ? 60 : 1); index += 1) {
          put.push({ key: key('o', `${String(group).padStart(3, '0')}/${index}`), value: Buffer.from('x') });
        }
      }
      await patient.commit(() => ({ put }));
      expect(await names(patient, 'o', '', '/')).toEqual(
        Array.from({ length: 300 }, (_, group) => `[${String(group).padStart(3, '0')}/]`),
      );
    });

    it('collapse groups larger than a page, many small ones, and what is in none, one after the other', async () => {
      const all = [
        ...numbered('a/#', 1300),
        ...numbered('b/#', 1100),
        ...numbered('c#/x', 250).flatMap((name) => [name, `${name}y`, `${name}z`, `${name}\u0000`, `${name}\u00ff`]),
        ...numbered('d#', 1200),
        ...numbered('e/#', 50),
        'f',
      ];
      await patient.commit(() => ({ put: all.map((name) => ({ key: key('o', name), value: Buffer.from(name) })) }));
      const expected = ['[a/]', '[b/]', ...numbered('[c#/]', 250), ...numbered('d#', 1200), '[e/]', 'f'];
      expect(await names(patient, 'o', '', '/')).toEqual(expected);
    });

    it('count a group as one of the limit, and go on after it', async () => {
      for (const name of ['a/1', 'a/2', 'b', 'c/1', 'd']) await patient.put(key('o', name), name);
      const prefix = partialPrefix('o', '');
      const collapse = { prefix, delimiter: escape('/') };
      const page = await patient.scan({ start: prefix, end: endOf(prefix), limit: 1, collapse });
      expect(page).toEqual([{ kind: 'group', prefix: partialPrefix('o', 'a/') }]);
      const next = await patient.scan({
        start: endOf(partialPrefix('o', 'a/')),
        end: endOf(prefix),
        limit: 2,
        collapse,
      });
      expect(next.map(nameOf)).toEqual(['b', '[c/]']);
    });

    it('come by the page as they come one by one', async () => {
      const all = [...numbered('a#', 1500), ...numbered('b/#', 30), ...numbered('c#/x', 20)];
      await patient.commit(() => ({ put: all.map((name) => ({ key: key('o', name), value: Buffer.from(name) })) }));
      const prefix = partialPrefix('o', '');
      const collapse = { prefix, delimiter: escape('/') };
      for (const more of [{}, { reverse: true }, { collapse }, { limit: 1 }, { limit: 1200, collapse }, { limit: 0 }]) {
        const range = { start: prefix, end: endOf(prefix), ...more };
        // As texts: to compare 1,550 items byte by byte takes 50 times as long.
        expect((await patient.scanByPages(range)).map(textOf)).toEqual((await patient.scan(range)).map(textOf));
      }
    });

    it("give out bytes that are the caller's to keep", async () => {
      const all = numbered('#', 1500);
      const put = all.map((name, index) => ({ key: key('o', name), value: Buffer.alloc(index % 100, name) }));
      await patient.commit(() => ({ put }));
      const first = await patient.scan(within('o'));
      await patient.scan(within('o'));
      await patient.get(key('o', '0007'));
      // By number: the difference of 1,500 buffers takes minutes to print.
      const changed = first.filter(
        (item, index) =>
          item.kind !== 'entry' || put[index]?.key.equals(item.key) !== true || !put[index].value.equals(item.value),
      );
      expect([first.length, changed.length]).toEqual([1500, 0]);
    });

    it('find values of any size', async () => {
      const sizes = [0, 1, 4_000, 32_768, 40_000, 200_000, 3_000_000, 5];
      const put = sizes.map((size, index) => ({ key: key('o', String(index)), value: Buffer.alloc(size, index + 1) }));
      await patient.commit(() => ({ put }));
      const found = await patient.scan(within('o'));
      expect(
        found.map(
          (item) => item.kind === 'entry' && item.value.equals(put[found.indexOf(item)]?.value ?? Buffer.of(0)),
        ),
      ).toEqual(sizes.map(() => true));
    });

    it('refuse to collapse in reverse', async () => {
      const collapse = { prefix: Buffer.from('a'), delimiter: Buffer.from('/') };
      await expect(patient.scan({ ...everything, reverse: true, collapse })).rejects.toThrow(RangeError);
    });

    it('answer as an exact model does, for any keys and ranges', async () => {
      const bytes = fc
        .array(fc.constantFrom(0x00, 0x2f, 0x61, 0xfe, 0xff), { minLength: 1, maxLength: 4 })
        .map((list) => Buffer.from(list));
      const range: fc.Arbitrary<ScanRange> = fc
        .record({
          start: bytes,
          end: bytes,
          limit: fc.integer({ min: 0, max: 12 }),
          direction: fc.oneof(
            fc.record({ reverse: fc.boolean() }),
            fc.record({ collapse: fc.record({ prefix: bytes, delimiter: fc.constant(Buffer.from('/')) }) }),
          ),
        })
        .map(({ direction, ...bounds }) => ({ ...bounds, ...direction }));
      await fc.assert(
        fc.asyncProperty(
          fc.array(bytes, { maxLength: 20 }),
          fc.array(range, { minLength: 1, maxLength: 6 }),
          async (keys, ranges) => {
            const model = new Patient(new MemoryRecordStore({ places: 'unchecked' }));
            const put = [...new Map(keys.map((key) => [key.toString('hex'), { key, value: key }])).values()];
            const old = await keysOf(patient, everything);
            await patient.commit(() => ({ delete: old }));
            await patient.commit(() => ({ put }));
            await model.commit(() => ({ put }));
            for (const one of ranges) {
              expect((await patient.scan(one)).map(withoutRevision)).toEqual(
                (await model.scan(one)).map(withoutRevision),
              );
            }
          },
        ),
        { numRuns: 40 },
      );
    });
  });
}

export async function keysOf(patient: Patient, range: ScanRange): Promise<Key[]> {
  return (await patient.scan(range)).map((item) => (item.kind === 'entry' ? item.key : item.prefix));
}

/** Names below a bucket as a listing shows them, groups in brackets. */
async function names(patient: Patient, bucket: string, start: string, delimiter: string): Promise<string[]> {
  const prefix = partialPrefix(bucket, start);
  const range = { start: prefix, end: endOf(prefix), collapse: { prefix, delimiter: escape(delimiter) } };
  return (await patient.scan(range)).map(nameOf);
}

function nameOf(item: ScanItem): string {
  return item.kind === 'entry'
    ? item.value.toString()
    : `[${item.prefix.subarray(partialPrefix('o', '').length).toString()}]`;
}

function textOf(item: ScanItem): string {
  return item.kind === 'entry'
    ? `${item.key.toString('latin1')} ${item.revision} ${item.value.toString('latin1')}`
    : `[${item.prefix.toString('latin1')}]`;
}

function withoutRevision(item: ScanItem): Omit<Entry, 'revision'> | ScanItem {
  return item.kind === 'entry' ? { key: item.key, value: item.value } : item;
}

/** The name with each number from 0 in place of its `#`. */
function numbered(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => name.replace('#', String(index).padStart(4, '0')));
}
