import type { ColdStart } from './cold-start.ts';
import { ratio, type Row } from './figures.ts';
import type { Installed } from './servers/fleet.ts';
import type { Machine } from './machine/machine.ts';
import type { ServerName } from './servers/server-programs.ts';
import { spread, mib, number, withSpread } from './statistics.ts';
import { beforeTargets, encryptionTargets, readyWithinMs, targetOf } from './options.ts';

/** Formats a Markdown table whose columns also align in a terminal. The first `left` columns are text, the others numbers. */
export function markdownTable(titles: readonly string[], rows: readonly (readonly string[])[], left: number): string {
  const widths = titles.map((title, at) => Math.max(3, title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, at) => (at < left ? (cells[at] ?? '').padEnd(width) : (cells[at] ?? '').padStart(width))).join(' | ')} |`;
  const rule = widths.map((width, at) => (at < left ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(titles), line(rule), ...rows.map(line)].join('\n');
}

/** A round of Coffer, and what the disk gives for its bytes with as many flushes. */
export interface DiskSample {
  readonly phase: string;
  readonly load: string;
  readonly connections: number;
  readonly operations: number;
  readonly milliseconds: number;
  readonly bytes: number;
  readonly flushes: number;
  /** Of the disk alone. */
  readonly operationsPerSecond: number;
}

export interface Report {
  readonly date: Date;
  readonly machine: Machine;
  readonly arguments: readonly string[];
  readonly rounds: number;
  readonly seconds: number;
  readonly quick: boolean;
  readonly versioned: boolean;
  readonly installed: readonly Installed[];
  readonly missing: readonly ServerName[];
  readonly rows: readonly Row[];
  readonly coldStarts: readonly ColdStart[];
  readonly disk?: readonly DiskSample[];
  /** The size on disk of Coffer's records, by the time of measurement. */
  readonly recordsBytes: readonly (readonly [when: string, bytes: number])[];
}

/** Renders the report as Markdown. */
export function render(report: Report): string {
  const phases = [...new Set(report.rows.map((row) => row.phase))];
  const parts = [
    '# Benchmark',
    conditions(report),
    ...phases.flatMap((phase) =>
      phaseParts(
        phase,
        report.rows.filter((row) => row.phase === phase),
        report.versioned,
        report.disk,
      ),
    ),
    ...(report.coldStarts.length > 0 ? ['## Cold start', coldStartTable(report.coldStarts)] : []),
    ...(report.recordsBytes.length > 0 ? ['## Records of Coffer on disk', recordsTable(report.recordsBytes)] : []),
  ];
  return `${parts.join('\n\n')}\n`;
}

function phaseParts(
  phase: string,
  rows: readonly Row[],
  versioned: boolean,
  disk: readonly DiskSample[] = [],
): string[] {
  const reached = targetTable(rows, versioned);
  const encryption = encryptionTable(rows);
  const before = beforeTable(rows);
  const beside = diskTable(disk.filter((sample) => sample.phase === phase));
  return [
    ...(reached === undefined ? [] : [`## Targets, ${phase}`, reached]),
    ...(encryption === undefined ? [] : [`## Coffer encrypting, as a share of Coffer without, ${phase}`, encryption]),
    ...(before === undefined ? [] : [`## Coffer beside the earlier one, ${phase}`, before]),
    ...(beside === undefined ? [] : [`## Coffer as a share of the disk, ${phase}`, beside]),
    `## All loads, ${phase}`,
    loadTable(rows),
  ];
}

function conditions({ date, machine, rounds, seconds, quick, installed, missing, ...report }: Report): string {
  const lines = [
    `- ${date.toISOString().slice(0, 16).replace('T', ' ')} UTC; \`npm run bench${report.arguments.length > 0 ? ` -- ${report.arguments.join(' ')}` : ''}\``,
    `- ${machine.processor}, ${machine.cores} cores, ${(machine.memoryBytes / 2 ** 30).toFixed(0)} GiB; ${machine.system}; ${machine.fileSystem}`,
    `- ${rounds} rounds of ${seconds} s, servers in turn; median, with the lowest and the highest round in brackets`,
    '- The generator shares the cores with the server: compare the ratios, not the figures.',
    ...installed.map(({ program, version }) => `- ${program.name} ${version}: ${program.durability}`),
    ...missing.map((name) => `- **${name} is not installed**: \`npm run bench:peers\` installs it`),
    ...(quick ? ['- **A quick look with fewer objects and short rounds: no result.**'] : []),
  ];
  return lines.join('\n');
}

/** Renders the targets, which are ratios to MinIO; undefined if no load with a target was run on both servers. */
function targetTable(rows: readonly Row[], versioned: boolean): string | undefined {
  const lines = rows.flatMap((row) => {
    const target = targetOf(row.load, row.connections, versioned);
    const [coffer, minio] = [row.servers.get('coffer'), row.servers.get('minio')];
    if (target === undefined || coffer === undefined || minio === undefined) return [];
    const reached = ratio(coffer, minio);
    return [
      [
        row.load,
        String(row.connections),
        withSpread(reached.operations, 'x'),
        `${target.ratio}x`,
        yes(reached.operations.median >= target.ratio),
        `${number(reached.cpu)}x`,
        yes(reached.cpu < 1),
        `${number(reached.memory)}x`,
        yes(reached.memory <= 1),
      ],
    ];
  });
  if (lines.length === 0) return undefined;
  const titles = ['load', 'connections', 'Coffer / MinIO', 'target', 'reached', 'CPU', 'below', 'memory', 'at most'];
  return markdownTable(titles, lines, 1);
}

/** Undefined unless Coffer was run with and without encryption. */
function encryptionTable(rows: readonly Row[]): string | undefined {
  const lines = rows.flatMap((row) => {
    const [encrypted, plain] = [row.servers.get('coffer-encrypted'), row.servers.get('coffer')];
    if (encrypted === undefined || plain === undefined) return [];
    const target = encryptionTargets.get(row.load);
    const { operations, cpu, memory } = ratio(encrypted, plain);
    return [
      [
        row.load,
        String(row.connections),
        withSpread(operations, 'x'),
        target === undefined ? '' : `${target}x`,
        target === undefined ? '' : yes(operations.median >= target),
        `${number(1 / cpu)}x`,
        `${number(memory)}x`,
      ],
    ];
  });
  if (lines.length === 0) return undefined;
  return markdownTable(
    ['load', 'connections', 'operations/s', 'target', 'reached', 'operations/CPU-s', 'memory'],
    lines,
    1,
  );
}

/** Undefined unless an earlier Coffer was measured too. */
function beforeTable(rows: readonly Row[]): string | undefined {
  const lines = rows.flatMap((row) => {
    const [now, before] = [row.servers.get('coffer'), row.servers.get('coffer-before')];
    if (now === undefined || before === undefined) return [];
    const { operations, cpu, memory } = ratio(now, before);
    return [
      [
        row.load,
        String(row.connections),
        withSpread(operations, 'x'),
        yes(operations.median >= beforeTargets.rate),
        `${number(cpu)}x`,
        yes(cpu <= beforeTargets.cpu),
        `${number(memory)}x`,
      ],
    ];
  });
  if (lines.length === 0) return undefined;
  const titles = ['load', 'connections', 'operations/s', 'within 3 %', 'CPU', 'within 3 %', 'memory'];
  return markdownTable(titles, lines, 1);
}

const rate = ({ operations, milliseconds }: DiskSample) => (operations / milliseconds) * 1000;

/** Undefined unless the disk was measured. A share compares a round of Coffer with the round of the disk after it. */
function diskTable(samples: readonly DiskSample[]): string | undefined {
  if (samples.length === 0) return undefined;
  const groups = Map.groupBy(samples, ({ load, connections }) => `${load}\n${connections}`);
  const lines = [...groups.values()].map((of) => {
    const [{ load, connections } = { load: '', connections: 0 }] = of;
    const sum = (value: (sample: DiskSample) => number) => of.reduce((total, sample) => total + value(sample), 0);
    const flushes = sum((sample) => sample.flushes);
    return [
      load,
      String(connections),
      withSpread(spread(of.map(rate))),
      number(flushes / sum((sample) => sample.operations)),
      number(sum((sample) => sample.bytes) / 1024 / flushes),
      withSpread(spread(of.map((sample) => sample.operationsPerSecond))),
      withSpread(spread(of.map((sample) => (rate(sample) / sample.operationsPerSecond) * 100)), ' %'),
    ];
  });
  const titles = ['load', 'connections', 'operations/s', 'flushes each', 'KiB to a flush', 'disk alone', 'share'];
  return markdownTable(titles, lines, 1);
}

function loadTable(rows: readonly Row[]): string {
  const lines = rows.flatMap((row) =>
    [...row.servers].map(([server, figures]) => {
      const coffer = row.servers.get('coffer');
      const against = server === 'coffer' || coffer === undefined ? undefined : ratio(coffer, figures);
      return [
        row.load,
        server,
        String(row.connections),
        withSpread(figures.operationsPerSecond),
        number(figures.mibPerSecond),
        number(figures.p50),
        number(figures.p99),
        number(figures.cpuPer1000),
        mib(figures.peakBytes),
        mib(figures.anonymousBytes),
        against === undefined ? '' : withSpread(against.operations, 'x'),
        against === undefined ? '' : `${number(against.cpu)}x`,
        against === undefined ? '' : `${number(against.memory)}x`,
        `${(figures.generatorShare * 100).toFixed(0)} %`,
      ];
    }),
  );
  const titles = [
    'load',
    'server',
    'connections',
    'operations/s',
    'MiB/s',
    'p50 ms',
    'p99 ms',
    'CPU-s / 1,000',
    'peak MiB',
    'without files',
    'Coffer / it',
    'its CPU',
    'its memory',
    'generator',
  ];
  return markdownTable(titles, lines, 2);
}

function coldStartTable(starts: readonly ColdStart[]): string {
  const lines = starts.map((start) => {
    const ready = spread(start.ready);
    return [
      start.server,
      start.cacheDropped ? 'emptied' : 'warm',
      start.objects.toLocaleString('en-US'),
      withSpread(ready),
      withSpread(spread(start.firstGet)),
      start.server === 'coffer' ? yes(ready.median <= readyWithinMs) : '',
    ];
  });
  return markdownTable(['server', 'page cache', 'objects', 'ready ms', 'first GET ms', 'within 1 s'], lines, 2);
}

function recordsTable(sizes: Report['recordsBytes']): string {
  return markdownTable(
    ['when', 'MiB'],
    sizes.map(([when, bytes]) => [when, mib(bytes)]),
    1,
  );
}

function yes(reached: boolean): string {
  return reached ? 'yes' : '**no**';
}
