// `npm run bench:shared` measures one, two and three servers over the same stores: records in PostgreSQL, blobs on a shared volume (a folder here) and in
// another S3 (MinIO). The same connections are spread over the servers, by turns, so that the ratios compare rounds that ran beside each other. For
// each operation it says what processor time the servers, PostgreSQL, MinIO and the generator took: all of them share this machine.
// `--blobs volume,S3 --loads put-4KiB,get-256KiB --rounds 3 --seconds 3 --connections 32 --out report.md`.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { newDeployment } from '../../test/replicas/deployment.ts';
import { startMinio } from '../../test/support/server/start-minio.ts';
import { askWell } from '../generator/ask.ts';
import type { Endpoint } from '../generator/request-signer.ts';
import { makeBucket, RoundInProgress } from '../generator/session.ts';
import { loadsNamed } from '../loads/loads.ts';
import { deviceCounters } from '../machine/device-counters.ts';
import { markdownTable } from '../report.ts';
import { median, number, spread, withSpread } from '../statistics.ts';
import { boundOf, type Shares } from './bound.ts';
import { childNamed } from './child-named.ts';
import { ProcessTree } from './running-server.ts';
import { endpointOf } from './started-server.ts';

const { values } = parseArgs({
  options: {
    blobs: { type: 'string', default: 'volume,S3' },
    loads: { type: 'string', default: 'put-4KiB,get-4KiB,put-256KiB,get-256KiB,put-1MiB' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    out: { type: 'string' },
  },
});
const loads = loadsNamed(values.loads.split(','));
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = Number(values.connections);
const counts = [1, 2, 3] as const;

/** The figures of one round. Times are microseconds of a processor for each operation. */
interface Figures {
  readonly rate: number;
  readonly servers: number;
  readonly postgres: number;
  readonly minio: number;
  readonly generator: number;
  /** The share of all processors that these took, in percent. */
  readonly busy: number;
  /** Flushes of the disk, of all programs. */
  readonly flushes: number;
  readonly shares: Shares;
}

/** Milliseconds in which a processor had nothing to do, of all of them together, since the start of the system. */
const idleMs = () => cpus().reduce((sum, { times }) => sum + times.idle, 0);

interface Programs {
  readonly endpoints: readonly Endpoint[];
  readonly servers: readonly ProcessTree[];
  readonly postgres: ProcessTree | undefined;
  readonly minio: ProcessTree | undefined;
}

async function measure(load: (typeof loads)[number], count: number, programs: Programs): Promise<Figures> {
  const endpoints = programs.endpoints.slice(0, count);
  const prepared: RoundInProgress[] = [];
  for (const endpoint of endpoints) {
    const id = randomBytes(4).toString('hex');
    const round = {
      endpoint,
      connections: Math.ceil(connections / count),
      id,
      seconds,
      quick: true,
      signPayload: false,
    };
    prepared.push(await RoundInProgress.prepare(load, round));
  }
  const used = () => ({
    each: programs.servers.map((tree) => tree.cpuSeconds()),
    postgres: programs.postgres?.cpuSeconds() ?? 0,
    minio: programs.minio?.cpuSeconds() ?? 0,
    flushes: deviceCounters('.')?.flushes ?? Number.NaN,
    flushMs: deviceCounters('.')?.flushMs ?? Number.NaN,
    idleMs: idleMs(),
  });
  const before = used();
  const began = performance.now();
  const measured = await Promise.all(prepared.map((round) => round.run()));
  const elapsed = (performance.now() - began) / 1_000;
  const after = used();
  for (const round of prepared) await round.finish();
  const operations = measured.reduce((sum, one) => sum + one.operations, 0);
  // All rounds ran in this process, so that each has counted the time of all.
  const generator = Math.max(...measured.map((one) => one.generatorCpu));
  const times = after.each.map((time, at) => time - (before.each[at] ?? 0));
  const [servers, postgres, minio] = [
    times.reduce((sum, time) => sum + time, 0),
    after.postgres - before.postgres,
    after.minio - before.minio,
  ];
  const share = (time: number) => (time / elapsed / availableParallelism()) * 100;
  const each = (time: number) => (time / operations) * 1e6;
  return {
    rate: operations / elapsed,
    servers: each(servers),
    postgres: each(postgres),
    minio: each(minio),
    generator: each(generator),
    busy: share(servers + postgres + minio + generator),
    flushes: (after.flushes - before.flushes) / operations,
    shares: {
      programs: {
        servers: share(servers),
        PostgreSQL: share(postgres),
        MinIO: share(minio),
        'the generator': share(generator),
      },
      idle: share((after.idleMs - before.idleMs) / 1_000),
      // The background thread takes little in these rounds.
      thread: (Math.max(...times) / elapsed) * 100,
      flushing: ((after.flushMs - before.flushMs) / 1_000 / elapsed) * 100,
    },
  };
}

function medianShares(all: readonly Shares[]): Shares {
  const of = (value: (shares: Shares) => number) => median(all.map(value));
  const names = Object.keys(all[0]?.programs ?? {});
  return {
    programs: Object.fromEntries(names.map((name) => [name, of(({ programs }) => programs[name] ?? 0)])),
    idle: of(({ idle }) => idle),
    thread: of(({ thread }) => thread),
    flushing: of(({ flushing }) => flushing),
  };
}

/** Rounds that were measured again: a machine that stands still breaks connections, and servers answer 503 until their records are back. */
let repeated = 0;

async function measureWell(...args: Parameters<typeof measure>): Promise<Figures> {
  for (let tries = 3; ; tries -= 1) {
    try {
      return await measure(...args);
    } catch (error) {
      if (tries === 1) throw error;
      repeated += 1;
      process.stderr.write(`measured again: ${String(error)}\n`);
    }
  }
}

const titles = [
  'blobs',
  'load',
  'servers',
  'operations a second',
  'to one server',
  'servers µs',
  'PostgreSQL µs',
  'MinIO µs',
  'generator µs',
  'processors %',
  'flushes',
  'idle %',
  'flushing %',
  'bound by',
];

/** Measures all loads over one kind of blobs. Returns the rows of the table. */
async function rowsOf(blobs: string, programs: Programs): Promise<string[][]> {
  const rows: string[][] = [];
  for (const load of loads) {
    const found = new Map<number, Figures[]>(counts.map((count) => [count, []]));
    // The first round warms all up, and is discarded.
    for (let round = 0; round <= rounds; round += 1) {
      const order = counts.map((_, index) => counts[(index + round) % counts.length] ?? 1);
      for (const count of order) {
        const figures = await measureWell(load, count, programs);
        if (round > 0) found.get(count)?.push(figures);
      }
    }
    const alone = found.get(1) ?? [];
    for (const [count, figures] of found) {
      const of = (name: Exclude<keyof Figures, 'shares'>) => number(median(figures.map((one) => one[name])));
      const ratios = figures.map(({ rate }, round) => rate / (alone[round]?.rate ?? Number.NaN));
      const shares = medianShares(figures.map((one) => one.shares));
      const ratio = count === 1 ? '' : withSpread(spread(ratios));
      rows.push([
        blobs,
        load.name,
        String(count),
        of('rate'),
        ratio,
        of('servers'),
        of('postgres'),
        of('minio'),
        of('generator'),
        of('busy'),
        of('flushes'),
        number(shares.idle),
        number(shares.flushing),
        boundOf(shares),
      ]);
      process.stdout.write(`${rows.at(-1)?.join(' | ')}\n`);
    }
  }
  return rows;
}

const rows: string[][] = [];
for (const blobs of values.blobs.split(',')) {
  const minio = blobs === 'S3' ? await startMinio() : undefined;
  const deployment = await newDeployment();
  try {
    const env: Record<string, string> = { SVC_THREADS: '1' };
    if (minio !== undefined) {
      const { hostname: host, port } = new URL(minio.url);
      const keys = { accessKey: minio.accessKey, secretKey: minio.secretKey };
      const endpoint = { host, port: Number(port), ...keys, region: 'us-east-1' };
      await askWell(endpoint, { method: 'PUT', path: '/blobs', query: '' });
      env['SVC_STORE_BLOBS'] = 's3://blobs/bench';
      env['SVC_STORE_BLOBS_S3_ENDPOINT'] = minio.url;
      env['SVC_STORE_BLOBS_S3_ACCESS_KEY'] = minio.accessKey;
      env['SVC_STORE_BLOBS_S3_SECRET_KEY'] = minio.secretKey;
    }
    const started = [];
    for (const _ of counts) started.push(await deployment.start(env));
    const endpoints = started.map(endpointOf);
    if (endpoints[0] !== undefined) await makeBucket(endpoints[0], { versioned: false, webhook: false });
    rows.push(
      ...(await rowsOf(blobs, {
        endpoints,
        servers: started.map(({ pid }) => new ProcessTree(pid)),
        postgres: childNamed('/postgres'),
        minio: minio && childNamed('minio'),
      })),
    );
  } finally {
    await deployment.remove();
    await minio?.stop();
  }
}
const report = [
  `- ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC; \`npm run bench:shared -- ${process.argv.slice(2).join(' ')}\``,
  `- ${connections} connections over all servers, of one HTTP thread each; ${rounds} rounds of ${seconds} s by turns after one that is discarded; ${repeated} rounds were measured again, since connections broke`,
  '',
  markdownTable(titles, rows, 2),
  '',
].join('\n');
process.stdout.write(`\n${report}`);
if (values.out !== undefined) writeFileSync(values.out, report);
