import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoTime } from './xml-writer.ts';

describe('isoTime', () => {
  it('writes what Date writes, whatever was written before', () => {
    const time = fc.oneof(
      fc.integer({ min: -8.64e15, max: 8.64e15 }),
      fc.integer({ min: 1.7e12, max: 1.7e12 + 3 * 86_400_000 }),
      fc.constantFrom(0, -1, 86_399_999, 86_400_000, 253_402_300_799_999, 253_402_300_800_000),
    );
    fc.assert(
      fc.property(fc.array(time), (times) => {
        expect(times.map(isoTime)).toEqual(times.map((one) => new Date(one).toISOString()));
      }),
    );
  });

  it('refuses what is no time', () => {
    expect(() => isoTime(NaN)).toThrow(RangeError);
  });
});
