import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { within } from '../../store/keys.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import { keptMs, MetricsHistory, stepMs } from './metrics-history.ts';
import { at, type CounterReading, firstByteMs, pointBetween, pointLength } from './metrics-point.ts';
import { firstByteBounds } from './first-byte-bounds.ts';

const start = Date.UTC(2026, 0, 1);

interface Counts {
  readonly total?: number;
  readonly received?: number;
  /** Requests by the index of their bound. */
  readonly firstBytes?: Readonly<Record<number, number>>;
}

function reading({ total = 0, received = 0, firstBytes = {} }: Counts): CounterReading {
  const counts = Array.from({ length: firstByteBounds.length + 1 }, (_, index) => firstBytes[index] ?? 0);
  const operation = { operation: 'GetObject', total, inFlight: 0, clientErrors: 0, serverErrors: 0, canceled: 0 };
  return {
    requests: {
      received,
      sent: 0,
      rejectedAuth: 0,
      rejectedTimestamp: 0,
      operations: [{ ...operation, firstByteSeconds: 0, firstBytes: counts }],
    },
    cpuSeconds: 0,
    residentBytes: 100 * 1_048_576,
  };
}

/** A server whose requests grow by `rate` in each step. */
function serverOf(records: MemoryRecordStore, name: string, rate = 10) {
  const state = { now: start, total: 0 };
  const history = new MetricsHistory({
    records,
    server: () => name,
    random: randomBytes,
    clock: () => state.now,
    read: () => Promise.resolve(reading({ total: state.total })),
  });
  return {
    history,
    state,
    run: async (steps: number) => {
      for (let step = 0; step < steps; step += 1) {
        await history.take();
        state.now += stepMs;
        state.total += rate;
      }
    },
  };
}

const requestsOf = ({ points }: Awaited<ReturnType<MetricsHistory['read']>>) =>
  points.flatMap(({ values }) => (values === undefined ? [] : [values.requests]));

describe('a point of the metrics', () => {
  it('has what was counted since the point before', () => {
    const point = pointBetween(reading({ total: 5, received: 100 }), reading({ total: 8, received: 150 }));
    expect([point[at.requests], point[at.received], point[at.memoryMib]]).toEqual([3, 50, 100]);
    expect(point).toHaveLength(pointLength);
  });

  it('is never negative, since a new process counts from 0', () => {
    expect(pointBetween(reading({ total: 5 }), reading({ total: 2 }))[at.requests]).toBe(0);
  });

  it.each([
    [{ 0: 100 }, 0.5, 2.5],
    [{ 0: 50, 2: 50 }, 0.99, 24.7],
    [{ [firstByteBounds.length]: 1 }, 0.5, 10_000],
    [{}, 0.5, undefined],
  ])('tells the quantile of %j at %d', (firstBytes, quantile, ms) => {
    const found = firstByteMs(pointBetween(reading({}), reading({ firstBytes })), quantile);
    if (ms === undefined) expect(found).toBeUndefined();
    else expect(found).toBeCloseTo(ms, 1);
  });
});

describe('the history of the metrics', () => {
  it('has a rate for each step', async () => {
    const { history, run } = serverOf(new MemoryRecordStore(), 'a:9000');
    await run(6);
    expect(requestsOf(await history.read(15 * 60_000))).toEqual([1, 1, 1, 1, 1]);
  });

  it('adds up the servers, and shows one alone', async () => {
    const records = new MemoryRecordStore();
    const [a, b] = [serverOf(records, 'a:9000'), serverOf(records, 'b:9000', 30)];
    await a.run(13);
    await b.run(13);
    await a.history.write();
    await b.history.write();
    const all = await a.history.read(15 * 60_000);
    expect(all.servers).toEqual(['a:9000', 'b:9000']);
    expect(requestsOf(all)[0]).toBe(4);
    expect(requestsOf(await a.history.read(15 * 60_000, 'b:9000'))[0]).toBe(3);
  });

  it('goes on after a restart', async () => {
    const records = new MemoryRecordStore();
    const before = serverOf(records, 'a:9000');
    await before.run(10);
    await before.history.write();
    const after = serverOf(records, 'a:9000');
    after.state.now = before.state.now;
    await after.run(3);
    expect(requestsOf(await after.history.read(15 * 60_000))).toHaveLength(11);
  });

  it('has at most 360 points of a day, and keeps at most the records of a day', async () => {
    const records = new MemoryRecordStore();
    const { history, state, run } = serverOf(records, 'a:9000');
    for (let slot = 0; slot < 160; slot += 1) {
      await run(2);
      await history.write();
      state.now = start + (slot + 1) * 600_000;
    }
    const { points } = await history.read(keptMs);
    expect(points.length).toBeLessThanOrEqual(361);
    let kept = 0;
    for await (const _item of records.scan(within('metrics'))) kept += 1;
    expect(kept).toBeLessThanOrEqual(146);
  });

  it('shows no peak after the machine has slept', async () => {
    const { history, state, run } = serverOf(new MemoryRecordStore(), 'a:9000');
    await run(3);
    state.now += 3_600_000;
    state.total += 1_000_000;
    await run(2);
    expect(Math.max(...requestsOf(await history.read(2 * 3_600_000)))).toBe(1);
  });
});
