import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { startMinio } from '../support/server/start-minio.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

let ours: RunningServer;
let theirs: Awaited<ReturnType<typeof startMinio>>;
let folder: string;
let mc: StockMc;
let there: S3Client;
const wait = { timeout: 180_000, interval: 200 };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-mc-tiers-'));
  [ours, theirs] = await Promise.all([startServer(), startMinio()]);
  await untilReady(ours);
  mc = new StockMc(folder);
  await mc.alias('c', ours.s3, ours.accessKey, ours.secretKey);
  await mc.alias('m', theirs.url, theirs.accessKey, theirs.secretKey);
  there = s3Client({ ...ours, s3: theirs.url, accessKey: theirs.accessKey, secretKey: theirs.secretKey });
  await mc.run('mb', 'm/cold');
  await mc.run('mb', 'c/data');
}, 360_000);
afterAll(async () => {
  await Promise.all([ours?.stop(), theirs?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const place = () => ['--endpoint', theirs.url, '--access-key', theirs.accessKey, '--secret-key', theirs.secretKey];

async function bodies(): Promise<number> {
  return (await there.send(new ListObjectsV2Command({ Bucket: 'cold' }))).KeyCount ?? 0;
}

describe('a real MinIO as a tier, set up by stock mc', { timeout: 720_000 }, () => {
  it('is added, listed, checked and changed', async () => {
    const kind = ['--bucket', 'cold', '--prefix', 'coffer'];
    await mc.run('ilm', 'tier', 'add', 'minio', 'c', 'WARM', ...place(), ...kind);
    await mc.run('ilm', 'tier', 'check', 'c', 'WARM');
    const [listed] = await mc.run('ilm', 'tier', 'ls', 'c');
    expect(listed?.['tiers']).toMatchObject([{ Name: 'WARM', MinIO: { Bucket: 'cold', Prefix: 'coffer' } }]);
    expect(JSON.stringify(listed)).not.toContain(theirs.secretKey);
    const { accessKey, secretKey } = theirs;
    await mc.run('ilm', 'tier', 'update', 'c', 'WARM', '--access-key', accessKey, '--secret-key', secretKey);
    const again = await mc.try('ilm', 'tier', 'add', 'minio', 'c', 'WARM', ...place(), ...kind);
    expect(again.code).toBe(1);
    expect(again.text).toContain('Specified remote tier already exists');
    // The kind s3 is the same for a place with an endpoint.
    await mc.run('ilm', 'tier', 'add', 's3', 'c', 'OTHER', ...place(), '--bucket', 'cold', '--prefix', 'other');
    await mc.run('ilm', 'tier', 'rm', 'c', 'OTHER');
  });

  it('takes what a rule of mc moves at once, and gives it back', async () => {
    await mc.run('ilm', 'rule', 'add', '--transition-days', '0', '--transition-tier', 'WARM', 'c/data');
    const path = join(folder, 'body');
    const body = randomBytes(300_000);
    await writeFile(path, body);
    await mc.run('cp', path, 'c/data/key');
    const storageClass = async () => (await mc.run('ls', 'c/data'))[0]?.['storageClass'];
    await expect.poll(storageClass, wait).toBe('WARM');
    expect(await bodies()).toBe(1);
    const copy = join(folder, 'copy');
    await mc.run('cp', 'c/data/key', copy);
    expect((await readFile(copy)).equals(body)).toBe(true);
    const [rules] = await mc.run('ilm', 'rule', 'ls', 'c/data');
    expect(JSON.stringify(rules)).toContain('"StorageClass":"WARM"');
    const [info] = await mc.run('ilm', 'tier', 'info', 'c');
    expect(JSON.stringify(info)).toContain('"Name":"WARM"');
    const rejected = await mc.try('ilm', 'tier', 'rm', 'c', 'WARM');
    expect(rejected.code).toBe(1);
  });

  it('is restored from by mc', async () => {
    await mc.run('ilm', 'restore', '--days', '2', 'c/data/key');
    const [stat] = await mc.run('stat', 'c/data/key');
    expect(stat).toMatchObject({ restore: { OngoingRestore: false } });
    expect(await bodies()).toBe(1);
  });

  it('is refused to a tier that does not work, with the reason', async () => {
    const kind = ['--bucket', 'absent'];
    const { code, text } = await mc.try('ilm', 'tier', 'add', 'minio', 'c', 'ABSENT', ...place(), ...kind);
    expect({ code, text }).toMatchObject({ code: 1, text: expect.stringContaining('absent') as string });
  });

  it('loses the body with the object', async () => {
    await mc.run('rm', 'c/data/key');
    await expect.poll(bodies, { timeout: 540_000, interval: 1_000 }).toBe(0);
  });
});
