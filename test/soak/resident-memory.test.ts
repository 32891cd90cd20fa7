import { describe, expect, it } from 'vitest';
import { growthAfter } from './resident-memory.ts';

const MiB = 1_048_576;
const hour = (bytesAt: (minute: number) => number) =>
  Array.from({ length: 61 }, (_, minute) => ({ atMs: minute * 60_000, bytes: bytesAt(minute) }));

describe('the growth of memory', () => {
  it('is what a steady leak adds up to', () => {
    const { grownBytes } = growthAfter(
      10 * 60_000,
      hour((minute) => (100 + minute) * MiB),
    );
    expect(Math.round(grownBytes / MiB)).toBe(50);
  });

  it('is nothing where memory goes up and down', () => {
    const { grownBytes } = growthAfter(
      10 * 60_000,
      hour((minute) => (100 + (minute % 2) * 20) * MiB),
    );
    expect(Math.abs(grownBytes / MiB)).toBeLessThan(3);
  });

  it('is not what came in the first minutes', () => {
    const { grownBytes } = growthAfter(
      10 * 60_000,
      hour((minute) => Math.min(minute, 9) * 100 * MiB),
    );
    expect(grownBytes).toBe(0);
  });
});
