import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMinio } from '../support/server/start-minio.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

let ours: RunningServer;
let theirs: Awaited<ReturnType<typeof startMinio>>;
let folder: string;
let mc: StockMc;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-mc-lifecycle-'));
  // A day of two seconds.
  [ours, theirs] = await Promise.all([startServer({ env: { SVC_LIFECYCLE_DAY: '2s' } }), startMinio()]);
  await untilReady(ours);
  mc = new StockMc(folder);
  await mc.alias('c', ours.s3, ours.accessKey, ours.secretKey);
  await mc.alias('m', theirs.url, theirs.accessKey, theirs.secretKey);
  for (const alias of ['c', 'm']) await mc.run('mb', `${alias}/rules`);
});
afterAll(async () => {
  await Promise.all([ours?.stop(), theirs?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** The exit code of a command and the rules that the bucket then has. The IDs are made by mc. */
async function outcome(alias: string, command: string): Promise<unknown> {
  const { code } = await mc.try(...command.split(' ').map((word) => word.replaceAll('ALIAS', alias)));
  const { lines } = await mc.try('ilm', 'rule', 'ls', `${alias}/rules`);
  if (code === 0 && command.includes(' add ')) expect(lines[0]?.['config']).toHaveProperty('Rules');
  const config = JSON.stringify(lines[0]?.['config'] ?? null);
  return { code, config: JSON.parse(config.replaceAll(/"ID":"[^"]*"/g, '"ID":""')) as unknown };
}

describe('mc ilm rule, as against MinIO', () => {
  it.each([
    'ilm rule add --expire-days 3 ALIAS/rules',
    'ilm rule add --expire-days 3 --prefix logs/ ALIAS/rules',
    'ilm rule add --expire-days 3 --tags k=v&l=w ALIAS/rules',
    'ilm rule add --expire-days 3 --size-gt 1MiB --size-lt 1GiB ALIAS/rules',
    'ilm rule add --noncurrent-expire-days 3 ALIAS/rules',
    'ilm rule add --noncurrent-expire-days 3 --noncurrent-expire-newer 2 ALIAS/rules',
    'ilm rule add --noncurrent-expire-newer 2 ALIAS/rules',
    'ilm rule add --expire-delete-marker ALIAS/rules',
    'ilm rule add --expire-days 3 --expire-all-object-versions ALIAS/rules',
    'ilm rule rm --all --force ALIAS/rules',
    'ilm rule rm --all --force ALIAS/rules',
    'ilm rule add --expire-days 0 ALIAS/rules',
    'ilm rule add ALIAS/rules',
    'ilm rule add --transition-days 3 --transition-tier NOWHERE ALIAS/rules',
    'ilm rule add --expire-days 3 ALIAS/no-such-bucket',
  ])('%s', async (command) => {
    expect(await outcome('c', command)).toEqual(await outcome('m', command));
  });
});

describe('rules that stock mc writes', () => {
  it('remove what is due, and keep the rest', async () => {
    await mc.run('mb', 'c/data');
    await mc.run('version', 'enable', 'c/data');
    await mc.run('ilm', 'rule', 'add', '--expire-days', '1', '--prefix', 'logs/', 'c/data');
    await mc.run('ilm', 'rule', 'add', '--noncurrent-expire-days', '1', '--noncurrent-expire-newer', '1', 'c/data');
    const path = join(folder, 'body');
    for (const body of ['one', 'two', 'three', 'four']) {
      await writeFile(path, body);
      await mc.run('cp', path, 'c/data/kept');
    }
    await mc.run('cp', path, 'c/data/logs/old');
    const [stat] = await mc.run('stat', 'c/data/logs/old');
    expect(stat?.['expiration']).toMatch(/^20/);
    await expect.poll(versions, { timeout: 90_000, interval: 500 }).toEqual(['kept', 'kept', 'logs/old!', 'logs/old']);
    // Two walks later nothing more is gone.
    await sleep(4_500);
    expect(await versions()).toEqual(['kept', 'kept', 'logs/old!', 'logs/old']);
  });
});

/** The keys of all versions, newest first, with `!` for a delete marker. */
async function versions(): Promise<string[]> {
  const lines = await mc.run('ls', '-r', '--versions', 'c/data');
  return lines.map(({ key, isDeleteMarker }) => `${String(key)}${isDeleteMarker === true ? '!' : ''}`);
}
