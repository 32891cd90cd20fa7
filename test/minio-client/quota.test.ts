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
  folder = await mkdtemp(join(tmpdir(), 'coffer-mc-quota-'));
  [ours, theirs] = await Promise.all([startServer(), startMinio()]);
  await untilReady(ours);
  mc = new StockMc(folder);
  await mc.alias('c', ours.s3, ours.accessKey, ours.secretKey);
  await mc.alias('m', theirs.url, theirs.accessKey, theirs.secretKey);
  for (const alias of ['c', 'm']) await mc.run('mb', `${alias}/limited`);
  await writeFile(join(folder, 'two-mebibytes'), Buffer.alloc(2 * 1024 * 1024));
});
afterAll(async () => {
  await Promise.all([ours?.stop(), theirs?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

async function outcome(alias: string, command: string): Promise<unknown> {
  const { code, lines } = await mc.try(...command.split(' ').map((word) => word.replaceAll('ALIAS', alias)));
  return { code, lines: code === 0 ? lines : [] };
}

describe('mc quota, as against MinIO', () => {
  it('sets, shows and clears the same', async () => {
    for (const command of [
      'quota set ALIAS/limited --size 1MiB',
      'quota info ALIAS/limited',
      'quota set ALIAS/limited --size 5GB',
      'quota info ALIAS/limited',
      'quota clear ALIAS/limited',
      'quota set ALIAS/no-such-bucket --size 1MiB',
      'quota info ALIAS/no-such-bucket',
    ]) {
      expect(await outcome('c', command), command).toEqual(await outcome('m', command));
    }
  });

  it('refuses a copy above the quota by its name, and takes it after the quota is gone', async () => {
    const file = join(folder, 'two-mebibytes');
    await mc.run('quota', 'set', 'c/limited', '--size', '1MiB');
    const rejected = await mc.try('cp', file, 'c/limited/');
    expect(rejected.code, rejected.text).toBe(1);
    expect(rejected.text).toContain('XMinioAdminBucketQuotaExceeded');
    await mc.run('quota', 'clear', 'c/limited');
    await mc.run('cp', file, 'c/limited/');
  });
});
