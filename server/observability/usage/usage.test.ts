import { describe, expect, it } from 'vitest';
import { intervalCount, intervalOf, namedSizes } from './usage.ts';

const MIB = 1024 * 1024;

function nameOf(size: number): string[] {
  const counts = Array.from<number>({ length: intervalCount }).fill(0);
  counts[intervalOf(size)] = 1;
  return Object.entries(namedSizes(counts)).flatMap(([name, count]) => (count === 1 ? name : []));
}

describe('the intervals of sizes', () => {
  it.each([
    [0, ['LESS_THAN_1024_B']],
    [1_023, ['LESS_THAN_1024_B']],
    [1_024, ['BETWEEN_1024_B_AND_64_KB', 'BETWEEN_1024B_AND_1_MB']],
    [64 * 1024, ['BETWEEN_64_KB_AND_256_KB', 'BETWEEN_1024B_AND_1_MB']],
    [256 * 1024, ['BETWEEN_256_KB_AND_512_KB', 'BETWEEN_1024B_AND_1_MB']],
    [MIB - 1, ['BETWEEN_512_KB_AND_1_MB', 'BETWEEN_1024B_AND_1_MB']],
    [MIB, ['BETWEEN_1_MB_AND_10_MB']],
    [10 * MIB, ['BETWEEN_10_MB_AND_64_MB']],
    [64 * MIB, ['BETWEEN_64_MB_AND_128_MB']],
    [128 * MIB, ['BETWEEN_128_MB_AND_512_MB']],
    [512 * MIB - 1, ['BETWEEN_128_MB_AND_512_MB']],
    [512 * MIB, ['GREATER_THAN_512_MB']],
    [5e12, ['GREATER_THAN_512_MB']],
  ])('have an object of %i bytes under %j', (size, names) => {
    expect(nameOf(size)).toEqual(names);
  });

  it('take counts that end early, as records keep them', () => {
    expect(namedSizes([3])).toMatchObject({ LESS_THAN_1024_B: 3, BETWEEN_1024B_AND_1_MB: 0, GREATER_THAN_512_MB: 0 });
  });
});
