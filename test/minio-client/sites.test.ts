import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCoffer } from '../support/server/run-coffer.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startMinio } from '../support/server/start-minio.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

let first: RunningServer;
let second: RunningServer;
let minio: Awaited<ReturnType<typeof startMinio>>;
let folder: string;
let mc: StockMc;
let here: S3Client;
let there: S3Client;
const wait = { timeout: 120_000, interval: 300 };
const local = ['--airgap', '--dev', '--duration', '1s'];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-mc-sites-'));
  const env = { SVC_THREADS: '1' };
  [first, second, minio] = await Promise.all([startServer({ env }), startServer({ env }), startMinio()]);
  await Promise.all([untilReady(first), untilReady(second)]);
  mc = new StockMc(folder);
  await mc.alias('one', first.s3, first.accessKey, first.secretKey);
  await mc.alias('two', second.s3, second.accessKey, second.secretKey);
  await mc.alias('minio', minio.url, minio.accessKey, minio.secretKey);
  await coffer('alias', 'set', 'one', first.s3, first.accessKey, first.secretKey);
  await coffer('alias', 'set', 'two', second.s3, second.accessKey, second.secretKey);
  [here, there] = [s3Client(first), s3Client(second)];
}, 360_000);
afterAll(async () => {
  await Promise.all([first?.stop(), second?.stop(), minio?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const text = async (client: S3Client, Bucket: string, Key: string) =>
  client.send(new GetObjectCommand({ Bucket, Key })).then(
    ({ Body }) => Body?.transformToString(),
    () => undefined,
  );

async function coffer(...args: readonly string[]) {
  const { code, stdout, stderr } = await runCoffer(['--config-dir', join(folder, 'config'), '--json', ...args]);
  expect({ code, stderr }, `${args.join(' ')}\n${stdout.toString()}`).toMatchObject({ code: 0 });
  const lines = stdout.toString().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
}

const resyncs = async () => (await coffer('admin', 'replicate', 'resync', 'status', 'one', 'two')).at(-1);
const status = async (...flags: readonly string[]) =>
  (await mc.run('admin', 'replicate', 'status', 'one', ...flags))[0];

describe('the replication of sites, set up by stock mc', { timeout: 540_000 }, () => {
  it('is not offered with a MinIO', async () => {
    const { code, text: said } = await mc.try('admin', 'replicate', 'add', 'one', 'minio');
    expect(code).not.toBe(0);
    expect(said).toContain('sites replicate between Coffer servers only');
    expect(await mc.run('admin', 'replicate', 'info', 'one')).toMatchObject([{ enabled: false }]);
  });

  it('has no connection to measure without sites, as a MinIO', async () => {
    const [ours, theirs] = await Promise.all(
      ['one', 'minio'].map((alias) => mc.try('support', 'perf', 'site-replication', ...local, alias)),
    );
    expect([ours?.code, ours?.lines]).toEqual([theirs?.code, theirs?.lines]);
  });

  it('is added, shown, and replicates', async () => {
    await here.send(new CreateBucketCommand({ Bucket: 'old' }));
    await here.send(new PutObjectCommand({ Bucket: 'old', Key: 'x', Body: 'was here' }));
    expect(await mc.run('admin', 'replicate', 'add', 'one', 'two')).toMatchObject([{ success: true }]);
    const [info] = await mc.run('admin', 'replicate', 'info', 'two');
    expect(info).toMatchObject({ enabled: true, name: 'two', sites: [{ name: 'one' }, { name: 'two' }] });
    await expect.poll(() => text(there, 'old', 'x'), wait).toBe('was here');
    await mc.run('mb', 'two/new');
    await mc.run('admin', 'user', 'add', 'two', 'ann', 'ann-password');
    await mc.run('admin', 'policy', 'attach', 'two', 'readonly', '--user', 'ann');
    await mc.run('quota', 'set', 'one/old', '--size', '1GiB');
    await mc.run('anonymous', 'set', 'download', 'one/old');
    await expect.poll(async () => (await mc.try('stat', 'one/new')).code, wait).toBe(0);
    const user = async () => (await mc.try('admin', 'user', 'info', 'one', 'ann')).lines;
    await expect.poll(user, wait).toMatchObject([{ policyName: 'readonly' }]);
    await expect
      .poll(async () => (await mc.try('quota', 'info', 'two/old')).lines, wait)
      .toMatchObject([{ quota: 1024 ** 3 }]);
    await expect.poll(async () => (await fetch(`${second.s3}/old/x`, { method: 'HEAD' })).status, wait).toBe(200);
  });

  it('shows what is in step', async () => {
    await expect
      .poll(() => status(), wait)
      .toMatchObject({ Enabled: true, MaxBuckets: 2, MaxUsers: 1, BucketStats: {}, UserStats: {} });
    const ofBucket = (await status('--bucket', 'old')) as { readonly BucketStats: Record<string, object> };
    expect(Object.values(ofBucket.BucketStats['old'] ?? {})).toMatchObject([
      { HasBucket: true, HasPolicySet: true, PolicyMismatch: false, HasQuotaCfgSet: true, HasReplicationCfg: true },
      { HasBucket: true, HasPolicySet: true, PolicyMismatch: false, HasQuotaCfgSet: true, HasReplicationCfg: true },
    ]);
    expect(JSON.stringify(await status('--user', 'ann'))).toContain('"HasUser":true');
  });

  it('is measured, by mc and by our client', async () => {
    const rate = expect.any(Number) as number;
    const between = (...endpoints: readonly string[]) =>
      endpoints.toSorted().map((endpoint) => ({ endpoint, perf: { tx: rate, rx: rate } }));
    const [sites] = (await mc.run('support', 'perf', 'site-replication', ...local, 'one')) as never as readonly [
      { readonly siteReplication: { readonly servers: readonly { readonly endpoint: string }[] } },
    ];
    const byEndpoint = sites.siteReplication.servers.toSorted((a, b) => (a.endpoint < b.endpoint ? -1 : 1));
    expect(byEndpoint).toMatchObject(between(first.s3, second.s3));
    expect(JSON.stringify(byEndpoint)).not.toMatch(/"[tr]x":0|error/);
    const [network] = await mc.run('support', 'perf', 'net', ...local, 'two');
    expect(network).toMatchObject({ network: { servers: [{ perf: { tx: rate } }, { perf: { tx: rate } }] } });
    expect(await coffer('support', 'perf', 'site-replication', 'two', '--duration', '1s')).toMatchObject([
      {
        perf: {
          nodeResults: [
            { tx: rate, totalConn: 4 },
            { tx: rate, totalConn: 4 },
          ],
        },
      },
    ]);
  });

  it('sends everything again', async () => {
    expect(await mc.run('admin', 'replicate', 'resync', 'start', 'one', 'two')).toMatchObject([
      { op: 'start', status: 'success' },
    ]);
    const { code, text: said } = await mc.try('admin', 'replicate', 'resync', 'cancel', 'one', 'two');
    expect(code === 0 || said.includes('No resync'), said).toBe(true);
    await mc.run('admin', 'replicate', 'resync', 'start', 'one', 'two');
    await expect.poll(async () => JSON.stringify(await resyncs()), wait).toContain('"resyncStatus":"Completed"');
  });

  it('is shown by our client too', async () => {
    expect(await coffer('admin', 'replicate', 'info', 'one')).toMatchObject([
      { enabled: true, sites: [{ name: 'one' }, { name: 'two' }] },
    ]);
    expect(await coffer('admin', 'replicate', 'status', 'one', '--users')).toMatchObject([
      { Enabled: true, MaxUsers: 1, UserStats: {} },
    ]);
  });

  it('is changed, and removed', async () => {
    const [info] = await mc.run('admin', 'replicate', 'info', 'one');
    const sites = info?.['sites'] as readonly { readonly deploymentID: string; readonly endpoint: string }[];
    const deploymentID = sites[1]?.deploymentID ?? '';
    const port = new URL(second.s3).port;
    const update = (url: string) =>
      mc.try('admin', 'replicate', 'update', 'one', '--deployment-id', deploymentID, '--endpoint', url);
    expect((await update(first.s3)).text).toContain('and not the site two');
    expect(await update(`http://localhost:${port}`)).toMatchObject({ code: 0 });
    const endpoints = async () => JSON.stringify(await mc.run('admin', 'replicate', 'info', 'two'));
    await expect.poll(endpoints, wait).toContain(`http://localhost:${port}`);
    await here.send(new PutObjectCommand({ Bucket: 'new', Key: 'later', Body: 'by the new endpoint' }));
    await expect.poll(() => text(there, 'new', 'later'), wait).toBe('by the new endpoint');
    await coffer('admin', 'replicate', 'rm', 'one', '--all', '--force');
    for (const alias of ['one', 'two']) {
      expect(await mc.run('admin', 'replicate', 'info', alias)).toMatchObject([{ enabled: false }]);
    }
    const added = async () => (await mc.try('admin', 'replicate', 'info', 'two')).lines;
    for (const server of [first, second]) await server.untilLogged('has left the replication of sites');
    await mc.run('rb', '--force', 'two/old');
    await mc.run('rb', '--force', 'two/new');
    await coffer('admin', 'replicate', 'add', 'one', 'two');
    await expect.poll(added, wait).toMatchObject([{ enabled: true }]);
    await expect.poll(() => text(there, 'old', 'x'), wait).toBe('was here');
    await coffer('admin', 'replicate', 'rm', 'one', 'two', '--force');
    await expect.poll(added, wait).toMatchObject([{ enabled: false }]);
  });

  it('measures nothing where the only other site is away, and says so', async () => {
    for (const name of ['old', 'new']) await mc.run('rb', '--force', `two/${name}`);
    await coffer('admin', 'replicate', 'add', 'one', 'two');
    await second.stop();
    const { text: said } = await mc.try('support', 'perf', 'site-replication', ...local, 'one');
    expect(said).toMatch(/"error":"the site two .* cannot be reached/);
    const perf = ['support', 'perf', 'site-replication', 'one', '--duration', '1s'];
    const { code, stderr } = await runCoffer(['--config-dir', join(folder, 'config'), ...perf]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/the measurement site-replication of one failed: the site two .* cannot be reached/);
  });
});
