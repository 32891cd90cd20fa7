import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMinio } from '../support/server/start-minio.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

let ours: RunningServer;
let theirs: Awaited<ReturnType<typeof startMinio>>;
let folder: string;
let mc: StockMc;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-mc-batch-'));
  [ours, theirs] = await Promise.all([startServer(), startMinio('127.0.0.1')]);
  await untilReady(ours);
  mc = new StockMc(folder);
  await mc.alias('c', ours.s3, ours.accessKey, ours.secretKey);
  await mc.alias('m', theirs.url, theirs.accessKey, theirs.secretKey);
}, 180_000);
afterAll(async () => {
  await Promise.all([ours?.stop(), theirs?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const expire = (bucket: string, rules: string) =>
  `expire:\n  apiVersion: v1\n  bucket: ${bucket}\n  rules:\n${rules}\n  retry:\n    attempts: 1\n    delay: 100ms\n`;

async function job(name: string, definition: string): Promise<string> {
  const file = join(folder, `${name}.yaml`);
  await writeFile(file, definition);
  return file;
}

/** Starts a job, waits for its end, and returns what `mc` says of it. */
async function run(alias: string, file: string) {
  const started = await mc.try('batch', 'start', alias, file);
  const { id, type } = (started.lines[0] as { readonly result: { readonly id: string; readonly type: string } }).result;
  const metric = async () => {
    const { lines } = await mc.try('batch', 'status', alias, id);
    return (lines.at(-1) as { readonly metric?: Record<string, unknown> } | undefined)?.metric;
  };
  await expect.poll(async () => (await metric())?.['complete'], { timeout: 180_000, interval: 500 }).toBe(true);
  const { jobType, failed, expired } = (await metric()) ?? {};
  const { objects, objectsFailed } = expired as Record<string, number>;
  return { code: started.code, type, jobType, failed, objects, objectsFailed };
}

describe('mc batch, as against MinIO', () => {
  it('expires the objects that match', async () => {
    const file = await job(
      'logs',
      expire('logs', '    - type: object\n      name: "*.log"\n      size:\n        lessThan: 1MiB'),
    );
    const results = [];
    for (const alias of ['c', 'm']) {
      await mc.run('mb', `${alias}/logs`);
      for (const key of ['a.log', 'b.txt', 'c/d.log']) await mc.run('cp', file, `${alias}/logs/${key}`);
      const ended = await run(alias, file);
      const { lines } = await mc.try('ls', '--recursive', `${alias}/logs`);
      results.push({ ...ended, left: lines.map((line) => (line as { readonly key: string }).key) });
    }
    expect(results[0]).toEqual({
      code: 0,
      type: 'expire',
      jobType: 'expire',
      failed: false,
      objects: 2,
      objectsFailed: 0,
      left: ['b.txt'],
    });
    expect(results[1]).toEqual(results[0]);
  }, 360_000);

  it.each([
    ['no definition', 'nothing: here'],
    ['no bucket', expire('absent', '    - type: object')],
    ['another type of rule', expire('logs', '    - type: versions')],
    ['negative versions', expire('logs', '    - type: object\n      purge:\n        retainVersions: -1')],
  ])('refuses %s', async (name, definition) => {
    const file = await job(name.replaceAll(' ', '-'), definition);
    const codes = [];
    for (const alias of ['c', 'm']) codes.push((await mc.try('batch', 'start', alias, file)).code);
    expect(codes).toEqual([1, 1]);
  });

  it.each([
    ['list', []],
    ['describe', ['expire-absent']],
    ['status', ['expire-absent']],
  ])('answers %s as MinIO does, where no job runs', async (command, more) => {
    const codes = [];
    for (const alias of ['c', 'm']) codes.push((await mc.try('batch', command, alias, ...more)).code);
    expect(codes[0]).toBe(codes[1]);
  });

  it('refuses to cancel a job that does not run, which MinIO lets pass', async () => {
    expect((await mc.try('batch', 'cancel', 'c', 'expire-absent')).code).toBe(1);
  });
});
