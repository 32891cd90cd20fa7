// `npm run bench:formats -- --before DIR --after DIR` measures what a format of records costs: a Coffer of each checkout, by turns, with records in LMDB
// and in PostgreSQL. Each is started `--starts` times over its own data, and takes each load of `--loads` once at each start. It prints the medians with
// their quartiles, the processor time of an operation, and the bytes of records. `--says TEXT` waits for a line of the later one before it is measured.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { decodeKey, within } from '../server/store/keys.ts';
import { openRecordStore } from '../server/store/open-stores.ts';
import type { RecordsAddress } from '../platform/store-address/store-address.ts';
import { s3Requests } from '../test/linearizability/s3-requests.ts';
import { freePort } from '../test/support/process/free-port.ts';
import { startPostgres, type TestDatabase } from '../test/support/server/postgres.ts';
import { askWell } from './generator/ask.ts';
import type { Endpoint } from './generator/request-signer.ts';
import { makeBucket, RoundInProgress } from './generator/session.ts';
import { bucket, type Load } from './loads/load.ts';
import { loadsNamed } from './loads/loads.ts';
import { markdownTable } from './report.ts';
import { childNamed } from './servers/child-named.ts';
import { type ProcessTree, RunningServer } from './servers/running-server.ts';
import { serverNamed } from './servers/server-programs.ts';
import { median, number, quartiles } from './statistics.ts';

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    after: { type: 'string', default: '.' },
    says: { type: 'string' },
    engines: { type: 'string', default: 'lmdb,postgres' },
    loads: { type: 'string', default: 'put-4KiB,get-4KiB,get-version,head-4KiB,list,list-versions' },
    starts: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    out: { type: 'string' },
  },
});
if (values.before === undefined) throw new Error('usage: npm run bench:formats -- --before DIR [--after DIR]');
const checkouts = { before: resolve(values.before), after: resolve(values.after) };
type Side = keyof typeof checkouts;
const starts = Number(values.starts);
const seconds = Number(values.seconds);
const connections = Number(values.connections);
const loads = loadsNamed(values.loads.split(','));
const saysWithinMs = 60_000;
/** V8 has optimized a path after some 50,000 requests. */
const warmUpSeconds = 2;

/** The figures of one load at one start. Times are microseconds of a processor for each operation. */
interface Figures {
  readonly rate: number;
  readonly server: number;
  readonly postgres: number;
}

/** One checkout over data of its own. */
interface Deployment {
  readonly data: string;
  readonly address: RecordsAddress;
  readonly env: Readonly<Record<string, string>>;
}

function deploymentOf(folder: string, database: TestDatabase | undefined): Deployment {
  rmSync(folder, { recursive: true, force: true });
  const data = join(folder, 'data');
  mkdirSync(data, { recursive: true });
  const log = { SVC_LOG_LEVEL: 'info' };
  if (database === undefined) return { data, address: { kind: 'lmdb', folder: join(data, 'records') }, env: log };
  const { url, password } = database;
  mkdirSync(join(folder, 'blobs'));
  const stores = {
    SVC_STORE_RECORDS: url,
    SVC_STORE_RECORDS_PASSWORD: password,
    SVC_STORE_BLOBS: `files:${join(folder, 'blobs')}`,
  };
  return { data, address: { kind: 'postgres', url, password }, env: { ...log, ...stores } };
}

async function started(side: Side, { data, env }: Deployment): Promise<RunningServer> {
  const program = serverNamed('coffer', { coffer: checkouts[side] });
  const path = program.find() ?? '';
  const run = { program: path, folder: data, port: await freePort(), secondPort: await freePort() };
  rmSync(`${data}.log`, { force: true });
  const server = await RunningServer.start(program, run, env);
  if (side === 'after' && values.says !== undefined) await untilSaid(`${data}.log`, values.says);
  return server;
}

async function untilSaid(path: string, text: string): Promise<void> {
  for (const end = Date.now() + saysWithinMs; Date.now() < end; await sleep(100)) {
    if (readFileSync(path, 'utf8').includes(text)) return;
  }
  throw new Error(`${path} does not say "${text}" within ${saysWithinMs / 1_000} s`);
}

async function measure(load: Load, server: RunningServer, postgres: ProcessTree | undefined): Promise<Figures> {
  const round = async (lasting: number) => {
    const id = randomBytes(4).toString('hex');
    const options = { endpoint: server.endpoint, connections, id, seconds: lasting, quick: true, signPayload: false };
    return RoundInProgress.prepare(load, options);
  };
  const warmUp = await round(warmUpSeconds);
  await warmUp.run();
  await warmUp.finish();
  const measured = await round(seconds);
  const before = { server: server.tree.cpuSeconds(), postgres: postgres?.cpuSeconds() ?? 0 };
  const { operations, milliseconds } = await measured.run();
  const used = {
    server: server.tree.cpuSeconds() - before.server,
    postgres: (postgres?.cpuSeconds() ?? 0) - before.postgres,
  };
  await measured.finish();
  return {
    rate: (operations / milliseconds) * 1_000,
    server: (used.server / operations) * 1e6,
    postgres: (used.postgres / operations) * 1e6,
  };
}

const tags = Buffer.from('<Tagging><TagSet><Tag><Key>colour</Key><Value>black</Value></Tag></TagSet></Tagging>');
const body = Buffer.alloc(4_096, 'x');
const kinds = ['object', 'two-versions', 'tags', 'from-elsewhere'] as const;

/** A version as MinIO replicates it. */
const foreignId = '0f9a2b1c-3d4e-4f50-8a6b-7c8d9e0f1a2b';
const replicated = {
  'x-minio-source-mtime': '2026-01-01T00:00:00.123456789Z',
  'x-minio-source-replication-request': 'true',
};

const put = (key: (typeof kinds)[number], query = '') =>
  ({ method: 'PUT', path: `/${bucket}/kinds/${key}`, query }) as const;

/** Writes an object of each kind whose records are compared. */
async function writeKinds(endpoint: Endpoint): Promise<void> {
  await askWell(endpoint, put('object'), body);
  for (const _ of ['noncurrent', 'current']) await askWell(endpoint, put('two-versions'), body);
  await askWell(endpoint, put('tags'), body);
  await askWell(endpoint, put('tags', 'tagging='), tags);
  // A server that does not know such ids refuses it, and has no figure.
  const { send, close } = s3Requests({ ...endpoint, endpoint: `http://${endpoint.host}:${endpoint.port}`, bucket });
  await send('PUT', 'kinds/from-elsewhere', { query: `versionId=${foreignId}`, headers: replicated, body });
  close();
}

/** Returns the bytes of the keys and values of all records of each kind of object, without its body. */
async function recordBytes(address: RecordsAddress): Promise<ReadonlyMap<string, number>> {
  const records = await openRecordStore(address, { log: pino({ enabled: false }), readOnly: true });
  const bytes = new Map<string, number>();
  try {
    for (const prefix of ['o', 'l', 'v', 'w']) {
      for await (const item of records.scan(within(prefix, bucket))) {
        if (item.kind !== 'entry') continue;
        const [folder, kind = ''] = String(decodeKey(item.key)[2]).split('/');
        if (folder === 'kinds') bytes.set(kind, (bytes.get(kind) ?? 0) + item.key.length + item.value.length);
      }
    }
  } finally {
    await records.close();
  }
  return bytes;
}

const microseconds = (figures: readonly number[]) => {
  const [lower, upper] = quartiles(figures);
  return `${number(median(figures))} (${number(lower)}–${number(upper)})`;
};

/** Says if the later figures lose more than the quartiles overlap. `better` is the sign of a gain. */
function loses(before: readonly number[], after: readonly number[], better: 1 | -1): boolean {
  const [[lower, upper], [laterLower, laterUpper]] = [quartiles(before), quartiles(after)];
  return better === 1 ? laterUpper < lower : laterLower > upper;
}

const figureRows: string[][] = [];
const byteRows: string[][] = [];

async function compare(engine: string, sides: Readonly<Record<Side, Deployment>>, postgres: ProcessTree | undefined) {
  const found = new Map(loads.map((load) => [load.name, { before: [] as Figures[], after: [] as Figures[] }]));
  for (let start = 0; start < starts; start += 1) {
    const order: readonly Side[] = start % 2 === 0 ? ['before', 'after'] : ['after', 'before'];
    for (const side of order) {
      const server = await started(side, sides[side]);
      try {
        await makeBucket(server.endpoint, { versioned: true, webhook: false });
        if (start === 0) await writeKinds(server.endpoint);
        for (const load of loads) found.get(load.name)?.[side].push(await measure(load, server, postgres));
      } finally {
        await server.stop();
      }
      process.stderr.write(`${engine}, start ${start + 1} of ${starts}: ${side} is measured\n`);
    }
  }
  for (const [load, { before, after }] of found) {
    const columns = (['rate', 'server', 'postgres'] as const).filter((name) => name !== 'postgres' || postgres);
    const cells = columns.flatMap((name) => {
      const [one, other] = [before.map((figures) => figures[name]), after.map((figures) => figures[name])];
      const lost = loses(one, other, name === 'rate' ? 1 : -1) ? ' **loses**' : '';
      return [microseconds(one), `${microseconds(other)}${lost}`];
    });
    figureRows.push([engine, load, ...cells, ...(postgres ? [] : ['', ''])]);
  }
  const [before, after] = [await recordBytes(sides.before.address), await recordBytes(sides.after.address)];
  for (const kind of kinds) {
    byteRows.push([engine, kind, ...[before, after].map((bytes) => String(bytes.get(kind) ?? 'refused'))]);
  }
}

const folder = resolve('.coffer/bench-formats');
try {
  for (const engine of values.engines.split(',')) {
    const postgres = engine === 'postgres' ? await startPostgres({ parent: process.cwd() }) : undefined;
    try {
      const sides = {
        before: deploymentOf(join(folder, 'before'), await postgres?.createDatabase()),
        after: deploymentOf(join(folder, 'after'), await postgres?.createDatabase()),
      };
      await compare(engine, sides, postgres && childNamed('/postgres'));
    } finally {
      await postgres?.remove();
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const versions = (['before', 'after'] as const).map((side) => {
  const program = serverNamed('coffer', { coffer: checkouts[side] });
  return `${side} ${program.version(program.find() ?? '')}`;
});
const titles = ['/s', 'server, µs', 'PostgreSQL, µs'].flatMap((name) => [`${name}, before`, `${name}, after`]);
const report = [
  `- ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC; ${versions.join('; ')}`,
  `- ${starts} starts of each by turns, ${seconds} s for each load, ${connections} connections; medians and quartiles; µs are processor time of an operation`,
  '',
  markdownTable(['engine', 'load', ...titles], figureRows, 2),
  '',
  markdownTable(['engine', 'records of', 'bytes, before', 'bytes, after'], byteRows, 2),
  '',
].join('\n');
process.stdout.write(report);
if (values.out !== undefined) writeFileSync(values.out, report);
