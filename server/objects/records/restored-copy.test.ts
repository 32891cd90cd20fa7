import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { BlobId } from '../../store/blob-store.ts';
import { slotOf } from '../../store/slot.ts';
import { newCopyId, restoredBlob } from './restored-copy.ts';

const tiered = `fe${'1'.repeat(30)}` as BlobId;
const time = Date.UTC(2026, 10, 30);

it('the blob of a restored copy has its time and the slot of its bucket', () => {
  const blob = restoredBlob(newCopyId('photos', time, randomBytes), tiered);
  expect(blob).toMatch(/^[0-9a-f]{32}$/);
  expect([Number.parseInt(blob.slice(0, 12), 16), blob.slice(12, 16)]).toEqual([time, slotOf('photos')]);
});

it('the blob of a copy that was made before slots keeps its id', () => {
  expect(restoredBlob(`019ad18bd000${'7'.repeat(20)}`, tiered)).toBe('019ad18bd000ce58b2595a6cbbf33853');
});
