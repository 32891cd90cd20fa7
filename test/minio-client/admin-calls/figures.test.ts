import { cpus, tmpdir } from 'node:os';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { counts, domains, startFiguredServer, storedBuckets } from '../../support/admin/figured-server.ts';
import { runCommand, tool } from '../../support/process/run-command.ts';
import { StockMc } from '../stock-mc.ts';
import { type Account, walkMadmin, walkMinioPy } from './walk-clients.ts';

let figured: Awaited<ReturnType<typeof startFiguredServer>>;
let account: Account;
let folder: string;
let mc: StockMc;
/** What madmin-go and minio-py made of the reports, by the names of their calls. */
let read: ReadonlyMap<string, never>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-figures-'));
  figured = await startFiguredServer();
  account = { ...figured.server, url: figured.server.s3 };
  mc = new StockMc(folder);
  await mc.alias('c', account.url, account.accessKey, account.secretKey);
  const calls = ['ServerInfo', 'StorageInfo', 'DataUsageInfo', 'AccountInfo', 'ServerHealthInfo'];
  const [byGo, byPython] = await Promise.all([
    walkMadmin(account, account, calls),
    walkMinioPy(account, ['info', 'account_info', 'get_data_usage_info']),
  ]);
  const results = [...byGo.results, ...byPython.results];
  expect(results.filter(({ end }) => end !== 'done')).toEqual([]);
  read = new Map(results.map(({ call, answer }) => [call, answer as never]));
}, 720_000);
afterAll(async () => {
  await figured?.stop();
  await rm(folder, { recursive: true, force: true });
});

const kms = { kms: { status: 'online', encrypt: 'online', decrypt: 'online' } };
const targets = { audit: [{ file: { status: 'online' } }, { 'webhook:SIEM': { status: 'online' } }] };
const info = {
  ...counts,
  mode: 'online',
  domain: [...domains],
  region: 'us-east-1',
  sqsARN: ['arn:minio:sqs:us-east-1:HOOK:webhook'],
  services: { ...kms, ...targets, notifications: [{ webhook: [{ HOOK: { status: 'online' } }] }] },
  backend: { onlineDisks: 1 },
  pools: { 0: { 0: { objectsCount: 3, versionsCount: 5, deleteMarkersCount: 1, usage: counts.usage.size } } },
};
const accountInfo = {
  Buckets: Object.entries(storedBuckets).map(([name, { versions, deleteMarkers, ...stored }]) => ({
    name,
    ...stored,
    ...(versions > 0 && { versions, deleteMarkers }),
  })),
};
const usage = { objectsCount: 3, versionsCount: 5, deleteMarkersCount: 1, objectsTotalSize: 300_013, bucketsCount: 2 };

describe('the figures of a server are read by', () => {
  it('madmin-go: the state', () => expect(read.get('ServerInfo')).toMatchObject(info));
  // The client knows no versions in them, and no delete markers.
  it('madmin-go: an account', () => {
    const sizes = Object.entries(storedBuckets).map(([name, { size, objects }]) => ({ name, size, objects }));
    expect(read.get('AccountInfo')).toMatchObject({ Buckets: sizes });
  });
  it('madmin-go: the usage', () => {
    const { objectsCount, objectsTotalSize, bucketsCount } = usage;
    expect(read.get('DataUsageInfo')).toMatchObject({ objectsCount, objectsTotalSize, bucketsCount });
  });
  it('madmin-go: the store', () => {
    const { Disks } = read.get('StorageInfo') as unknown as { readonly Disks: readonly Record<string, number>[] };
    expect(Disks).toMatchObject([{ state: 'ok', local: true, totalspace: expect.any(Number) }]);
    const { totalspace = 0, usedspace = 0, availspace = 0 } = Disks[0] ?? {};
    expect(totalspace).toBeGreaterThan(0);
    expect(usedspace + availspace).toBe(totalspace);
  });
  it('madmin-go: the report of the health', () => {
    const { minio, sys } = (read.get('ServerHealthInfo') as unknown as { readonly report: Record<string, object> })
      .report;
    const servers = [
      { drives: [{ state: 'ok', local: true, totalspace: expect.any(Number) }], num_cpu: cpus().length },
    ];
    const { objects, buckets, usage } = counts;
    expect(minio).toMatchObject({ info: { region: 'us-east-1', objects, buckets, usage, servers } });
    expect(sys).toMatchObject({ cpus: [{ cpus: expect.any(Array) }], meminfo: [{ total: expect.any(Number) }] });
  });
  it('minio-py: the state', () => expect(read.get('info')).toMatchObject(info));
  it('minio-py: an account', () => expect(read.get('account_info')).toMatchObject(accountInfo));
  it('minio-py: the usage', () => expect(read.get('get_data_usage_info')).toMatchObject(usage));
  it('mc: the state', async () => expect(await mc.run('admin', 'info', 'c')).toMatchObject([{ info }]));
});

type Families = Readonly<Record<string, { type: string; series: readonly { labels: object; value: number }[] }>>;

async function parsed(text: string): Promise<Families> {
  const { code, stdout, stderr } = await runCommand(tool('bin/madmin-calls', 'madmin'), ['metrics'], { input: text });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Families;
}

async function sum(group: string, name: string): Promise<number | undefined> {
  const families = await parsed(await (await fetch(`${account.url}/minio/v2/metrics/${group}`)).text());
  return families[name]?.series.reduce((total, { value }) => total + value, 0);
}

describe('the parser of Prometheus reads', () => {
  it.each(['cluster', 'node', 'bucket', 'resource'])('the group %s: each metric once, with its type', async (group) => {
    const response = await fetch(`${account.url}/minio/v2/metrics/${group}`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    const families = await parsed(text);
    // Those without a value now are announced alone.
    const announced = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
      .map(([, name = '', type = '']) => [name, type] as const)
      .filter(
        ([name]) => text.includes(`\n${name}{`) || text.includes(`\n${name} `) || text.includes(`\n${name}_bucket{`),
      );
    expect(Object.keys(families).toSorted()).toEqual(announced.map(([name]) => name).toSorted());
    for (const [name, type] of announced) expect([name, families[name]?.type]).toEqual([name, type]);
  });

  it('the counts of the cluster and of each bucket', async () => {
    expect(await sum('cluster', 'minio_cluster_usage_object_total')).toBe(3);
    expect(await sum('cluster', 'minio_cluster_usage_version_total')).toBe(5);
    expect(await sum('cluster', 'minio_cluster_usage_deletemarker_total')).toBe(1);
    expect(await sum('cluster', 'minio_cluster_usage_total_bytes')).toBe(counts.usage.size);
    expect(await sum('cluster', 'minio_cluster_bucket_total')).toBe(2);
    expect(await sum('bucket', 'minio_bucket_usage_total_bytes')).toBe(counts.usage.size);
    expect(await sum('bucket', 'minio_bucket_usage_object_total')).toBe(3);
  });
});
