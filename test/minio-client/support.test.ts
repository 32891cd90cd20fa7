import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decryptFile } from '../../protocol/admin/admin-payload.ts';
import { readZip } from '../../server/administration/zip.ts';
import { startMinio } from '../support/server/start-minio.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

let ours: RunningServer;
let theirs: Awaited<ReturnType<typeof startMinio>>;
let folder: string;
let mc: StockMc;

/** Nothing is sent to a company, and the deployment need not be registered there. */
const local = ['--airgap', '--dev'];
const limits = { entries: 1_000, size: 1e8 };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-mc-support-'));
  [ours, theirs] = await Promise.all([startServer(), startMinio()]);
  await untilReady(ours);
  mc = new StockMc(folder);
  await mc.alias('c', ours.s3, ours.accessKey, ours.secretKey);
  await mc.alias('m', theirs.url, theirs.accessKey, theirs.secretKey);
  await writeFile(join(folder, 'body'), 'a secret body');
  for (const alias of ['c', 'm']) {
    await mc.run('mb', `${alias}/photos`);
    await mc.run('cp', join(folder, 'body'), `${alias}/photos/a/cat.jpg`);
  }
}, 360_000);
afterAll(async () => {
  await Promise.all([ours?.stop(), theirs?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** The names of all fields, as `a.b.c`; elements of lists have no number. */
function fieldsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => fieldsOf(one, path));
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, one]) => fieldsOf(one, path === '' ? name : `${path}.${name}`));
}

async function netReport(alias: string) {
  const reports = await mc.run('support', 'top', 'net', ...local, '-n', '1', alias);
  return reports.at(-1) as { readonly aggregated: { readonly net: { readonly netstats: object } } };
}

describe('mc support', { timeout: 720_000 }, () => {
  it('top locks shows the lock of the data folder', async () => {
    const [lock] = await mc.run('support', 'top', 'locks', ...local, 'c');
    expect(lock).toMatchObject({ type: 'Write', source: 'data folder', owner: new URL(ours.s3).host });
  });

  it('top net has the fields of a MinIO', async () => {
    const [our, their] = [await netReport('c'), await netReport('m')];
    expect(our.aggregated.net.netstats).toMatchObject({ rx_bytes: expect.any(Number), tx_bytes: expect.any(Number) });
    expect(fieldsOf(our.aggregated.net).toSorted()).toEqual(fieldsOf(their.aggregated.net).toSorted());
  });

  it('admin scanner status shows the walks', async () => {
    const reports = await mc.run('admin', 'scanner', 'status', '-n', '1', 'c');
    expect(reports.at(-1)).toMatchObject({
      aggregated: { scanner: { life_time_ops: { CheckObject: expect.any(Number) as number } } },
      final: true,
    });
    await mc.run('admin', 'scanner', 'status', '--bucket', 'photos', 'c');
  });

  it.each(['c', 'm'])('perf object measures %s, and leaves nothing', async (alias) => {
    const size = ['--size', '64KiB', '--duration', '2s', '--concurrent', '2'];
    const [result] = await mc.run('support', 'perf', 'object', ...local, ...size, alias);
    const { object } = result as {
      readonly object: Record<string, { readonly perf: { readonly throughput: number } }>;
    };
    expect(object).toMatchObject({ objectSize: 65_536, threads: 2 });
    expect(object['PUT']?.perf.throughput).toBeGreaterThan(0);
    expect(object['GET']?.perf.throughput).toBeGreaterThan(0);
    expect((await mc.run('ls', alias)).map(({ key }) => key)).toEqual(['photos/']);
  });

  it('perf drive measures the data folder, and leaves nothing', async () => {
    const before = await readdir(join(ours.folder, 'blobs'));
    const [result] = await mc.run('support', 'perf', 'drive', ...local, '--filesize', '16MiB', 'c');
    const rate = expect.any(Number) as number;
    expect(result).toMatchObject({ drive: { servers: [{ perf: [{ readThroughput: rate, writeThroughput: rate }] }] } });
    expect(await readdir(join(ours.folder, 'blobs'))).toEqual(before);
  });

  it('perf client measures the connection', async () => {
    const [result] = await mc.run('support', 'perf', 'client', ...local, '--duration', '5s', 'c');
    expect((result as { readonly client: { readonly bytesSent: number } }).client.bytesSent).toBeGreaterThan(0);
  });

  it('profile writes a file of each thread', async () => {
    await mc.run('support', 'profile', ...local, '--type', 'cpu,mem,runtime', '--duration', '1', 'c');
    const files = await readZip(await readFile(join(folder, 'profile.zip')), limits);
    const names = files.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['main.cpuprofile', 'background.cpuprofile', 'http-1.heapprofile']));
    const profile = JSON.parse(files.find(({ name }) => name === 'http-1.cpuprofile')?.content.toString() ?? '{}');
    expect((profile as { readonly nodes: readonly unknown[] }).nodes.length).toBeGreaterThan(0);
    expect(Buffer.concat(files.map(({ content }) => content)).includes(ours.secretKey)).toBe(false);
  });

  it('inspect describes the versions of a key, and has no bytes of it', async () => {
    const [said] = await mc.run('support', 'inspect', ...local, 'c/photos/a/*/xl.meta');
    const { file, key } = said as { readonly file: string; readonly key: string };
    // The key follows four bytes of an id.
    const zip = decryptFile(Buffer.from(key.slice(8), 'hex'), await readFile(join(folder, file)));
    const [entry] = await readZip(zip, limits);
    expect(entry?.name).toBe('photos/a/cat.jpg/null.json');
    expect(entry?.content.toString()).not.toContain('secret');
    const absent = await mc.try('support', 'inspect', ...local, 'c/photos/dog*');
    expect(absent.code).toBe(1);
  });

  it('diag has the parts that mc waits for, and no secret', async () => {
    const { code, text } = await mc.try('support', 'diag', ...local, 'c');
    expect(code, text).toBe(0);
    expect(text).toContain('"deploymentID"');
    expect(text).not.toContain(ours.secretKey);
    expect(text).not.toContain(new URL(ours.s3).host);
  });

  it('perf net says as a MinIO of one server that there is nothing to measure', async () => {
    const replies = await Promise.all(['c', 'm'].map((alias) => mc.try('support', 'perf', 'net', ...local, alias)));
    expect(replies[0]?.code).toBe(replies[1]?.code);
  });
});
