import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MemoryRecordStore } from '../store/memory/memory-record-store.ts';
import { holdRemovals, removalsHeld } from './removal-hold.ts';
import { drainRemovals, ORPHAN_GRACE, sweepOrphans } from './sweeper.ts';
import { put, randomBody, testLayer } from './testing.ts';

const own = (now: number) => ({ clock: () => now, random: randomBytes });

describe('a hold on removals', () => {
  it('keeps what is given up while it lasts, and orphans', async () => {
    const { layer, records, blobs } = testLayer();
    await layer.createBucket('bucket', { location: '' });
    await layer.putObject(put('bucket', 'key', randomBody(200_000)));
    await layer.deleteObject('bucket', 'key');
    const now = Date.now() + 2 * ORPHAN_GRACE;
    const hold = await holdRemovals(records, own(now));
    expect(await drainRemovals({ records, blobs, now })).toEqual({ removed: 0 });
    expect(await sweepOrphans({ records, blobs, now, grace: 0 })).toEqual({ removed: 0 });
    await hold.release();
    expect(await drainRemovals({ records, blobs, now })).toEqual({ removed: 1 });
  });

  it('is held until the last one is released', async () => {
    const records = new MemoryRecordStore();
    const [one, other] = [await holdRemovals(records, own(0)), await holdRemovals(records, own(0))];
    await one.release();
    expect(await removalsHeld(records, 1)).toBe(true);
    await other.release();
    expect(await removalsHeld(records, 1)).toBe(false);
  });

  it('ends by itself when its owner died', async () => {
    const records = new MemoryRecordStore();
    const hold = await holdRemovals(records, own(0));
    expect(await removalsHeld(records, 29 * 60_000)).toBe(true);
    expect(await removalsHeld(records, 30 * 60_000)).toBe(false);
    await hold.release();
  });
});
