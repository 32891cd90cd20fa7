import { describe, expect, it } from 'vitest';
import { decryptFile } from '../../../protocol/admin/admin-payload.ts';
import { adminTest } from '../../../test/support/admin/admin.ts';
import type { ProfileKind, Diagnostics } from '../../administration/diagnostics.ts';
import { readZip } from '../../administration/zip.ts';
import { goTimings } from './go-timings.ts';

const now = new Date('2026-01-01T00:01:00Z');
const since = Date.parse('2026-01-01T00:00:00Z');

async function diagnosticsAdmin(more: Partial<Diagnostics> = {}) {
  const asked: unknown[] = [];
  const diagnostics: Diagnostics = {
    locks: () =>
      Promise.resolve([
        { resource: '/data', type: 'Write', source: 'data folder', owner: 'h:9000', id: '1', since, stale: false },
        { resource: 'task/profile', type: 'Write', source: 'profile', owner: 'h:9000', id: '2', since, stale: true },
      ]),
    // oxlint-disable-next-line require-await -- results are asynchronous
    async *objectSpeed(options) {
      asked.push(options);
      const sums = { bytesPerSecond: 5, objectsPerSecond: 2, times: [1, 3], firstByteTimes: [1] };
      yield { size: options.size, concurrency: options.concurrency, writes: sums, reads: sums };
    },
    driveSpeed(options) {
      asked.push(options);
      return Promise.resolve({ path: '/data', readBytesPerSecond: 2, writeBytesPerSecond: 1 });
    },
    exclusively(task, _maxMs, work) {
      asked.push(task);
      return work();
    },
    profile(kinds, durationMs) {
      asked.push([kinds, durationMs]);
      return Promise.resolve([{ name: 'main.cpuprofile', content: Buffer.from('{}') }]);
    },
    inspect(bucket, pattern) {
      asked.push([bucket, pattern]);
      return Promise.resolve([{ name: 'b/k/null.json', content: Buffer.from('{}') }]);
    },
    scanner: (bucket) =>
      Promise.resolve({
        walks: [
          { walk: 'scrub', started: since, at: 'b/k' },
          { walk: 'lifecycle', bucket: bucket ?? 'b', started: since, ended: since + 1 },
        ],
        counts: { CheckObject: 7 },
        lifecycle: { expired: 2 },
      }),
    host: () =>
      Promise.resolve({
        drive: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
        network: { name: 'eth0', counters: [1, 2, 3, 4, 5, 6, 7, 8, 9] },
        memory: { total: 100, free: 20, available: 40 },
        cpus: 2,
        load: [1, 2, 3],
        cpuTimes: { user: 1, nice: 0, system: 2, idle: 3, irq: 0 },
      }),
    ...more,
  };
  const given = new Map([
    ['SVC_REGION', { variable: 'SVC_REGION', value: 'home' }],
    ['SVC_ROOT_PASSWORD', { variable: 'SVC_ROOT_PASSWORD', value: undefined }],
    ['SVC_API_X', { variable: 'SVC_API_X', value: 'http://user:hush-hush@host' }],
    [
      'SVC_IDENTITY_PLUGIN_URL',
      { variable: 'SVC_IDENTITY_PLUGIN_URL', value: 'https://plugin/check?k=hush-hush&v=hush-hush' },
    ],
  ]);
  const failure = { since, attempts: 1, error: 'connect ECONNREFUSED 192.0.2.7:5432', retryAt: since };
  const backgroundTasks = () => Promise.resolve([{ task: 'scrub', failure }]);
  const admin = await adminTest({ now, services: { diagnostics, given, backgroundTasks } });
  /** The documents of an endless answer. */
  const lines = async (method: string, target: string) => {
    const { body } = await admin.answer('root', method, target);
    if (body.kind !== 'endless') throw new Error(`the answer is ${body.kind}`);
    let text = '';
    for await (const chunk of body.chunks(new AbortController().signal)) text += chunk.toString();
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  return { ...admin, asked, lines };
}

describe('the locks of a deployment', () => {
  it('are shown with their age, stale ones on request', async () => {
    const { call } = await diagnosticsAdmin();
    expect((await call('root', 'GET', 'top/locks?count=10')).value).toMatchObject([
      { time: '2026-01-01T00:00:00.000Z', elapsed: 60e9, resource: '/data', type: 'Write', owner: 'h:9000' },
    ]);
    expect((await call('root', 'GET', 'top/locks?count=10&stale=true')).value).toHaveLength(2);
  });
});

describe('a speed test', () => {
  it('of objects answers what clients read', async () => {
    const { lines, asked } = await diagnosticsAdmin();
    const query = 'size=1024&duration=2s&concurrent=4&autotune=true';
    expect(await lines('POST', `speedtest?${query}`)).toMatchObject([
      {
        version: '0.1.0',
        servers: 1,
        size: 1_024,
        concurrent: 4,
        PUTStats: { throughputPerSec: 5, objectsPerSec: 2, responseTime: { avg: 2e6, min: 1e6, max: 3e6 } },
        GETStats: { ttfb: { avg: 1e6 }, servers: [{ endpoint: '127.0.0.1:9000', err: '' }] },
      },
    ]);
    expect(asked).toEqual([
      { size: 1_024, concurrency: 4, durationMs: 2_000, autotune: true, keep: false, bucket: undefined },
    ]);
  });

  it.each(['size=0', 'size=-1', 'concurrent=x', 'duration=x'])('refuses %s', async (query) => {
    const { call } = await diagnosticsAdmin();
    expect(await call('root', 'POST', `speedtest?${query}`)).toMatchObject({
      status: 400,
      value: { Code: 'XMinioAdminInvalidArgument' },
    });
  });

  it('in a bucket needs the rights to write, read and delete there', async () => {
    const { call, identities } = await diagnosticsAdmin();
    await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    const Statement = [{ Effect: 'Allow', Action: 'admin:OBDInfo', Resource: 'arn:aws:s3:::*' }];
    await identities.putPolicy('measure', JSON.stringify({ Version: '2012-10-17', Statement }));
    await identities.attach({ kind: 'user', name: 'ann' }, ['measure']);
    expect(await call('ann', 'POST', 'speedtest?bucket=photos')).toMatchObject({ status: 403 });
    expect(await call('ann', 'POST', 'speedtest')).toMatchObject({ status: 200 });
  });

  it('of the drive answers its rates, and an error where it fails', async () => {
    const { lines } = await diagnosticsAdmin();
    expect(await lines('POST', 'speedtest/drive?blocksize=4096&filesize=8192')).toEqual([
      {
        version: '0.1.0',
        endpoint: '127.0.0.1:9000',
        drivePerf: [{ path: '/data', readThroughput: 2, writeThroughput: 1 }],
      },
    ]);
    const failing = await diagnosticsAdmin({ driveSpeed: () => Promise.reject(new Error('no drive')) });
    expect(await failing.lines('POST', 'speedtest/drive')).toMatchObject([{ drivePerf: [{ error: 'no drive' }] }]);
  });

  it('of a client reads what it sends', async () => {
    const { call } = await diagnosticsAdmin();
    expect(await call('root', 'POST', 'speedtest/client/devnull', { plain: 'x'.repeat(100) })).toMatchObject({
      status: 200,
      bytesRead: 100,
    });
    expect((await call('root', 'POST', 'speedtest/client/devnull/extratime')).value).toEqual({});
  });
});

describe('times of Go', () => {
  it('are nanoseconds, and 0 where there is none', () => {
    expect(goTimings([])).toMatchObject({ avg: 0, p50: 0, max: 0, sdev: 0 });
    const hundred = Array.from({ length: 100 }, (_, at) => at + 1);
    expect(goTimings(hundred)).toMatchObject({ avg: 50.5e6, p50: 51e6, p99: 100e6, l5p: 98e6, s5p: 3e6, range: 99e6 });
  });
});

describe('a profile', () => {
  it('is a zip of the kinds that were asked for', async () => {
    const { call, asked } = await diagnosticsAdmin();
    const { status, bytes } = await call('root', 'POST', 'profile?profilerType=cpu,mem&duration=3s');
    expect(status).toBe(200);
    expect((await readZip(bytes, { entries: 10, size: 1_000 })).map(({ name }) => name)).toEqual(['main.cpuprofile']);
    expect(asked).toEqual([[['cpu', 'mem'] satisfies ProfileKind[], 3_000]]);
  });

  it.each(['profilerType=cpu,all', 'duration=1h', 'duration=0s', 'duration=x'])('refuses %s', async (query) => {
    const { call } = await diagnosticsAdmin();
    expect(await call('root', 'POST', `profile?${query}`)).toMatchObject({ status: 400 });
  });
});

describe('an inspection', () => {
  it('answers the key and the encrypted zip', async () => {
    const { answer, asked } = await diagnosticsAdmin();
    const { body } = await answer('root', 'GET', 'inspect-data?volume=b&file=k');
    if (body.kind !== 'bytes') throw new Error(body.kind);
    expect(body.bytes[0]).toBe(1);
    const zip = decryptFile(body.bytes.subarray(1, 33), body.bytes.subarray(33));
    expect((await readZip(zip, { entries: 9, size: 99 })).map(({ name }) => name)).toEqual(['b/k/null.json']);
    expect(asked).toEqual([['b', 'k']]);
  });

  it('takes the form of clients that send a public key', async () => {
    const { call, asked } = await diagnosticsAdmin();
    // The helper takes an octet stream for a document under the secret key of the caller.
    await call('root', 'POST', 'inspect-data', { plain: 'volume=b&file=k&public-key=x' }).catch(() => undefined);
    expect(asked).toEqual([['b', 'k']]);
  });

  it('needs a bucket and a path', async () => {
    const { call } = await diagnosticsAdmin();
    expect(await call('root', 'GET', 'inspect-data?volume=b')).toMatchObject({ status: 400 });
  });
});

describe('live metrics', () => {
  it('of the scanner have what runs, and what was done', async () => {
    const { lines } = await diagnosticsAdmin();
    const [first, ...more] = await lines('GET', 'metrics?types=1&n=1');
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      hosts: ['127.0.0.1:9000'],
      aggregated: {
        scanner: {
          active: ['scrub: b/k'],
          life_time_ops: { CheckObject: 7 },
          ilm_ops: { expired: 2 },
          cycle_complete_times: ['2026-01-01T00:00:00.001Z'],
        },
      },
      final: true,
    });
  });

  it('of the drive and the network have the names of clients', async () => {
    const { lines } = await diagnosticsAdmin();
    const [first] = await lines('GET', `metrics?types=${2 + 32}&n=1&by-disk=true&by-host=true`);
    expect(first).toMatchObject({
      aggregated: { disk: { n_disks: 1, iostats: { read_ios: 1, wrte_sectors: 7, req_ticks: 11, flush_ios: 0 } } },
      by_disk: { '/data': { iostats: { read_ios: 1 } } },
      by_host: { '127.0.0.1:9000': { net: { interfaceName: 'eth0', netstats: { rx_bytes: 1, tx_bytes: 9 } } } },
    });
  });

  it('of all types come without a type', async () => {
    const { lines } = await diagnosticsAdmin();
    const [{ aggregated } = {}] = await lines('GET', 'metrics?n=1');
    expect(Object.keys(aggregated as object).toSorted()).toEqual(['cpu', 'disk', 'mem', 'net', 'rpc', 'scanner']);
  });

  it('of connections to other nodes have every field, at zero', async () => {
    const { lines } = await diagnosticsAdmin();
    const [{ aggregated } = {}] = await lines('GET', 'metrics?types=256&n=1');
    const { collectedAt: _, lastPongTime: __, ...counts } = (aggregated as { rpc: Record<string, unknown> }).rpc;
    expect(counts).toEqual({
      connected: 0,
      reconnectCount: 0,
      disconnected: 0,
      outgoingStreams: 0,
      incomingStreams: 0,
      outgoingBytes: 0,
      incomingBytes: 0,
      outgoingMessages: 0,
      incomingMessages: 0,
      outQueue: 0,
      lastPingMS: 0,
    });
  });

  it('come as often as was asked for', async () => {
    const { lines } = await diagnosticsAdmin();
    expect((await lines('GET', 'metrics?types=64&n=2&interval=1ms')).map(({ final }) => final)).toEqual([false, true]);
  });

  it('of a bucket are the walks of it', async () => {
    const { call } = await diagnosticsAdmin();
    expect((await call('root', 'GET', 'scanner/status/photos')).value).toMatchObject([
      { Ongoing: true, LastStarted: '2026-01-01T00:00:00.000Z' },
      { Ongoing: false, Completed: ['2026-01-01T00:00:00.001Z'] },
    ]);
  });

  it('refuse types that are no number', async () => {
    const { call } = await diagnosticsAdmin();
    expect(await call('root', 'GET', 'metrics?types=all')).toMatchObject({ status: 400 });
  });
});

describe('a report of the health', () => {
  const parts = 'minioinfo=true&minioconfig=true&syserrors=true&sysmem=true&syscpu=true&sysprocess=true';

  async function report(by: string, anonymize: string, admin: Awaited<ReturnType<typeof diagnosticsAdmin>>) {
    const { bytes } = await admin.call(by, 'GET', `healthinfo?${parts}&anonymize=${anonymize}`);
    const text = bytes.toString();
    const at = text.indexOf('\n');
    return { text, head: text.slice(0, at), report: JSON.parse(text.slice(at)) as Record<string, never> };
  }

  it('has the version in a document that the next one is far from', async () => {
    const { head, report: document } = await report('root', 'standard', await diagnosticsAdmin());
    expect(JSON.parse(head)).toEqual({ version: '3' });
    expect(head.length).toBeGreaterThan(4_096);
    expect(document).toMatchObject({
      version: '3',
      sys: { meminfo: [{ total: 100, used: 60 }] },
      minio: { info: { servers: [{ endpoint: 'server1' }] }, config: { config: { SVC_REGION: 'home' } } },
    });
  });

  it('has nothing that stands for what was not measured', async () => {
    const { text } = await report('root', 'standard', await diagnosticsAdmin());
    expect(text).not.toMatch(/"(?:vms|swap|stepping|major|idle|is_docker)"/);
  });

  it('has no secrets, addresses and folders', async () => {
    const { text } = await report('root', 'standard', await diagnosticsAdmin());
    expect(text).not.toMatch(/hush-hush|root-password|127\.0\.0\.1|192\.0\.2\.7|"\/data/);
    expect(text).toContain('scrub: connect ECONNREFUSED ADDRESS');
  });

  it('has nothing that people have named where it is strict', async () => {
    const { text } = await report('root', 'strict', await diagnosticsAdmin());
    expect(text).not.toMatch(/home|ECONNREFUSED/);
  });

  it('has the state and the settings for those alone who may read them', async () => {
    const admin = await diagnosticsAdmin();
    await admin.identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
    const Statement = [{ Effect: 'Allow', Action: 'admin:OBDInfo', Resource: 'arn:aws:s3:::*' }];
    await admin.identities.putPolicy('measure', JSON.stringify({ Version: '2012-10-17', Statement }));
    await admin.identities.attach({ kind: 'user', name: 'ann' }, ['measure']);
    const { text, report: document } = await report('ann', 'standard', admin);
    expect(document).toMatchObject({ minio: { config: { error: 'the caller may not do admin:ConfigUpdate' } } });
    expect(text).not.toContain('SVC_REGION');
  });
});

it.each([
  ['GET', 'top/locks'],
  ['POST', 'speedtest'],
  ['POST', 'speedtest/drive'],
  ['POST', 'speedtest/client/devnull'],
  ['POST', 'profile'],
  ['GET', 'inspect-data?volume=b&file=k'],
  ['GET', 'healthinfo'],
  ['GET', 'metrics?types=1&n=1'],
  ['GET', 'scanner/status/b'],
])('%s %s is refused without its right', async (method, target) => {
  const { call, identities } = await diagnosticsAdmin();
  await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
  expect(await call('ann', method, target)).toMatchObject({ status: 403, value: { Code: 'AccessDenied' } });
});
