import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Entry } from './entry.ts';
import { compareNames, joinEntries } from './join-entries.ts';

function entry(name: string): Entry {
  return { kind: 'file', name, display: name, bucket: '', key: name, size: 0, modified: new Date(0), etag: '' };
}

/** Pages of two, with an empty one between them. */
async function* stream(names: readonly string[]): AsyncGenerator<readonly Entry[]> {
  for (let at = 0; at < names.length; at += 2) {
    yield names.slice(at, at + 2).map((name) => entry(name));
    yield [];
  }
}

const names = fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 3 })).map((list) => list.sort(compareNames));

it('compares names as their bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (one, other) => {
      expect(compareNames(one, other)).toBe(Buffer.compare(Buffer.from(one), Buffer.from(other)));
    }),
  );
});

it('finds each name once, with the sides that have it', async () => {
  await fc.assert(
    fc.asyncProperty(names, names, async (first, second) => {
      const pairs = await Array.fromAsync(joinEntries(stream(first), stream(second)));
      expect(pairs.map(({ name }) => name)).toEqual([...new Set([...first, ...second])].sort(compareNames));
      for (const pair of pairs) {
        expect([pair.first !== undefined, pair.second !== undefined]).toEqual([
          first.includes(pair.name),
          second.includes(pair.name),
        ]);
      }
    }),
    { numRuns: 100 },
  );
});

it('ends both listings when the reader stops', async () => {
  const ended: string[] = [];
  async function* endless(side: string): AsyncGenerator<readonly Entry[]> {
    try {
      for (let count = 0; ; count += 1) yield [entry(String(count).padStart(9, '0'))];
    } finally {
      ended.push(side);
    }
  }
  for await (const _ of joinEntries(endless('first'), endless('second'))) break;
  expect(ended).toEqual(['first', 'second']);
});
