import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
  RestoreObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCoffer } from '../support/server/run-coffer.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { type GoogleDouble, startGoogleDouble } from '../support/tiering/google-double.ts';
import { asRoot, classOf } from './tiered-servers.ts';

const Bucket = 'data';
const wait = { timeout: 180_000, interval: 200 };
let folder: string;
let server: RunningServer;
let google: GoogleDouble;
let s3: S3Client;
let coffer: (...args: readonly string[]) => ReturnType<typeof runCoffer>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-google-'));
  [server, google] = await Promise.all([startServer(), startGoogleDouble()]);
  await untilReady(server);
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
  const at = ['--config-dir', join(folder, 'coffer')];
  coffer = (...args) => runCoffer([...at, ...args]);
  await coffer('alias', 'set', 'c', server.s3, server.accessKey, server.secretKey);
  await writeFile(join(folder, 'key.json'), google.keyFile);
}, 180_000);
afterAll(async () => {
  await Promise.all([server?.stop(), google?.close()]);
  await rm(folder, { recursive: true, force: true });
});

function adding(name: string, bucket = 'cold', file = 'key.json'): readonly string[] {
  const place = [
    '--endpoint',
    google.endpoint,
    '--bucket',
    bucket,
    '--prefix',
    'bodies',
    '--storage-class',
    'NEARLINE',
  ];
  return ['ilm', 'tier', 'add', 'gcs', 'c', name, '--credentials-file', join(folder, file), ...place];
}

/** What coffer says of a tier that it cannot add. */
async function text(args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await coffer(...args);
  return `${stdout.toString()}${stderr}`;
}

async function bytesOf(Key: string, Range?: string): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, Range }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

async function moved(Key: string, Body: Buffer): Promise<void> {
  await s3.send(new PutObjectCommand({ Bucket, Key, Body, ChecksumAlgorithm: 'SHA256' }));
  await expect.poll(() => classOf(s3, Bucket, Key), wait).toBe('COLD');
}

describe('a bucket of Google Cloud Storage as a tier', { timeout: 360_000 }, () => {
  it('is refused where it does not work', async () => {
    expect(await text(adding('A', 'not-there'))).toContain('NoSuchBucket');
    const another = await startGoogleDouble();
    await writeFile(join(folder, 'another.json'), another.keyFile);
    await another.close();
    expect(await text(adding('A', 'cold', 'another.json'))).toContain('InvalidCredentials');
    await writeFile(join(folder, 'none.json'), '{}');
    expect(await text(adding('A', 'cold', 'none.json'))).toContain('no file of a key');
  });

  it('is added, checked, listed without its key, and gets another one', async () => {
    expect(await coffer(...adding('COLD'))).toMatchObject({ code: 0 });
    expect(await coffer('ilm', 'tier', 'check', 'c', 'COLD')).toMatchObject({ code: 0 });
    expect(await coffer('ilm', 'tier', 'info', 'c', 'COLD')).toMatchObject({ code: 0 });
    expect(await coffer('ilm', 'tier', 'info', 'c', 'NONE')).toMatchObject({ code: 1 });
    const { value } = await asRoot(server, 'GET', 'tier');
    expect(value).toMatchObject([
      {
        Name: 'COLD',
        Type: 'gcs',
        GCS: { Bucket: 'cold', Prefix: 'bodies', StorageClass: 'NEARLINE', Creds: 'REDACTED' },
      },
    ]);
    expect(JSON.stringify(value)).not.toContain('PRIVATE');
    const update = ['ilm', 'tier', 'update', 'c', 'COLD', '--credentials-file'];
    expect(await coffer(...update, join(folder, 'key.json'))).toMatchObject({ code: 0 });
    expect((await coffer(...update, join(folder, 'another.json'))).code).not.toBe(0);
    expect(google.objects.size).toBe(0);
  });

  it('takes bodies, which are read whole, in ranges, and with their checksums', async () => {
    const Rules = [{ ID: 'all', Status: 'Enabled', Filter: {}, Transitions: [{ Days: 0, StorageClass: 'COLD' }] }];
    // The SDK knows the classes of AWS alone.
    const LifecycleConfiguration = { Rules } as never;
    await s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration }));
    const small = Buffer.from('a small body');
    const large = randomBytes(17 * 1024 * 1024 + 11);
    await moved('small', small);
    google.faults.keepOfNextChunk = 256 * 1024;
    await moved('large', large);
    expect([...google.objects.keys()].every((name) => name.startsWith('bodies/'))).toBe(true);
    expect((await bytesOf('small')).equals(small)).toBe(true);
    google.faults.cutNextRead = 100_000;
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
    google.faults.unavailable = 1_000;
    expect((await refusal(s3.send(new GetObjectCommand({ Bucket, Key: 'small' })))).status).toBe(503);
    google.faults.unavailable = 0;
    // A tier that did not answer is not asked for some seconds.
    await vi.waitFor(async () => expect((await bytesOf('small')).toString()).toBe('a small body'), wait);
    for (const [name, object] of google.objects) {
      const bytes = Buffer.from(object.bytes);
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
      google.objects.set(name, { ...object, bytes });
    }
    await expect(bytesOf('small')).rejects.toThrow();
  });
});
