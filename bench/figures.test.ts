import { describe, expect, it } from 'vitest';
import { ratio, type Sample, summarize } from './figures.ts';

const sample = (server: Sample['server'], more: Partial<Sample> = {}): Sample => ({
  phase: 'p',
  server,
  load: 'put-4KiB',
  connections: 32,
  operations: 1_000,
  milliseconds: 1_000,
  bytes: 4_096_000,
  p50: 1,
  p99: 2,
  generatorCpu: 0.5,
  cpuSeconds: 0.4,
  peakBytes: 100,
  anonymousBytes: 50,
  ...more,
});

describe('figures', () => {
  it('are those of all rounds of a server', () => {
    const [row] = summarize([
      sample('coffer'),
      sample('coffer', { operations: 3_000 }),
      sample('coffer', { operations: 2_000 }),
    ]);
    expect(row?.servers.get('coffer')?.operationsPerSecond).toEqual({ median: 2_000, min: 1_000, max: 3_000 });
  });

  it('keep loads, connections and phases apart', () => {
    const rows = summarize([sample('coffer'), sample('coffer', { connections: 1 }), sample('coffer', { phase: 'q' })]);
    expect(rows).toHaveLength(3);
  });

  it('count processor time per 1,000 operations', () => {
    const [row] = summarize([sample('minio', { operations: 500, cpuSeconds: 0.25 })]);
    expect(row?.servers.get('minio')?.cpuPer1000).toBe(0.5);
  });

  it('compare the rounds that ran at the same time', () => {
    const [row] = summarize([
      sample('coffer', { operations: 6_000 }),
      sample('minio', { operations: 1_000 }),
      sample('coffer', { operations: 600 }),
      sample('minio', { operations: 100 }),
    ]);
    const [coffer, minio] = [row?.servers.get('coffer'), row?.servers.get('minio')];
    expect(ratio(coffer!, minio!).operations).toEqual({ median: 6, min: 6, max: 6 });
  });
});
