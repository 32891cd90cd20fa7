import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyMemory, sharedBodyMemory } from './body-memory.ts';

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
