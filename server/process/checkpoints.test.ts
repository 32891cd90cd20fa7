import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Hold } from '../cluster/lease.ts';
import type { Checkpoint } from '../store/checkpoint.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';
import { runCheckpoints } from './checkpoints.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const hold: Hold = { generation: 1, fence: [], signal: new AbortController().signal };

/** Checkpoints of a server that holds the lease once `lease.held` says so. */
function running(check = () => Promise.resolve()) {
  const written: Checkpoint[] = [];
  const lease = { held: false, hold: () => (lease.held ? hold : undefined) };
  const attempts: string[] = [];
  const checkpoints = runCheckpoints(
    { stores: { records: new MemoryRecordStore(), checks: { records: check, bodies: check } } },
    lease,
    { warn: (_fields, message) => attempts.push(message) },
    { run: (_task, _retryMs, work) => work() },
    {
      readCheckpoint: () => Promise.resolve(written.at(-1)),
      writeCheckpoint: (next) => Promise.resolve(void written.push(next)),
    },
  );
  return { written, lease, attempts, checkpoints };
}

describe('the checkpoints of a server', () => {
  it('begin within seconds after it gets the lease, so that records that are lost are told then', async () => {
    const { written, lease, checkpoints } = running();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written).toEqual([]);
    lease.held = true;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(written).toHaveLength(1);
    await checkpoints.stop();
  });

  it('follow each other by a minute, whether the first one was written or not', async () => {
    const { attempts, lease, checkpoints } = running(() => Promise.reject(new Error('not mounted')));
    lease.held = true;
    await vi.advanceTimersByTimeAsync(59_000);
    expect(attempts).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(attempts).toHaveLength(2);
    await checkpoints.stop();
  });
});
