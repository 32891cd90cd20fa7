import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { isPaused, maxPauseMs, taskPauses } from './task-pauses.ts';

function begin() {
  const records = new MemoryRecordStore();
  const time = { now: 1_000 };
  return { records, time, pauses: taskPauses(records, { random: randomBytes, clock: () => time.now }) };
}

describe('pauses of background tasks', () => {
  it('hold until their end, which comes by itself', async () => {
    const { records, time, pauses } = begin();
    await pauses.pause('scrub', 500);
    expect(await pauses.all()).toEqual({ scrub: 1_500 });
    expect(await isPaused(records, 'scrub', time.now)).toBe(true);
    expect(await isPaused(records, 'usage', time.now)).toBe(false);
    time.now = 1_500;
    expect(await pauses.all()).toEqual({});
    expect(await isPaused(records, 'scrub', time.now)).toBe(false);
  });

  it('end when an administrator ends them', async () => {
    const { pauses } = begin();
    await pauses.pause('lifecycle', 500);
    await pauses.resume('lifecycle');
    expect(await pauses.all()).toEqual({});
  });

  it('last a day at most', async () => {
    const { pauses } = begin();
    await pauses.pause('usage', 10 * maxPauseMs);
    expect(await pauses.all()).toEqual({ usage: 1_000 + maxPauseMs });
  });

  it('cost no read for a task that cannot be paused', async () => {
    const records = { get: () => Promise.reject(new Error('read')) };
    expect(await isPaused(records, 'removals', 0)).toBe(false);
  });
});
