import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pooledRandom } from './context.ts';

describe('the pool of random bytes', () => {
  it('gives every byte of its source once, in their order', () => {
    const given: Buffer[] = [];
    const random = pooledRandom((size) => {
      const bytes = randomBytes(size);
      given.push(Buffer.from(bytes));
      return bytes;
    });
    const taken = Array.from({ length: 256 }, () => random(16));
    expect(Buffer.concat(taken).equals(Buffer.concat(given))).toBe(true);
  });

  it('never shares memory between those it gave bytes to', () => {
    const random = pooledRandom(randomBytes);
    const first = random(16);
    const copy = Buffer.from(first);
    random(16).fill(0);
    expect(first.equals(copy)).toBe(true);
  });

  it('passes on what is large', () => {
    const random = pooledRandom((size) => Buffer.alloc(size, size === 5000 ? 7 : 1));
    expect(random(5000).equals(Buffer.alloc(5000, 7))).toBe(true);
  });
});
