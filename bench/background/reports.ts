// `npm run bench:reports [-- --count 1000000 --requests 100000]` measures what inventories cost the requests that are served meanwhile,
// and checks that access logs and inventories are complete: GoAccess reads every line of the logs, DuckDB every row of the reports.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { tool } from '../../test/support/process/run-command.ts';
import { ask, askWell } from '../generator/ask.ts';
import { drive } from '../generator/drive.ts';
import { RequestRing, type RingRequest } from '../generator/request-ring.ts';
import { type Endpoint, RequestSigner } from '../generator/request-signer.ts';
import { makeBucket } from '../generator/session.ts';
import { bucket } from '../loads/load.ts';
import { bodiesOf, Objects, sendAll, writeOver } from '../loads/objects.ts';
import { markdownTable } from '../report.ts';
import { findServers, Fleet } from '../servers/fleet.ts';
import type { RunningServer } from '../servers/running-server.ts';
import { number } from '../statistics.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '1000000' },
    requests: { type: 'string', default: '100000' },
    coffer: { type: 'string' },
  },
});
const count = Number(values.count);
const requests = Number(values.requests);
const folder = resolve('.coffer/bench-reports');
const seconds = 5;
const readObjects = 4_000;
/** Each thread looks every five seconds which buckets have logs. */
const untilSeenMs = 6_000;
const logInterval = 2;
const rows: string[][] = [];
const bodies = bodiesOf(256);
const objects = new Objects('keys', count, bodies);

function row(what: string, figure: string): void {
  rows.push([what, figure]);
  process.stdout.write(`${what}: ${figure}\n`);
}

const put = (endpoint: Endpoint, path: string, query: string, body = '') =>
  askWell(endpoint, { method: 'PUT', path, query }, Buffer.from(body));
const mean = (figures: readonly number[]) => figures.reduce((sum, value) => sum + value, 0) / figures.length;
const share = (part: readonly number[], whole: readonly number[]) => `${number((100 * mean(part)) / mean(whole))} %`;
const gets = Array.from({ length: Math.min(readObjects, count) }, (_, at) => objects.get(at));

/** Measures GETs for some seconds; operations a second. */
async function rate({ endpoint }: RunningServer): Promise<number> {
  const ring = new RequestRing(gets, new RequestSigner(endpoint, new Date()));
  const options = { address: endpoint, ring, connections: 32, milliseconds: seconds * 1_000, repeat: true };
  const { operations, milliseconds, failures } = await drive(options);
  if (failures.size > 0) throw new Error(`GET failed: ${JSON.stringify([...failures])}`);
  return (operations / milliseconds) * 1_000;
}

async function setLogs(endpoint: Endpoint, prefix: string | undefined): Promise<void> {
  const target = `<LoggingEnabled><TargetBucket>logs</TargetBucket><TargetPrefix>${prefix}</TargetPrefix></LoggingEnabled>`;
  const document = `<BucketLoggingStatus>${prefix === undefined ? '' : target}</BucketLoggingStatus>`;
  await put(endpoint, `/${bucket}`, 'logging=', document);
  await sleep(untilSeenMs);
}

/** The keys of a bucket below a prefix. */
async function keysOf(endpoint: Endpoint, name: string, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for (let after = ''; ; after = keys.at(-1) ?? '') {
    const query = new URLSearchParams({ 'list-type': '2', prefix, 'start-after': after });
    query.sort();
    const { body } = await askWell(endpoint, { method: 'GET', path: `/${name}`, query: query.toString() });
    const page = [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key);
    keys.push(...page);
    if (page.length < 1_000) return keys;
  }
}

async function bodiesBelow(endpoint: Endpoint, name: string, prefix: string): Promise<Buffer[]> {
  const found: Buffer[] = [];
  for (const key of await keysOf(endpoint, name, prefix)) {
    found.push((await askWell(endpoint, { method: 'GET', path: `/${name}/${key}`, query: '' })).body);
  }
  return found;
}

async function measureLogs(server: RunningServer): Promise<void> {
  const { endpoint } = server;
  await put(endpoint, '/logs', '');
  await setLogs(endpoint, 'exact/');
  const asked: RingRequest[] = Array.from({ length: requests }, (_, at) => gets[at % gets.length] ?? objects.get(0));
  await sendAll(endpoint, asked);
  let lines: string[] = [];
  for (let tries = 0; tries < 30 && lines.length < requests; tries += 1) {
    await sleep(logInterval * 1_000);
    const texts = await bodiesBelow(endpoint, 'logs', 'exact/');
    lines = texts
      .flatMap((text) => text.toString('latin1').split('\n'))
      .filter((line) => line.includes('REST.GET.OBJECT'));
  }
  const file = join(folder, 'access.log');
  writeFileSync(file, `${lines.join('\n')}\n`, 'latin1');
  const ids = new Set(lines.map((line) => line.split(' ')[6]));
  const options = ['--log-format=AWSS3', '--no-global-config', '--no-progress', '-o', join(folder, 'access.json')];
  execFileSync('goaccess', [file, ...options], { stdio: 'ignore' });
  const { general } = JSON.parse(execFileSync('cat', [join(folder, 'access.json')]).toString()) as {
    readonly general: {
      readonly total_requests: number;
      readonly valid_requests: number;
      readonly failed_requests: number;
    };
  };
  row(`access logs of ${requests} requests`, `${lines.length} lines with ${ids.size} request IDs`);
  row('read by GoAccess (AWSS3)', `${general.valid_requests} valid, ${general.failed_requests} failed`);
  if (ids.size !== requests || general.valid_requests !== requests) throw new Error('the access logs are not complete');
  await setLogs(endpoint, undefined);
}

const fields = [
  'Size',
  'LastModifiedDate',
  'ETag',
  'StorageClass',
  'EncryptionStatus',
  'ChecksumAlgorithm',
  'ObjectOwner',
];

async function measureInventory(server: RunningServer, format: 'CSV' | 'Parquet'): Promise<void> {
  const { endpoint } = server;
  const before = [await rate(server), await rate(server)];
  const started = performance.now();
  await put(
    endpoint,
    `/${bucket}`,
    `id=${format}&inventory=`,
    `<InventoryConfiguration><Id>${format}</Id><IsEnabled>true</IsEnabled><Destination><S3BucketDestination><Format>${format}</Format>` +
      `<Bucket>arn:aws:s3:::reports</Bucket></S3BucketDestination></Destination><Schedule><Frequency>Daily</Frequency></Schedule>` +
      `<IncludedObjectVersions>All</IncludedObjectVersions><OptionalFields>${fields.map((field) => `<Field>${field}</Field>`).join('')}` +
      `</OptionalFields></InventoryConfiguration>`,
  );
  const prefix = `${bucket}/${format}/`;
  const during: number[] = [];
  server.tree.resetPeak();
  const memory = server.tree.anonymousBytes();
  let checksum: string | undefined;
  // A round begins every ten seconds.
  await sleep(10_000);
  for (let tries = 0; tries < 200 && checksum === undefined; tries += 1) {
    const figure = await rate(server);
    checksum = (await keysOf(endpoint, 'reports', prefix)).find((key) => key.endsWith('manifest.checksum'));
    if (checksum === undefined || during.length === 0) during.push(figure);
  }
  if (checksum === undefined) throw new Error('the inventory did not end');
  const took = (performance.now() - started) / 1_000;
  const grown = (server.tree.anonymousBytes() - memory) / 2 ** 20;
  const after = [await rate(server), await rate(server)];
  row(`GET of 256 bytes before and after the inventory (${format})`, `${number(mean([...before, ...after]))} /s`);
  row(
    `the same while it is written, ${during.length * seconds} of ${number(took)} s`,
    `${number(mean(during))} /s, ${share(during, [...before, ...after])}; memory grew by ${number(grown)} MiB`,
  );
  await compare(endpoint, prefix, checksum.replace(/checksum$/, 'json'), format);
}

/** Counts the rows by DuckDB, which reads both formats. */
async function compare(endpoint: Endpoint, prefix: string, manifestKey: string, format: string): Promise<void> {
  const manifest = JSON.parse(
    (await askWell(endpoint, { method: 'GET', path: `/reports/${manifestKey}`, query: '' })).body.toString(),
  ) as { readonly fileSchema: string; readonly files: readonly { readonly key: string }[] };
  const place = join(folder, format);
  mkdirSync(place, { recursive: true });
  for (const [at, { key }] of manifest.files.entries()) {
    const { body } = await ask(endpoint, { method: 'GET', path: `/reports/${key}`, query: '' });
    writeFileSync(join(place, `${at}.${format === 'CSV' ? 'csv.gz' : 'parquet'}`), body);
  }
  const names = manifest.fileSchema.split(', ').map((name) => `'${name}'`);
  const table =
    format === 'CSV'
      ? `(SELECT Key AS key, CAST(Size AS BIGINT) AS size FROM read_csv('${place}/*.csv.gz', header = false, all_varchar = true, names = [${names.join(', ')}]))`
      : `read_parquet('${place}/*.parquet')`;
  const sql = `SELECT COUNT(*), COUNT(DISTINCT key), SUM(size) FROM ${table} WHERE key LIKE 'keys/%'`;
  const script = `import duckdb, json; duckdb.sql('SET enable_progress_bar = false'); print(json.dumps([int(one) for one in duckdb.sql("""${sql}""").fetchall()[0]]))`;
  const found = execFileSync(tool('select/bin/python', 'select'), ['-c', script]).toString().trim();
  row(`${format} of ${count} objects by DuckDB, ${manifest.files.length} files`, `rows, keys, bytes: ${found}`);
  if (!isDeepStrictEqual(JSON.parse(found), [count, count, count * bodies.size]))
    throw new Error(`${prefix} is not complete`);
}

mkdirSync(folder, { recursive: true });
const { installed } = findServers(['coffer'], values);
const fleet = await Fleet.start(installed, folder, { SVC_ACCESS_LOG_INTERVAL: `${logInterval}s` });
try {
  for (const server of fleet.servers.values()) {
    server.resume();
    await makeBucket(server.endpoint, { versioned: false, webhook: false });
    await writeOver(server.endpoint, objects, count, 64);
    await put(server.endpoint, '/reports', '');
    await measureLogs(server);
    await measureInventory(server, 'CSV');
    await measureInventory(server, 'Parquet');
  }
} finally {
  await fleet.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`\n${markdownTable(['what', 'figure'], rows, 1)}\n`);
