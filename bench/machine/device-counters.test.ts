import { describe, expect, it } from 'vitest';
import { countersOf } from './device-counters.ts';

const text = `   7       0 loop0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17
 254       0 vda 802355 72887 200370578 12984027 9064629 2072960 602115005 4813815 0 1302656 18504867 1359522 32088 491624584 301001 1434058 406022
   8       1 sda1 1 2 3 4 5 6 7 8 9 10 11
`;

describe('the counters of a device', () => {
  it('are the bytes that were written, and the flushes with their time', () => {
    expect(countersOf(254, 0, text)).toEqual({
      bytesWritten: 602_115_005 * 512,
      flushes: 1_434_058,
      flushMs: 406_022,
    });
  });

  it('are unknown for another device, and where the kernel counts no flushes', () => {
    expect(countersOf(254, 1, text)).toBeUndefined();
    expect(countersOf(8, 1, text)).toBeUndefined();
  });
});
