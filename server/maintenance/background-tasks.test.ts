import { randomBytes } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { failingTasks, readBackgroundTasks, TaskReport } from './background-tasks.ts';

function prepared() {
  const records = new MemoryRecordStore();
  const time = { now: 1_000_000 };
  const clock = () => time.now;
  return { records, time, clock, report: new TaskReport({ records, random: randomBytes, clock }) };
}
const succeed = () => Promise.resolve();
const fail = () => Promise.reject(new Error('the disk is away'));
const failWithAddress = () => Promise.reject(new Error('postgres://ann:hunter2@db is away'));

describe('TaskReport', () => {
  it('keeps which task fails, since when, why, and when it succeeded last', async () => {
    const { records, time, clock, report } = prepared();
    await report.run('usage', 2_000, succeed);
    await report.run('scrub', 2_000, succeed);
    time.now += 10_000;
    await expect(report.run('usage', 2_000, fail)).rejects.toThrow('the disk is away');
    expect(await readBackgroundTasks(records, clock)).toEqual([
      { task: 'scrub', lastSuccess: 1_000_000 },
      {
        task: 'usage',
        lastSuccess: 1_000_000,
        failure: { since: 1_010_000, attempts: 1, error: 'the disk is away', retryAt: 1_012_000 },
      },
    ]);
  });

  it('reports no password of an address', async () => {
    const { records, clock, report } = prepared();
    await report.run('usage', 2_000, failWithAddress).catch(() => undefined);
    const [task] = await readBackgroundTasks(records, clock);
    expect(task?.failure?.error).toBe('postgres://ann:[redacted]@db is away');
  });

  it('tries a task that fails again, later each time, and forgets the failure once it succeeds', async () => {
    const { records, time, clock, report } = prepared();
    const work = vi.fn(fail);
    const attempts: number[] = [];
    for (const started = time.now; time.now < started + 20_000; time.now += 1_000) {
      const before = work.mock.calls.length;
      await report.run('usage', 1_000, work).catch(() => undefined);
      if (work.mock.calls.length > before) attempts.push(time.now - started);
    }
    expect(attempts).toEqual([0, 1_000, 3_000, 7_000, 15_000]);
    time.now += 600_000;
    await report.run('usage', 1_000, succeed);
    expect(await readBackgroundTasks(records, clock)).toEqual([{ task: 'usage', lastSuccess: time.now }]);
  });

  it('goes on from what another server reported, and tries at once', async () => {
    const { records, time, clock, report } = prepared();
    await report.run('usage', 60_000, succeed);
    await report.run('usage', 60_000, fail).catch(() => undefined);
    time.now += 1_000;
    const next = new TaskReport({ records, random: randomBytes, clock });
    await expect(next.run('usage', 60_000, fail)).rejects.toThrow('the disk is away');
    expect(await readBackgroundTasks(records, clock)).toMatchObject([
      { lastSuccess: 1_000_000, failure: { since: 1_000_000, attempts: 2 } },
    ]);
    time.now += 2 * 86_400_000;
    expect(await readBackgroundTasks(records, clock)).toEqual([]);
  });

  it('writes a task that goes well down now and then', async () => {
    const { records, time, report } = prepared();
    const commit = vi.spyOn(records, 'commit');
    for (let round = 0; round < 601; round += 1, time.now += 2_000) await report.run('keys', 2_000, succeed);
    expect(commit.mock.calls.length).toBe(3);
  });

  it('takes an expected error for no failure, and goes on where the records cannot be written', async () => {
    const { records, clock, report } = prepared();
    await expect(report.run('keys', 1, fail, () => true)).rejects.toThrow('the disk is away');
    expect(await readBackgroundTasks(records, clock)).toEqual([]);
    vi.spyOn(records, 'commit').mockRejectedValue(new Error('read-only'));
    await report.run('keys', 1, succeed);
  });
});

describe('failingTasks', () => {
  it('names those that fail without waiting, and reads them seldom', async () => {
    const { records, time, clock, report } = prepared();
    await report.run('usage', 1, fail).catch(() => undefined);
    await report.run('scrub', 1, succeed);
    const read = vi.fn(() => readBackgroundTasks(records, clock));
    const names = failingTasks(read, { clock });
    expect(names()).toEqual([]);
    await vi.waitFor(() => expect(names()).toEqual(['usage']));
    expect(read).toHaveBeenCalledTimes(1);
    time.now += 5_000;
    read.mockRejectedValue(new Error('away'));
    expect(names()).toEqual(['usage']);
  });
});
