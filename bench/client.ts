// `npm run bench:client [-- --count 100000 --size 4KiB --large 10 --large-size 410MiB --rounds 1 --only ls,rm]` measures `coffer`, as the
// package brings it, beside stock `mc` by turns, against one Coffer server: starts, many small files and a few large ones up and down, listings
// and removals. It verifies the counts, and prints wall time, processor time and the peak of resident memory of each client. On a busy machine
// compare the processor time. `--node PATH` runs the package on another Node, and `--source` the sources instead.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseSize } from '../platform/settings/parse-value.ts';
import { tool } from '../test/support/process/run-command.ts';
import { startServer, untilReady } from '../test/support/server/start-server.ts';
import { markdownTable } from './report.ts';
import { number } from './statistics.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '10000' },
    size: { type: 'string', default: '4KiB' },
    large: { type: 'string', default: '10' },
    'large-size': { type: 'string', default: '64MiB' },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string' },
    node: { type: 'string', default: process.execPath },
    source: { type: 'boolean', default: false },
  },
});
const MiB = 2 ** 20;
const [count, large, rounds] = [Number(values.count), Number(values.large), Number(values.rounds)];
const [size, largeSize] = [bytesOf(values.size), bytesOf(values['large-size'])];

function bytesOf(text: string): number {
  const parsed = parseSize(text, false);
  if (parsed.kind !== 'bytes') throw new Error(`invalid size: ${text}`);
  return parsed.bytes;
}

interface Client {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
}

interface Figures {
  readonly seconds: number;
  readonly processorSeconds: number;
  /** Bytes. */
  readonly peak: number;
  /** Lines of standard output. */
  readonly lines: number;
}

/** One command; FILES, LARGE and BACK are folders, BUCKET is a bucket of the client, and ALIAS the server. */
interface Step {
  readonly name: string;
  readonly args: readonly string[];
  /** The number of lines that are expected. */
  readonly lines?: number;
  /** How often it is measured in a round. */
  readonly times?: number;
}

const steps: readonly Step[] = [
  { name: '--version', args: ['--version'], times: 20 },
  { name: 'ls of the buckets', args: ['ls', 'ALIAS'], times: 20 },
  { name: 'cp up, small', args: ['cp', '-r', 'FILES/', 'BUCKET/cp/'] },
  { name: 'mirror up, small', args: ['mirror', 'FILES', 'BUCKET/mirror'] },
  { name: 'mirror again, nothing to do', args: ['mirror', 'FILES', 'BUCKET/mirror'] },
  { name: 'ls -r', args: ['ls', '-r', 'BUCKET/cp/'], lines: count },
  { name: 'find --name', args: ['find', 'BUCKET/cp/', '--name', '*7'] },
  { name: 'cp down, small', args: ['cp', '-r', 'BUCKET/cp/', 'BACK/cp/'] },
  { name: 'mirror down, small', args: ['mirror', 'BUCKET/mirror', 'BACK/mirror'] },
  { name: 'rm -r', args: ['rm', '-r', '--force', 'BUCKET/mirror/'] },
  { name: 'cp up, large', args: ['cp', '-r', 'LARGE/', 'BUCKET/large/'] },
  { name: 'cp down, large', args: ['cp', '-r', 'BUCKET/large/', 'BACK/large/'] },
];

/** Returns VmHWM of the only child of a shell: its highest resident memory in bytes. 0 while there is none. */
function peakOfChild(shell: number): number {
  try {
    const child = readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8').trim();
    const status = readFileSync(`/proc/${child}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

/** Runs a command to its end. The shell tells the processor time of its child, which Node does not. */
async function measure({ program, args }: Client, command: readonly string[]): Promise<Figures> {
  const shell = spawn('bash', ['-c', 'TIMEFORMAT="%R %U %S"; time "$@"', 'measure', program, ...args, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [lines, peak, errors] = [0, 0, ''];
  shell.stdout.on('data', (bytes: Buffer) => {
    for (const byte of bytes) if (byte === 10) lines += 1;
  });
  shell.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const timer = setInterval(() => (peak = Math.max(peak, peakOfChild(shell.pid ?? 0))), 25);
  const code = await new Promise<number | null>((resolve) => {
    shell.on('close', resolve);
  });
  clearInterval(timer);
  if (code !== 0) throw new Error(`${program} ${command.join(' ')} exited with ${code}: ${errors.slice(-2_000)}`);
  const [seconds = 0, user = 0, system = 0] = (errors.trim().split('\n').at(-1) ?? '').split(' ').map(Number);
  return { seconds, processorSeconds: user + system, peak, lines };
}

async function writeFiles(folder: string): Promise<void> {
  const block = Buffer.alloc(Math.max(size, MiB));
  crypto.getRandomValues(block.subarray(0, 65_536));
  for (let at = 0; at < count; at += 1) {
    const name = join(folder, 'files', `d${Math.floor(at / 1_000)}`);
    if (at % 1_000 === 0) await mkdir(name, { recursive: true });
    block.writeUInt32LE(at, 0);
    await writeFile(join(name, `file-${at}`), block.subarray(0, size));
  }
  await mkdir(join(folder, 'large'), { recursive: true });
  for (let at = 0; at < large; at += 1) {
    const file = await open(join(folder, 'large', `large-${at}`), 'w');
    for (let done = 0; done < largeSize; done += MiB) {
      block.writeUInt32LE(at, 0);
      block.writeUInt32LE(done / MiB, 4);
      await file.write(block.subarray(0, Math.min(MiB, largeSize - done)));
    }
    await file.close();
  }
}

const folder = await mkdtemp(join(tmpdir(), 'coffer-bench-client-'));
const server = await startServer({ folder: join(folder, 'data') });
try {
  await untilReady(server);
  await writeFiles(folder);
  const program = values.source ? '../cli/main.ts' : '../dist/npm/lib/coffer.js';
  const coffer = fileURLToPath(new URL(program, import.meta.url));
  const clients: readonly Client[] = [
    { name: 'mc', program: tool('bin/mc', 'mc'), args: ['--config-dir', join(folder, 'mc'), '--disable-pager', '-q'] },
    { name: 'coffer', program: values.node, args: [coffer, '--config-dir', join(folder, 'coffer'), '-q'] },
  ];
  for (const client of clients) {
    await measure(client, ['alias', 'set', 's', server.s3, server.accessKey, server.secretKey]);
    await measure(client, ['mb', `s/by-${client.name}`]);
  }
  const chosen = values.only?.split(',');
  const figures = new Map<string, Figures[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const step of steps) {
      if (chosen !== undefined && !chosen.some((name) => step.name.includes(name))) continue;
      const inTurn = round % 2 === 0 ? clients : clients.toReversed();
      for (const client of Array.from({ length: step.times ?? 1 }, () => inTurn).flat()) {
        const places = {
          FILES: join(folder, 'files'),
          LARGE: join(folder, 'large'),
          BACK: join(folder, `back-${client.name}-${round}`),
          BUCKET: `s/by-${client.name}/${round}`,
          ALIAS: 's',
        };
        const args = step.args.map((arg) => arg.replace(/[A-Z]{4,}/, (name) => places[name as keyof typeof places]));
        const figure = await measure(client, args);
        if (step.lines !== undefined && figure.lines !== step.lines) {
          throw new Error(`${client.name} ${step.name}: ${figure.lines} lines, not ${step.lines}`);
        }
        const id = `${step.name} ${client.name}`;
        figures.set(id, [...(figures.get(id) ?? []), figure]);
        const { seconds, processorSeconds, peak } = figure;
        if (step.times === undefined) {
          process.stderr.write(
            `${id}: ${seconds} s, processor ${processorSeconds.toFixed(2)} s, ${(peak / MiB).toFixed(0)} MiB\n`,
          );
        }
      }
    }
    for (const client of clients) await checkBack(join(folder, `back-${client.name}-${round}`));
  }
  process.stdout.write(`${count} files of ${values.size}, ${large} of ${values['large-size']}, ${rounds} rounds\n\n`);
  const columns = ['', ...clients.flatMap(({ name }) => [`${name} s`, `${name} processor s`, `${name} MiB`])];
  const rows = steps.flatMap(({ name }) => {
    const cells = clients.map((client) => figures.get(`${name} ${client.name}`));
    if (cells.includes(undefined)) return [];
    return [[name, ...cells.flatMap((all = []) => shown(all))]];
  });
  process.stdout.write(`${markdownTable(columns, rows, 1)}\n`);
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Means of the rounds, and the highest memory. */
function shown(all: readonly Figures[]): string[] {
  const mean = (of: (one: Figures) => number) => all.reduce((sum, one) => sum + of(one), 0) / all.length;
  const peak = Math.max(...all.map((one) => one.peak));
  return [number(mean((one) => one.seconds)), number(mean((one) => one.processorSeconds)), (peak / MiB).toFixed(0)];
}

async function checkBack(path: string): Promise<void> {
  const expected = { cp: count, mirror: count, large };
  for (const [name, files] of Object.entries(expected)) {
    const entries = await readdir(join(path, name), { recursive: true, withFileTypes: true }).catch(() => undefined);
    const found = entries?.filter((entry) => entry.isFile()).length;
    if (found !== undefined && found !== files) throw new Error(`${path}/${name} has ${found} files, not ${files}`);
  }
  await rm(path, { recursive: true, force: true });
}
