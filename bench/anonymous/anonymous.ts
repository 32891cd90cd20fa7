// `npm run bench:anonymous [-- --seconds 60 --rounds 1]` measures how much clients without credentials slow down others. 64 connections
// without credentials send hostile bodies together with GETs and health probes; alternating with it, 64 connections send as many small
// valid requests. All clients share one core, where those that measure come first: otherwise the figures are of the copying of 8 MiB into
// sockets, which real attackers do elsewhere. It fails when hostile requests make a GET more than twice as slow as valid ones, when a probe
// takes 100 ms, or when memory is not released.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CreateBucketCommand, PutBucketPolicyCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { s3Client } from '../../test/support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../../test/support/server/start-server.ts';
import type { ClientOptions, ClientResult } from './anonymous-client.ts';
import { allocatorEnvironment } from '../../bin/allocator.js';
import { median } from '../statistics.ts';

const MiB = 2 ** 20;
const limits = { slower: 2, probeMs: 100, leftBehind: 64 * MiB } as const;
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '64' },
  },
});
const seconds = Number(values.seconds);
const client = fileURLToPath(new URL('anonymous-client.ts', import.meta.url));

/** Runs a client on the last core. Those that only send have the lowest priority. */
async function run(options: ClientOptions): Promise<ClientResult> {
  const sends = options.kind === 'hostile' || options.kind === 'valid';
  const priority = ['-n', sends ? '19' : '0'];
  const pinned = ['taskset', '-c', '1', process.execPath, client, JSON.stringify(options)];
  const child = spawn('nice', [...priority, ...pinned], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`the client ${options.kind} exited with ${code}`);
  return JSON.parse(text) as ClientResult;
}

/** Resident memory without the pages of files, in bytes. */
async function memory(server: RunningServer): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

async function prepare(server: RunningServer): Promise<void> {
  await untilReady(server);
  const s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket: 'public' }));
  await s3.send(new PutObjectCommand({ Bucket: 'public', Key: 'object', Body: Buffer.alloc(4_096, 'x') }));
  const statement = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::public/*' };
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  await s3.send(new PutBucketPolicyCommand({ Bucket: 'public', Policy }));
  s3.destroy();
}

interface Round {
  readonly sent: ClientResult;
  readonly gets: ClientResult;
  readonly probes: ClientResult;
  readonly peak: number;
}

async function round(server: RunningServer, kind: 'hostile' | 'valid', lasts = seconds): Promise<Round> {
  let peak = 0;
  const timer = setInterval(() => {
    memory(server).then(
      (now) => (peak = Math.max(peak, now)),
      () => undefined,
    );
  }, 100);
  const shared = { url: server.s3, seconds: lasts };
  const [sent, gets, probes] = await Promise.all([
    run({ ...shared, kind, connections: Number(values.connections), paceMs: 50 }),
    run({ ...shared, kind: 'gets', connections: 4, paceMs: 10 }),
    run({ ...shared, kind: 'probes', connections: 2, paceMs: 100 }),
  ]);
  clearInterval(timer);
  return { sent, gets, probes, peak };
}

function at({ latencies }: ClientResult, share: number): number {
  return latencies[Math.max(0, Math.ceil(share * latencies.length) - 1)] ?? Number.NaN;
}

function row(...cells: string[]): void {
  process.stdout.write(`| ${cells.map((cell, index) => cell.padEnd(index === 0 ? 8 : 13)).join(' | ')} |\n`);
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

function show(kind: string, { sent, gets, probes, peak }: Round): void {
  const said = Object.entries(sent.answers).map(([answer, count]) => `${answer}: ${count}`);
  row(kind, said.join(', '), ms(at(gets, 0.5)), ms(at(gets, 0.99)), ms(at(probes, 1)), `${Math.round(peak / MiB)} MiB`);
}

const server = await startServer({ env: { SVC_THREADS: '2', ...allocatorEnvironment } });
try {
  await prepare(server);
  await round(server, 'valid', 3);
  await sleep(2_000);
  const before = await memory(server);
  row('sent', 'answers', 'GET median', 'GET p99', 'slowest probe', 'peak memory');
  row('---', '---', '---', '---', '---', '---');
  const ratios: { median: number; p99: number }[] = [];
  let slowestProbe = 0;
  for (let index = 0; index < Number(values.rounds); index += 1) {
    const valid = await round(server, 'valid');
    show('valid', valid);
    const hostile = await round(server, 'hostile');
    show('hostile', hostile);
    ratios.push({
      median: at(hostile.gets, 0.5) / at(valid.gets, 0.5),
      p99: at(hostile.gets, 0.99) / at(valid.gets, 0.99),
    });
    slowestProbe = Math.max(slowestProbe, at(hostile.probes, 1));
  }
  await sleep(10_000);
  const after = await memory(server);
  const [ofMedian, ofP99] = [median(ratios.map((one) => one.median)), median(ratios.map((one) => one.p99))];
  process.stdout.write(
    `\nGETs with hostile requests: median ${ofMedian.toFixed(2)}, p99 ${ofP99.toFixed(2)} of those with valid ones; ` +
      `slowest probe ${slowestProbe.toFixed(0)} ms; memory ${Math.round(before / MiB)} MiB before, ${Math.round(after / MiB)} MiB after\n`,
  );
  const good =
    ofMedian <= limits.slower &&
    ofP99 <= limits.slower &&
    slowestProbe < limits.probeMs &&
    after - before < limits.leftBehind;
  process.stdout.write(good ? 'within the limits\n' : 'OVER THE LIMITS\n');
  process.exitCode = good ? 0 : 1;
} finally {
  await server.stop();
}
