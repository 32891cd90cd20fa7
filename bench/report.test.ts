import { describe, expect, it } from 'vitest';
import type { Figures, Row } from './figures.ts';
import { type DiskSample, markdownTable, type Report, render } from './report.ts';
import { number, withSpread } from './statistics.ts';

describe('numbers of the report', () => {
  it.each([
    [18_347.2, '18,300'],
    [421.4, '421'],
    [42.14, '42.1'],
    [6, '6.00'],
    [0.5531, '0.553'],
    [0, '0'],
    [Number.NaN, 'n/a'],
  ])('%d reads %s', (value, shown) => {
    expect(number(value)).toBe(shown);
  });

  it('show their spread', () => {
    expect(withSpread({ median: 6.1, min: 5.8, max: 6.42 }, 'x')).toBe('6.10x (5.80..6.42)');
  });
});

describe('a table', () => {
  it('lines up, text to the left and numbers to the right', () => {
    expect(
      markdownTable(
        ['load', 'n'],
        [
          ['put', '1'],
          ['delete', '1,000'],
        ],
        1,
      ),
    ).toBe(['| load   |     n |', '| ------ | ----: |', '| put    |     1 |', '| delete | 1,000 |'].join('\n'));
  });
});

function figures(perSecond: number, cpuPer1000 = 1, peakBytes = 2 ** 20): Figures {
  return {
    rounds: [perSecond],
    operationsPerSecond: { median: perSecond, min: perSecond, max: perSecond },
    mibPerSecond: 1,
    p50: 1,
    p99: 2,
    cpuPer1000,
    peakBytes,
    anonymousBytes: peakBytes,
    generatorShare: 0.5,
  };
}

function report(rows: readonly Row[], more: Partial<Report> = {}): string {
  return render({
    date: new Date('2026-11-21T12:00:00Z'),
    machine: { processor: 'CPU', cores: 2, memoryBytes: 2 ** 34, system: 'linux 6', fileSystem: 'ext4' },
    arguments: [],
    rounds: 3,
    seconds: 2,
    quick: false,
    versioned: false,
    installed: [],
    missing: [],
    rows,
    coldStarts: [],
    recordsBytes: [],
    ...more,
  });
}

const row = (coffer: Figures, minio: Figures): Row => ({
  phase: 'on a new store',
  load: 'put-4KiB',
  connections: 32,
  servers: new Map([
    ['coffer', coffer],
    ['minio', minio],
  ]),
});

describe('the report', () => {
  it('says that a target is reached', () => {
    expect(report([row(figures(6_000, 0.5), figures(1_000))])).toMatch(
      /\| put-4KiB \| +32 \| 6\.00x \(6\.00\.\.6\.00\) \| +6x \| +yes \| +0\.500x \| +yes \| +1\.00x \| +yes \|/,
    );
  });

  it('says that one is missed', () => {
    expect(report([row(figures(5_900, 2, 2 ** 21), figures(1_000))])).toMatch(
      / \*\*no\*\* \| +2\.00x \| +\*\*no\*\* \| +2\.00x \| +\*\*no\*\* /,
    );
  });

  it('has no table of targets where MinIO was left out', () => {
    const alone = { ...row(figures(1), figures(1)), servers: new Map([['coffer' as const, figures(1)]]) };
    expect(report([alone])).not.toContain('Targets');
  });

  it('says what share of its rate Coffer keeps when it encrypts', () => {
    const servers = new Map([
      ['coffer' as const, figures(1_000, 1)],
      ['coffer-encrypted' as const, figures(820, 1.25)],
    ]);
    const shares = report([{ ...row(figures(1), figures(1)), servers }]);
    expect(shares).toMatch(/\| put-4KiB \| +32 \| 0\.820x \(0\.820\.\.0\.820\) \| +0\.8x \| +yes \| +0\.800x \|/);
    expect(shares).not.toContain('Targets');
  });

  it('says what changed since an earlier Coffer', () => {
    const servers = new Map([
      ['coffer' as const, figures(970, 1.04)],
      ['coffer-before' as const, figures(1_000, 1)],
    ]);
    expect(report([{ ...row(figures(1), figures(1)), servers }])).toMatch(
      /\| put-4KiB \| +32 \| 0\.970x \(0\.970\.\.0\.970\) \| +yes \| 1\.04x \| +\*\*no\*\* \|/,
    );
  });

  it('names a peer that is not installed', () => {
    expect(report([], { missing: ['minio'] })).toContain('**minio is not installed**');
  });

  it('says when a start took longer than it may', () => {
    const start = {
      server: 'coffer' as const,
      objects: 1_000_000,
      cacheDropped: true,
      ready: [1_200],
      firstGet: [1_300],
    };
    expect(report([], { coldStarts: [start] })).toMatch(/coffer \| emptied +\| 1,000,000 \| .*\*\*no\*\*/);
  });
});

function sample(operations: number, operationsPerSecond: number): DiskSample {
  return {
    phase: 'new',
    load: 'put-64KiB',
    connections: 32,
    operations,
    milliseconds: 1_000,
    bytes: operations * 65_536,
    flushes: operations / 4,
    operationsPerSecond,
  };
}

describe('the share of the disk', () => {
  const row: Row = { phase: 'new', load: 'put-64KiB', connections: 32, servers: new Map([['coffer', figures(100)]]) };

  it('compares each round with the round of the disk after it', () => {
    const text = report([row], { disk: [sample(400, 800), sample(600, 1_000)] });
    expect(text).toContain('## Coffer as a share of the disk, new');
    const line = text.split('\n').find((each) => each.includes('put-64KiB') && each.includes('%'));
    expect(line?.split('|').map((cell) => cell.trim())).toEqual([
      '',
      'put-64KiB',
      '32',
      '500 (400..600)',
      '0.250',
      '256',
      '900 (800..1,000)',
      '55.0 % (50.0..60.0)',
      '',
    ]);
  });

  it('is left out where the disk was not measured', () => {
    expect(report([row])).not.toContain('share of the disk');
  });
});
