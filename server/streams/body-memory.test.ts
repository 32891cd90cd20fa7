import { describe, expect, it } from 'vitest';
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { BufferPool, BodyMemory, freeNow, sharedBodyMemory } from './body-memory.ts';
import * as fc from 'fast-check';

const pool = () => new BufferPool({ large: 1_000, maxLarge: 2, small: 100, keptSmall: 1 });

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

  it('reports how many are borrowed', () => {
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

describe('the memory of bodies', () => {
  it('is one for all threads', () => {
    const shared = sharedBodyMemory();
    const [one, other] = [0, 1].map(() => new BodyMemory(shared, { known: 10, stranger: 2 }));
    expect([one?.take(8, 'known'), other?.take(3, 'known'), other?.take(2, 'known')]).toEqual([true, false, true]);
  });

  it('of strangers is a part of its own', () => {
    const memory = new BodyMemory(sharedBodyMemory(), { known: 10, stranger: 2 });
    expect([memory.take(2, 'stranger'), memory.take(1, 'stranger'), memory.take(10, 'known')]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('never holds more than it may, and nothing once all is given back', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 30 }), (sizes) => {
        const memory = new BodyMemory(sharedBodyMemory(), { known: 50, stranger: 0 });
        const taken = sizes.filter((size) => memory.take(size, 'known'));
        expect(memory.held('known')).toBe(taken.reduce((sum, size) => sum + size, 0));
        expect(memory.held('known')).toBeLessThanOrEqual(50);
        for (const size of taken) memory.give(size, 'known');
        expect(memory.held('known')).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});

const [key, nonce] = [Buffer.alloc(32), Buffer.alloc(12)];

describe('freeNow', () => {
  // A Node that took small results from its pool of buffers would have what others hold freed with them.
  it.each([1, 15, 16, 100, 4_096, 32_767, 65_536, 100_000])(
    'may be given what a cipher returns: %d bytes have memory of their own',
    (length) => {
      const ciphers = [createCipheriv('aes-256-gcm', key, nonce), createDecipheriv('aes-256-gcm', key, nonce)];
      for (const cipher of ciphers) expect(cipher.update(Buffer.alloc(length)).buffer.byteLength).toBe(length);
    },
  );

  it('leaves nothing of it', () => {
    const bytes = createCipheriv('aes-256-gcm', key, nonce).update(Buffer.alloc(100));
    freeNow(bytes.subarray(10));
    expect(bytes).toHaveLength(0);
  });
});
