import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runUserChecks } from './user-checks.ts';
import { TaskReport } from '../maintenance/background-tasks.ts';
import type { Hold } from '../cluster/lease.ts';
import { MemoryRecordStore } from '../store/memory/record-store.ts';

const report = { checked: 1, active: 1, cutOff: [], unreachable: [] };
const hold: Hold = { generation: 1, fence: [], signal: new AbortController().signal };
const tasks = new TaskReport({ records: new MemoryRecordStore(), random: randomBytes });
const errors: string[] = [];
const log = { info: () => undefined, error: (_fields: object, message: string) => void errors.push(message) };
let kept: ReturnType<typeof runUserChecks> | undefined;

afterEach(async () => {
  await kept?.stop();
  errors.length = 0;
});

describe('keepChecking', () => {
  it('asks about everybody again and again, while this server holds the lease', async () => {
    let leads = false;
    const run = vi.fn(() => Promise.resolve(report));
    kept = runUserChecks({ run }, { hold: () => (leads ? hold : undefined) }, log, 5, tasks);
    await sleep(50);
    expect(run).not.toHaveBeenCalled();
    leads = true;
    await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThan(1));
  });

  it('never does two rounds at once', async () => {
    const run = vi.fn(() => sleep(200, report));
    kept = runUserChecks({ run }, { hold: () => hold }, log, 5, tasks);
    await sleep(100);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('says that a round failed, and goes on', async () => {
    const run = vi.fn(() => Promise.reject(new Error('the store is away')));
    kept = runUserChecks({ run }, { hold: () => hold }, log, 5, tasks);
    await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThan(1));
    expect(errors[0]).toBe('people could not be looked up');
  });

  it('ends a round that is under way when it is stopped, without complaint', async () => {
    const run = vi.fn((_who?: string, signal?: AbortSignal) => sleep(60_000, report, { ...(signal && { signal }) }));
    kept = runUserChecks({ run }, { hold: () => hold }, log, 5, tasks);
    await vi.waitFor(() => expect(run).toHaveBeenCalled());
    await kept.stop();
    expect(errors).toEqual([]);
  });

  it('does nothing where the interval is 0', async () => {
    const run = vi.fn(() => Promise.resolve(report));
    kept = runUserChecks({ run }, { hold: () => hold }, log, 0, tasks);
    await sleep(20);
    expect(run).not.toHaveBeenCalled();
  });
});
