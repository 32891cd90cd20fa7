import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { TaskReport } from '../maintenance/background-tasks.ts';
import { watchClock } from './clock-watch.ts';

const minute = 60_000;
const day = 86_400_000;
const last = Date.UTC(2026, 10, 23);

let records: MemoryRecordStore;
let events: object[];
let wall: number;
let monotonic: number;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  records = new MemoryRecordStore();
  events = [];
  wall = last;
  monotonic = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

async function recordTask(): Promise<void> {
  const report = new TaskReport({ records, random: randomBytes, clock: () => last });
  await report.run('removals', 0, () => Promise.resolve());
}

const log = { error: (fields: object) => void events.push(fields) };
async function begin() {
  const watch = watchClock({ records, log, wall: () => wall, monotonic: () => monotonic });
  await vi.advanceTimersByTimeAsync(0);
  return watch;
}

/** A minute passes, in which the clock is set. */
async function passMinute(step = 0): Promise<void> {
  wall += minute + step;
  monotonic += minute;
  await vi.advanceTimersByTimeAsync(minute);
}

describe('watchClock', () => {
  it.each<[string, number, string | undefined]>([
    ['an hour later', 3_600_000, undefined],
    ['at a time some seconds earlier', -30_000, undefined],
    ['at an earlier time', -10 * minute, 'clock-back'],
    ['after years', 900 * day, 'clock-forward'],
  ])('at a start %s', async (_, later, event) => {
    await recordTask();
    wall += later;
    await (await begin()).stop();
    expect(events).toEqual(event === undefined ? [] : [expect.objectContaining({ event })]);
  });

  it('reports nothing at the first start of a store', async () => {
    await (await begin()).stop();
    expect(events).toEqual([]);
  });

  it.each([-30 * day, 400 * day])('reports a clock that is set by %d ms once', async (step) => {
    const watch = await begin();
    await passMinute();
    expect(events).toEqual([]);
    await passMinute(step);
    await passMinute();
    expect(events).toEqual([{ event: 'clock-changed', seconds: step / 1_000 }]);
    await watch.stop();
  });

  it('reports that the clock is set right again', async () => {
    const watch = await begin();
    await passMinute(day);
    await passMinute(-day);
    expect(events).toEqual([
      { event: 'clock-changed', seconds: day / 1_000 },
      { event: 'clock-changed', seconds: 0 },
    ]);
    await watch.stop();
  });

  it('tries again when the store is away', async () => {
    await recordTask();
    wall += 2 * day;
    const scan = vi.spyOn(records, 'scan').mockImplementationOnce(() => {
      throw new Error('away');
    });
    const watch = await begin();
    expect(events).toEqual([]);
    await passMinute();
    expect(events).toEqual([expect.objectContaining({ event: 'clock-forward' })]);
    expect(scan).toHaveBeenCalledTimes(2);
    await watch.stop();
  });
});
