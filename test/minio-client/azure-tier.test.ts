import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
  RestoreObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCoffer } from '../support/server/run-coffer.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { type Azurite, startAzurite } from '../support/server/start-azurite.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { StockMc } from './stock-mc.ts';

const Bucket = 'data';
const wait = { timeout: 270_000, interval: 200 };
let folder: string;
let server: RunningServer;
let azurite: Azurite;
let mc: StockMc;
let s3: S3Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-azure-'));
  [server, azurite] = await Promise.all([startServer(), startAzurite()]);
  await untilReady(server);
  await azurite.container('cold').create();
  mc = new StockMc(folder);
  await mc.alias('c', server.s3, server.accessKey, server.secretKey);
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
}, 360_000);
afterAll(async () => {
  await Promise.all([server?.stop(), azurite?.remove()]);
  await rm(folder, { recursive: true, force: true });
});

const account = (more: { key?: string; bucket?: string; prefix?: string } = {}) => [
  '--endpoint',
  azurite.url,
  '--account-name',
  azurite.accountName,
  '--account-key',
  more.key ?? azurite.accountKey,
  '--bucket',
  more.bucket ?? 'cold',
  '--prefix',
  more.prefix ?? 'bodies',
];

/** What mc says of a tier that is added. */
async function add(name: string, args: readonly string[]): Promise<string> {
  return (await mc.try('ilm', 'tier', 'add', 'azure', 'c', name, ...args)).text;
}

async function blobs(): Promise<readonly { readonly name: string; readonly size: number }[]> {
  const found = [];
  for await (const { name, properties } of azurite.container('cold').listBlobsFlat()) {
    found.push({ name, size: properties.contentLength ?? 0 });
  }
  return found;
}

async function bytesOf(Key: string, Range?: string): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, Range }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

async function moved(Key: string, Body: Buffer): Promise<void> {
  await s3.send(new PutObjectCommand({ Bucket, Key, Body, ChecksumAlgorithm: 'SHA256' }));
  const storageClass = async () => (await s3.send(new HeadObjectCommand({ Bucket, Key }))).StorageClass;
  await expect.poll(storageClass, wait).toBe('COLD');
}

describe('a container of Azure as a tier', { timeout: 720_000 }, () => {
  it('is refused where it does not work', async () => {
    expect(await add('A', account({ bucket: 'not-there' }))).toContain('XMinioAdminTierBucketNotFound');
    const wrong = randomBytes(48).toString('base64');
    const rejected = await add('A', account({ key: wrong }));
    // Azurite has another code for a wrong signature than Azure.
    expect(rejected).toMatch(/XMinioAdminTier(InvalidCredentials|InsufficientPermissions)/);
    const principal = ['--az-sp-tenant-id', 'a', '--az-sp-client-id', 'b', '--az-sp-client-secret', 'c'];
    expect(await add('A', [...account(), ...principal])).toContain('Service principals of Azure are not supported');
  });

  it('is added, checked, listed without its key, and gets another key by mc', async () => {
    await mc.run('ilm', 'tier', 'add', 'azure', 'c', 'COLD', ...account());
    await mc.run('ilm', 'tier', 'check', 'c', 'COLD');
    const [listed] = await mc.run('ilm', 'tier', 'ls', 'c');
    expect(listed?.['tiers']).toMatchObject([
      { Name: 'COLD', Type: 'azure', Azure: { Bucket: 'cold', Prefix: 'bodies', AccountName: azurite.accountName } },
    ]);
    expect(JSON.stringify(listed)).not.toContain(azurite.accountKey);
    await mc.run('ilm', 'tier', 'update', 'c', 'COLD', '--account-key', azurite.accountKey);
    const wrong = await mc.try(
      'ilm',
      'tier',
      'update',
      'c',
      'COLD',
      '--account-key',
      randomBytes(48).toString('base64'),
    );
    expect(wrong.code).toBe(1);
    expect(await blobs()).toEqual([]);
  });

  it('takes bodies, which are read whole, in ranges, and with their checksums', async () => {
    const Rules = [{ ID: 'all', Status: 'Enabled', Filter: {}, Transitions: [{ Days: 0, StorageClass: 'COLD' }] }];
    // The SDK knows the classes of AWS alone.
    const LifecycleConfiguration = { Rules } as never;
    await s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration }));
    const small = Buffer.from('a small body');
    const large = randomBytes(17 * 1024 * 1024 + 11);
    await moved('small', small);
    await moved('large', large);
    expect((await blobs()).map(({ size }) => size).sort((a, b) => a - b).length).toBe(2);
    expect((await blobs()).every(({ name }) => name.startsWith('bodies/'))).toBe(true);
    expect((await bytesOf('small')).equals(small)).toBe(true);
    expect((await bytesOf('large')).equals(large)).toBe(true);
    const range = await bytesOf('large', 'bytes=8388600-8388700');
    expect(range.equals(large.subarray(8_388_600, 8_388_701))).toBe(true);
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'large', ChecksumMode: 'ENABLED' }));
    expect(head.ChecksumSHA256).toBe(createHash('sha256').update(large).digest('base64'));
  });

  it('gives bodies back by a restore', async () => {
    await s3.send(new RestoreObjectCommand({ Bucket, Key: 'large', RestoreRequest: { Days: 2 } }));
    const restore = async () => (await s3.send(new HeadObjectCommand({ Bucket, Key: 'large' }))).Restore;
    await expect.poll(restore, wait).toContain('ongoing-request="false"');
  });

  it('is waited for while it is away, and no damaged byte of it is served', async () => {
    await azurite.stop();
    expect((await refusal(s3.send(new GetObjectCommand({ Bucket, Key: 'small' })))).status).toBe(503);
    await azurite.start();
    // A tier that did not answer is not asked for some seconds.
    await vi.waitFor(async () => expect((await bytesOf('small')).toString()).toBe('a small body'), wait);
    const [first] = (await blobs()).toSorted((a, b) => a.size - b.size);
    const blob = azurite.container('cold').getBlockBlobClient(first?.name ?? '');
    const altered = Buffer.from(await blob.downloadToBuffer());
    altered[altered.length - 1] = (altered.at(-1) ?? 0) ^ 1;
    await blob.upload(altered, altered.length);
    await expect(bytesOf('small')).rejects.toThrow();
  });

  it('loses what is removed', async () => {
    for (const Key of ['small', 'large']) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    await expect.poll(blobs, { timeout: 600_000, interval: 1_000 }).toEqual([]);
  });

  it('is added and removed by coffer too', async () => {
    await azurite.container('other').create();
    const at = ['--config-dir', join(folder, 'coffer')];
    await runCoffer([...at, 'alias', 'set', 'c', server.s3, server.accessKey, server.secretKey]);
    const adding = [...at, 'ilm', 'tier', 'add', 'azure', 'c', 'OTHER', ...account({ bucket: 'other' })];
    expect(await runCoffer(adding)).toMatchObject({ code: 0 });
    const listed = await runCoffer([...at, 'ilm', 'tier', 'ls', 'c']);
    expect(listed.stdout.toString()).toMatch(/OTHER\s+azure/);
    expect(await runCoffer([...at, 'ilm', 'tier', 'rm', 'c', 'OTHER'])).toMatchObject({ code: 0 });
  });
});
