// `npm run bench:versions [-- --count 1000000]` measures what versions cost in large buckets: listing this many keys with a delimiter, and
// the same behind as many delete markers; reading and writing a key of 1,000 versions beside one of one version; and the same in a bucket of
// a tenth as many keys of 10 versions. It verifies the counts, and prints a table.
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { askWell } from './generator/ask.ts';
import { drive } from './generator/drive.ts';
import { RequestRing, type RingRequest } from './generator/request-ring.ts';
import { RequestSigner } from './generator/request-signer.ts';
import { makeBucket } from './generator/session.ts';
import { bucket } from './loads/load.ts';
import { bodiesOf, Objects, sendAll, writeOver } from './loads/objects.ts';
import { findServers, Fleet } from './servers/fleet.ts';
import type { RunningServer } from './servers/running-server.ts';
import { number, percentile } from './statistics.ts';
import { markdownTable } from './report.ts';

const { values } = parseArgs({
  options: { count: { type: 'string', default: '1000000' }, coffer: { type: 'string' } },
});
const count = Number(values.count);
const live = 10;
const seconds = 3;
const connections = 32;
const MiB = 2 ** 20;
const rows: string[][] = [];

function row(what: string, figure: string, memory = ''): void {
  rows.push([what, figure, memory]);
  process.stdout.write(`${what}: ${figure} ${memory}\n`);
}

const list = (query: string): RingRequest => ({ method: 'GET', path: `/${bucket}`, query, length: 0 });

/** Measures the first page of a listing, one request at a time. */
async function measureListing(server: RunningServer, what: string, query: string, element: string, expected: number) {
  const { body } = await askWell(server.endpoint, list(query));
  const entries = body.toString('latin1').split(`<${element}>`).length - 1;
  if (entries !== expected) throw new Error(`${what} has ${entries} <${element}>, not ${expected}`);
  const ring = new RequestRing([list(query)], new RequestSigner(server.endpoint, new Date()));
  server.tree.resetPeak();
  const before = server.tree.anonymousBytes();
  const { latencies } = await drive({
    address: server.endpoint,
    ring,
    connections: 1,
    milliseconds: seconds * 1_000,
    repeat: true,
  });
  const sorted = latencies.toSorted();
  const grown = (server.tree.anonymousBytes() - before) / MiB;
  row(
    what,
    `p50 ${number(percentile(sorted, 0.5) / 1_000)} ms, p99 ${number(percentile(sorted, 0.99) / 1_000)} ms`,
    `${number(grown)} MiB`,
  );
}

/** Measures the rate of one request, repeated. */
async function rate(server: RunningServer, request: RingRequest): Promise<number> {
  const ring = new RequestRing([request], new RequestSigner(server.endpoint, new Date()));
  const options = {
    address: server.endpoint,
    ring,
    connections: request.method === 'PUT' ? 1 : connections,
    repeat: true,
  };
  await drive({ ...options, milliseconds: 1_000 });
  const done = await drive({ ...options, milliseconds: seconds * 1_000 });
  if (done.failures.size > 0) throw new Error(`${request.method} failed: ${JSON.stringify([...done.failures])}`);
  return (done.operations / done.milliseconds) * 1_000;
}

const mean = (figures: readonly number[]) => figures.reduce((sum, value) => sum + value, 0) / figures.length;

async function compareKeys(server: RunningServer, what: string, many: Objects, one: Objects): Promise<void> {
  for (const method of ['get', 'head', 'put'] as const) {
    // By turns, since the machine is not quiet.
    const rates: [number[], number[]] = [[], []];
    for (const [slot, objects] of [many, one, one, many].entries()) {
      const figures = slot === 0 || slot === 3 ? rates[0] : rates[1];
      figures.push(await rate(server, objects[method](0)));
    }
    const [ofMany, ofOne] = rates.map(mean);
    row(`${method.toUpperCase()} of ${what}`, `${number(ofMany ?? 0)} /s, of one version ${number(ofOne ?? 0)} /s`);
  }
}

async function measure(server: RunningServer): Promise<void> {
  const { endpoint } = server;
  await makeBucket(endpoint, { versioned: true, webhook: false });
  const bodies = bodiesOf(256);

  const listed = new Objects('z-live', live, bodies);
  await sendAll(
    endpoint,
    listed.all((at) => listed.put(at)),
  );
  await measureListing(server, `LIST of ${live} keys alone`, 'list-type=2', 'Key', live);

  // A DELETE of a key that is not there makes a delete marker in a bucket with versions.
  const markers = new Objects('a-markers', count, bodies);
  for (let at = 0; at < count; at += 50_000) {
    await sendAll(
      endpoint,
      Array.from({ length: Math.min(50_000, count - at) }, (_, next) => markers.delete(at + next)),
    );
  }
  await measureListing(server, `LIST of ${live} keys behind ${count} delete markers`, 'list-type=2', 'Key', live);

  const keys = new Objects('b-keys', count, bodies);
  await writeOver(endpoint, keys, count, 64);
  const folders = Math.min(1_000, Math.ceil(count / 1_000));
  const query = 'delimiter=%2F&list-type=2&prefix=b-keys%2F';
  await measureListing(
    server,
    `LIST of ${count} keys with a delimiter, ${folders} folders`,
    query,
    'CommonPrefixes',
    folders,
  );
  await measureListing(
    server,
    `LIST of the first 1,000 of ${count} keys`,
    'list-type=2&prefix=b-keys%2F',
    'Key',
    Math.min(1_000, count),
  );
  await measureListing(
    server,
    `LIST of the first 1,000 of ${count} versions`,
    'prefix=b-keys%2F&versions=',
    'Key',
    Math.min(1_000, count),
  );

  const many = new Objects('c-many', 1, bodies);
  const one = new Objects('c-one', 1, bodies);
  await writeOver(endpoint, many, 1_000, 1);
  await writeOver(endpoint, one, 1, 1);
  await compareKeys(server, 'a key of 1,000 versions and more', many, one);

  const ten = new Objects('d-ten', count / 10, bodies);
  await writeOver(endpoint, ten, count, 64);
  const other = new Objects('c-other', 1, bodies);
  await writeOver(endpoint, other, 1, 1);
  await compareKeys(server, `a key among ${count / 10} of 10 versions`, ten, other);
}

const folder = resolve('.coffer/bench-versions');
mkdirSync(folder, { recursive: true });
const { installed } = findServers(['coffer'], values);
const fleet = await Fleet.start(installed, folder, {});
try {
  for (const server of fleet.servers.values()) {
    server.resume();
    await measure(server);
  }
} finally {
  await fleet.stop();
  rmSync(join(folder, 'coffer'), { recursive: true, force: true });
}
process.stdout.write(`\n${markdownTable(['what', 'figure', 'memory grew'], rows, 1)}\n`);
