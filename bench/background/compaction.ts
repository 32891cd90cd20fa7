// `npm run bench:compaction` overwrites and deletes objects of which 99 % have 16 KiB or less, until there were 10,000,000 changes or 200 GiB were
// written. Each line has the rates of an interval, the space that no object uses, the size of the records, and what the server wrote for each byte of
// an object. Then the changes stop, and it says how the waste shrinks. At the end all objects are deleted, and it says when their space is back.
// `--minutes 10` is a short form.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseSize } from '../../platform/settings/parse-value.ts';
import { startServer, untilReady } from '../../test/support/server/start-server.ts';
import { ask, askWell } from '../generator/ask.ts';
import { drive } from '../generator/drive.ts';
import { RequestRing, type RingRequest } from '../generator/request-ring.ts';
import { RequestSigner } from '../generator/request-signer.ts';
import { bucket } from '../loads/load.ts';
import { type Bodies, bodiesOf, describeFailures } from '../loads/objects.ts';
import { deviceCounters } from '../machine/device-counters.ts';
import { isInMemory } from '../machine/machine.ts';
import { bytesOnDisk } from '../measure-round.ts';
import { ProcessTree } from '../servers/running-server.ts';
import { markdownTable } from '../report.ts';
import { endpointOf } from '../servers/started-server.ts';
import { number, percentile } from '../statistics.ts';
import { Bounds } from './bounds.ts';

const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '10000000' },
    written: { type: 'string', default: '200GiB' },
    minutes: { type: 'string', default: 'Infinity' },
    objects: { type: 'string', default: '200000' },
    connections: { type: 'string', default: '32' },
    interval: { type: 'string', default: '60' },
    rate: { type: 'string', default: '64MiB' },
    rest: { type: 'string', default: '5' },
    wait: { type: 'string', default: '40' },
    folder: { type: 'string', default: '.coffer/bench-compaction' },
    out: { type: 'string' },
  },
});
const KiB = 1_024;
const GiB = 2 ** 30;
const limit = parseSize(values.written, false);
const max = {
  changes: Number(values.changes),
  bytes: limit.kind === 'bytes' ? limit.bytes : Infinity,
  ms: Number(values.minutes) * 60_000,
};
const count = Number(values.objects);
const connections = Number(values.connections);
const intervalMs = Number(values.interval) * 1_000;
/** Changes that are signed at once. No key is changed twice in them, so that the order of the answers does not matter. */
const turn = Math.min(2_500, count);
const verified = 1_000;
/**
 * Milliseconds after a change until its space is back: a minute for readers, three looks that come twice a minute, and where bodies move
 * another minute for readers.
 */
const GRACE = 5 * 60_000;
/** The share of its full size below which the space of the segments counts as given back. */
const GIVEN_BACK = 0.05;

/** One object of a hundred is larger than 16 KiB, and in a segment. An object keeps its size. */
function bodiesOfKey(at: number): Bodies {
  if (at % 100 === 0) return bodiesOf((at % 200 === 0 ? 256 : 1_024) * KiB);
  return bodiesOf((at % 5 < 3 ? 4 : 16) * KiB);
}

const keyOf = (at: number) => `/${bucket}/${String(at % 1_000).padStart(3, '0')}/${at}`;

/** The number of the content that each object has; 0 where there is none. */
const content = new Float64Array(count);
let writes = 0;

/** The bodies in segments that were replaced or deleted, and those that compaction moved, within `GRACE`. */
const replaced: { readonly at: number; readonly bytes: number }[] = [];

/** Counts the body that this object has as replaced or deleted now. */
function replace(at: number): void {
  if (at % 100 === 0 && content[at] !== 0) replaced.push({ at: performance.now(), bytes: bodiesOfKey(at).size });
}

function replacedInGrace(): number {
  while (replaced[0] !== undefined && replaced[0].at < performance.now() - GRACE) replaced.shift();
  return replaced.reduce((sum, { bytes }) => sum + bytes, 0);
}

function write(at: number): RingRequest {
  const bodies = bodiesOfKey(at);
  replace(at);
  writes += 1;
  content[at] = writes;
  return {
    method: 'PUT',
    path: keyOf(at),
    query: '',
    length: bodies.size,
    stamp: bodies.stamp(writes),
    tail: bodies.tail,
  };
}

function remove(at: number): RingRequest {
  replace(at);
  content[at] = 0;
  return { method: 'DELETE', path: keyOf(at), query: '', length: 0 };
}

/** All keys in a random order, again and again. */
function* keysInTurn(): Generator<number, never> {
  const keys = Array.from({ length: count }, (_, at) => at);
  for (;;) {
    for (let at = keys.length - 1; at > 0; at -= 1) {
      const other = Math.floor(Math.random() * (at + 1));
      [keys[at], keys[other]] = [keys[other] ?? 0, keys[at] ?? 0];
    }
    yield* keys;
  }
}

const folder = resolve(values.folder);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
if (isInMemory(folder)) throw new Error(`${folder} is in memory: name a folder on a disk with --folder`);
const server = await startServer({
  folder: join(folder, 'data'),
  env: {
    SVC_THREADS: '2',
    SVC_PROMETHEUS_AUTH_TYPE: 'public',
    SVC_STORAGE_COMPACTION_RATE: values.rate,
  },
});
await untilReady(server);
const endpoint = endpointOf(server);

async function segmentMetrics() {
  const { body } = await askWell(endpoint, { method: 'GET', path: '/minio/v2/metrics/cluster', query: '' });
  const text = body.toString();
  const value = (name: string) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
  return {
    garbage: value('coffer_segment_garbage_bytes'),
    moved: value('coffer_segment_moved_bytes_total'),
    removed: value('coffer_segments_removed_total'),
  };
}

/**
 * Bytes that were written to the disk, by all programs: with large folios, `write_bytes` of a process counts whole folios, and is ten times as much.
 * NaN where the system does not count them.
 */
const bytesWritten = () => deviceCounters(folder)?.bytesWritten ?? Number.NaN;

/** Milliseconds between two looks at what compaction has moved. */
const LOOK = 5_000;
let movedBefore = 0;

/** Counts the old places of bodies that compaction has moved since the last call as replaced now. */
async function replaceMoved(): Promise<void> {
  const { moved } = await segmentMetrics();
  if (moved > movedBefore) replaced.push({ at: performance.now(), bytes: moved - movedBefore });
  movedBefore = moved;
}

const sizeOf = (name: string) => bytesOnDisk(join(folder, 'data', name));
const segmentBytes = () => sizeOf('blobs');

function liveInSegments(): number {
  let live = 0;
  for (let at = 0; at < count; at += 100) if (content[at] !== 0) live += bodiesOfKey(at).size;
  return live;
}

/** Returns the percentage of the segments that no object uses, without `also` bytes. */
function wasted(segments: number, also = 0): string {
  return ((Math.max(0, segments - liveInSegments() - also) / segments) * 100).toFixed(1);
}

/** Waits without changes, and returns how the waste shrinks: minutes, MiB of segments, percent. */
async function rest(minutes: number): Promise<string> {
  const steps: string[] = [];
  for (const began = performance.now(); performance.now() - began <= minutes * 60_000; await sleep(30_000)) {
    const [segments, at] = [segmentBytes(), (performance.now() - began) / 60_000];
    steps.push(`${at.toFixed(1)} min ${number(segments / 2 ** 20)} MiB ${wasted(segments)} %`);
  }
  return steps.join(', ');
}

/** Turns that were sent again: a machine that stands still for minutes breaks all connections. */
let repeated = 0;

/** Sends each request. Connections that break are no failure: a change may be repeated. */
async function send(requests: readonly RingRequest[], tries = 3): Promise<Uint32Array> {
  const ring = new RequestRing(requests, new RequestSigner(endpoint, new Date()));
  const done = await drive({
    address: endpoint,
    ring,
    connections,
    milliseconds: 800_000,
    repeat: false,
  });
  if (done.failures.size === 0 && done.operations === ring.length) return done.latencies;
  const isBroken = [...done.failures.keys()].every((what) => !what.startsWith('status'));
  if (!isBroken || tries === 1) throw new Error(`changes failed: ${describeFailures(done.failures)} of ${ring.length}`);
  repeated += 1;
  return send(requests, tries - 1);
}

/** Reads a sample of all objects, and compares all bytes. */
async function verify(): Promise<void> {
  for (let at = 0; at < count; at += Math.max(1, Math.floor(count / verified)) | 1) {
    const written = content[at] ?? 0;
    const { status, body } = await ask(endpoint, { method: 'GET', path: keyOf(at), query: '' });
    const isRight = written === 0 ? status === 404 : status === 200 && bodiesOfKey(at).matches(written, body);
    if (!isRight)
      throw new Error(`${keyOf(at)} was answered ${status} with ${body.length} bytes: not content ${written}`);
  }
}

const titles = [
  'minutes',
  'changes',
  'GiB written',
  'changes/s',
  'MiB/s',
  'p50 ms',
  'p99 ms',
  'segments GiB',
  'wasted %',
  'older than 5 min %',
  'counted %',
  'records GiB',
  'moved MiB/s',
  'disk / object bytes',
];
const rows: string[][] = [];
const say = (line: string) => process.stdout.write(`${line}\n`);
const p99s = { moving: [] as number[], still: [] as number[] };

function shown(of: readonly number[]): string {
  return of.length === 0 ? 'none' : `${number(Math.max(...of))} ms at most in ${of.length}`;
}

function report(after: readonly string[]): string {
  return [
    `- ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC; \`npm run bench:compaction -- ${process.argv.slice(2).join(' ')}\``,
    `- ${count.toLocaleString('en-US')} objects: 59 % of 4 KiB, 40 % of 16 KiB, 1 % of 256 KiB and 1 MiB; of the changes 80 % overwrite or write, 20 % delete`,
    `- p99 of intervals in which bodies moved: ${shown(p99s.moving)}; of the others: ${shown(p99s.still)}`,
    ...after.map((line) => `- ${line}`),
    '',
    markdownTable(titles, rows, 0),
    '',
  ].join('\n');
}

// The next look makes up for one that fails.
const looking = setInterval(() => void replaceMoved().catch(() => undefined), LOOK);
try {
  await askWell(endpoint, { method: 'PUT', path: `/${bucket}`, query: '' });
  for (let at = 0; at < count; at += turn) {
    await send(Array.from({ length: Math.min(turn, count - at) }, (_, next) => write(at + next)));
  }
  say(`${count} objects were written`);
  const keys = keysInTurn();
  const began = performance.now();
  let [changes, bytes] = [0, 0];
  let mark = { at: began, changes, bytes, written: bytesWritten(), metrics: await segmentMetrics() };
  let latencies: Uint32Array[] = [];
  const start = mark;
  const bounds = new Bounds(new ProcessTree(server.pid), folder);
  while (changes < max.changes && bytes < max.bytes && performance.now() - began < max.ms) {
    const requests = Array.from({ length: Math.min(turn, max.changes - changes) }, () => {
      const { value: at } = keys.next();
      return Math.random() < 0.2 ? remove(at) : write(at);
    });
    latencies.push(await send(requests));
    changes += requests.length;
    bytes += requests.reduce((sum, request) => sum + request.length, 0);
    const now = performance.now();
    if (now - mark.at < intervalMs) continue;
    await replaceMoved();
    const metrics = await segmentMetrics();
    const [seconds, written, segments] = [(now - mark.at) / 1_000, bytesWritten(), segmentBytes()];
    const all = Uint32Array.from(latencies.flatMap((some) => [...some])).sort();
    const p99 = percentile(all, 0.99) / 1_000;
    const moved = metrics.moved - mark.metrics.moved;
    (moved > 0 ? p99s.moving : p99s.still).push(p99);
    rows.push([
      ((now - began) / 60_000).toFixed(1),
      changes.toLocaleString('en-US'),
      (bytes / GiB).toFixed(1),
      number((changes - mark.changes) / seconds),
      number((bytes - mark.bytes) / seconds / 2 ** 20),
      number(percentile(all, 0.5) / 1_000),
      number(p99),
      (segments / GiB).toFixed(2),
      wasted(segments),
      wasted(segments, replacedInGrace()),
      ((metrics.garbage / segments) * 100).toFixed(1),
      (sizeOf('records') / GiB).toFixed(2),
      number(moved / seconds / 2 ** 20),
      number((written - mark.written) / (bytes - mark.bytes)),
    ]);
    say(rows.at(-1)?.join(' | ') ?? '');
    mark = { at: now, changes, bytes, written, metrics };
    latencies = [];
  }
  const bound = bounds.describe(changes);
  await verify();
  const { metrics: before } = start;
  const after = await segmentMetrics();
  const lines = [
    `${number((changes / (performance.now() - began)) * 1_000)} changes a second; ${number((bytesWritten() - start.written) / bytes)} bytes written to the disk, by all programs, for each byte of an object; ${number((after.moved - before.moved) / bytes)} of them moved; ${after.removed - before.removed} segments removed; a sample of ${verified} objects is as it was written; ${repeated} times ${turn} requests were sent again, since connections broke`,
  ];
  lines.push(bound);
  say(lines.join('\n'));
  lines.push(
    `the segments and their waste after the last change, with ${number(liveInSegments() / 2 ** 20)} MiB live: ${await rest(Number(values.rest))}`,
  );
  say(lines.at(-1) ?? '');
  const full = segmentBytes();
  const present = [...content.keys()].filter((at) => content[at] !== 0);
  for (let at = 0; at < present.length; at += turn) await send(present.slice(at, at + turn).map(remove));
  const deleted = performance.now();
  while (segmentBytes() > GIVEN_BACK * full && performance.now() - deleted < Number(values.wait) * 60_000)
    await sleep(2_000);
  const left = segmentBytes();
  lines.push(
    `all were deleted: after ${number((performance.now() - deleted) / 60_000)} minutes the segments have ${number(left / 2 ** 20)} MiB of ${number(full / 2 ** 20)}`,
  );
  say(`\n${report(lines)}`);
  if (values.out !== undefined) writeFileSync(values.out, report(lines));
} finally {
  clearInterval(looking);
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
