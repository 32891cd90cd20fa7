import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isBlobId } from './blob-store.ts';
import { newSlottedId, slotOf, slottedEnd } from './slot.ts';
import { newTieredId, newTierNumber, tierOf } from './tiered-id.ts';

const zeros = (size: number) => Buffer.alloc(size);

describe('a slot', () => {
  it('is the first two bytes of the SHA-256 of the name of the bucket', () => {
    // echo -n photos | sha256sum
    expect(slotOf('photos')).toBe('84a6');
  });

  it('is the same after many other buckets were named', () => {
    const slots = Array.from({ length: 3_000 }, (_, index) => slotOf(`bucket-${index}`));
    expect(slots[0]).toBe(slotOf('bucket-0'));
    expect(new Set(slots).size).toBeGreaterThan(2_800);
  });

  it('follows the milliseconds of an id, whose last byte is random', () => {
    expect(newSlottedId('photos', 0x1122_3344_5566, zeros)).toBe(`112233445566${slotOf('photos')}0000000000000000`);
    const ends = Array.from({ length: 2_000 }, () => newSlottedId('photos', 1, randomBytes).slice(-2));
    expect(new Set(ends).size).toBeGreaterThan(200);
  });

  it('ends the key of what is queued', () => {
    expect(slottedEnd('photos', zeros).toString('hex')).toBe(`0000000000000000${slotOf('photos')}`);
  });

  it('follows the number of a tier', () => {
    const tier = newTierNumber(randomBytes);
    const id = newTieredId(tier, 'photos', zeros);
    expect(id).toBe(`fe${tier}${slotOf('photos')}${'0'.repeat(18)}`);
    expect(tierOf(id)).toBe(tier);
    expect(isBlobId(id)).toBe(true);
  });
});
