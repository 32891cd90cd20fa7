import { describe, expect, it } from 'vitest';
import { BufferPool } from './body-buffers.ts';

const pool = () => new BufferPool({ large: 1_000, mostLarge: 2, small: 100, keptSmall: 1 });

describe('a buffer pool', () => {
  it.each([
    [5_000, 1_000],
    [101, 1_000],
    [100, 100],
    [1, 100],
  ])('lends for %i bytes a buffer of %i', (bytes, length) => {
    expect(pool().take(bytes)).toHaveLength(length);
  });

  it('lends small buffers when the large ones are out', () => {
    const buffers = pool();
    expect([1, 2, 3, 4].map(() => buffers.take(1_000).length)).toEqual([1_000, 1_000, 100, 100]);
  });

  it.each([1_000, 100])('lends a buffer of %i bytes again that was given back', (bytes) => {
    const buffers = pool();
    const first = buffers.take(bytes);
    buffers.giveBack(first);
    expect(buffers.take(bytes)).toBe(first);
  });

  it('lends the one that was given back last, which is still in the cache', () => {
    const buffers = pool();
    const [first, second] = [buffers.take(1_000), buffers.take(1_000)];
    buffers.giveBack(first);
    buffers.giveBack(second);
    expect(buffers.take(1_000)).toBe(second);
  });

  it('never lends one buffer to two', () => {
    const buffers = pool();
    const [first, second] = [buffers.take(100), buffers.take(100)];
    expect(first).not.toBe(second);
  });

  it('keeps no more small buffers than it is to', () => {
    const buffers = pool();
    const lent = [buffers.take(1), buffers.take(1)];
    for (const buffer of lent) buffers.giveBack(buffer);
    const again = [buffers.take(1), buffers.take(1)];
    expect(again.filter((buffer) => lent.includes(buffer))).toHaveLength(1);
  });

  it('tells how many are lent', () => {
    const buffers = pool();
    const buffer = buffers.take(1);
    buffers.take(1);
    buffers.giveBack(buffer);
    expect(buffers.lent).toBe(1);
  });

  it('refuses a buffer that is given back twice', () => {
    const buffers = pool();
    const buffer = buffers.take(1);
    buffers.giveBack(buffer);
    expect(() => buffers.giveBack(buffer)).toThrow('not lent');
  });
});
