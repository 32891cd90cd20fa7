import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oldestOf, settlesInMs } from './azure-versions.ts';

const version = fc.record({ id: fc.string(), created: fc.nat({ max: 5 }) });

describe('the version of a secret that counts', () => {
  it('is the same whatever order a listing has', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(version, { selector: ({ id }) => id, minLength: 1 }),
        fc.infiniteStream(fc.nat()),
        (all, random) => {
          const shuffled = all.map((one) => ({ one, at: random.next().value })).sort((a, b) => a.at - b.at);
          expect(oldestOf(shuffled.map(({ one }) => one))).toEqual(oldestOf(all));
        },
      ),
    );
  });

  it('stays the same whatever is written once it is settled', () => {
    fc.assert(
      fc.property(fc.array(version, { minLength: 1 }), fc.array(version), (before, later) => {
        const oldest = oldestOf(before);
        if (oldest === undefined) throw new Error('none');
        const settledAt = oldest.created * 1000 + settlesInMs(oldest, oldest.created * 1000);
        // Written by a server of the vault whose clock is a second behind.
        const written = later.map(({ id, created }) => ({ id, created: Math.floor(settledAt / 1000) - 1 + created }));
        expect(oldestOf([...written, ...before])).toEqual(oldest);
      }),
    );
  });

  it('is none where there is none', () => {
    expect(oldestOf([])).toBeUndefined();
  });

  it.each([
    [10_000, 2000],
    [11_000, 1000],
    [12_000, 0],
    [60_000, 0],
  ])('of second 10 settles at %d ms in %d ms', (now, wait) => {
    expect(settlesInMs({ id: 'x', created: 10 }, now)).toBe(wait);
  });
});
