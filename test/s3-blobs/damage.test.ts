import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeCheckpoint } from '../../server/store/checkpoint.ts';
import { bucketMarker } from '../../server/store/s3/bucket-marker.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import { type RunningMinio, startMinio } from '../support/server/start-minio.ts';
import { report } from '../support/report.ts';
import { startServer } from '../support/server/start-server.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { makeDataFolder } from '../store-tool/data-folder.ts';
import { storeToolHere } from '../store-tool/run-store-tool.ts';

const Bucket = 'blobs';
let minio: RunningMinio;
let base: Awaited<ReturnType<typeof temporaryFolder>>;
let s3: S3Client;
let settings = '';

beforeAll(async () => {
  [minio, base] = await Promise.all([startMinio(), temporaryFolder()]);
  const credentials = { accessKeyId: minio.accessKey, secretAccessKey: minio.secretKey };
  s3 = new S3Client({ endpoint: minio.url, region: 'us-east-1', forcePathStyle: true, credentials });
  await s3.send(new CreateBucketCommand({ Bucket }));
  settings = join(base.path, 'store.env');
  await mkdir(join(base.path, 'records'));
  const lines = [
    `SVC_STORE_RECORDS=lmdb:${join(base.path, 'records')}`,
    'SVC_STORE_BLOBS=s3://blobs/coffer',
    `SVC_STORE_BLOBS_S3_ENDPOINT=${minio.url}`,
    `SVC_STORE_BLOBS_S3_ACCESS_KEY=${minio.accessKey}`,
    `SVC_STORE_BLOBS_S3_SECRET_KEY=${minio.secretKey}`,
  ];
  await writeFile(settings, `${lines.join('\n')}\n`, { mode: 0o600 });
  await makeDataFolder(join(base.path, 'data'), 10);
  const copied = await storeToolHere(['copy', join(base.path, 'data'), settings]);
  expect(copied.code, copied.stdout + copied.stderr).toBe(0);
  const marker = bucketMarker({
    kind: 's3',
    bucket: Bucket,
    prefix: 'coffer/',
    endpoint: minio.url,
    region: 'us-east-1',
    accessKey: minio.accessKey,
    secretKey: minio.secretKey,
  } as never);
  const records = openLmdbRecordStore({ folder: join(base.path, 'records', 'records') });
  for (let n = 0; n < 3; n += 1) await writeCheckpoint({ records, marker }, randomBytes);
  await records.close();
}, 360_000);
afterAll(async () => {
  s3.destroy();
  await minio.stop();
  await base.remove();
});

describe('the bodies in another S3', () => {
  it('are whole before they are damaged', async () => {
    const { code, stdout } = await storeToolHere(['verify', settings]);
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('nothing is wrong');
  });

  it('of which one is removed, cut or exchanged are told, the marker and the checkpoint too', async () => {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
    expect(Contents.length).toBeGreaterThan(4);
    let told = 0;
    for (const { Key } of Contents) {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
      const ways = {
        removed: () => s3.send(new DeleteObjectCommand({ Bucket, Key })),
        cut: () => s3.send(new PutObjectCommand({ Bucket, Key, Body: bytes.subarray(0, bytes.length / 2) })),
        exchanged: () => s3.send(new PutObjectCommand({ Bucket, Key, Body: randomBytes(bytes.length) })),
      };
      for (const [way, damage] of Object.entries(ways)) {
        await damage();
        const { code, stdout, stderr } = await storeToolHere(['verify', settings]);
        expect(code, `${Key} ${way}\n${stdout}${stderr}`).toBe(1);
        expect(stdout + stderr).not.toContain('nothing is wrong');
        const copied = await storeToolHere(['copy', settings, join(base.path, 'copied')]);
        expect(copied.code, `${Key} ${way}\n${copied.stdout}${copied.stderr}`).toBe(1);
        await rm(join(base.path, 'copied'), { recursive: true, force: true });
        told += 1;
        await s3.send(new PutObjectCommand({ Bucket, Key, Body: bytes }));
      }
    }
    expect((await storeToolHere(['verify', settings])).code).toBe(0);
    report(`${told} bodies in another S3 that are removed, cut or exchanged are told by verify and by copy`);
  }, 300_000);

  it.each([
    ['coffer-deployment.json', 'are not at'],
    ['coffer-checkpoint.json', 'the bodies are of an earlier moment than the records'],
  ])('whose %s is gone are told by a start, which removes nothing', { timeout: 180_000 }, async (name, words) => {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
    const names = Contents.map(({ Key = '' }) => Key);
    const Key = names.find((one) => one.endsWith(name));
    expect(Key, names.join()).toBeDefined();
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    const bytes = await Body?.transformToByteArray();
    await s3.send(new DeleteObjectCommand({ Bucket, Key }));
    const env = Object.fromEntries(
      (await readFile(settings, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const server = await startServer({ folder: join(base.path, 'server'), env });
    try {
      await server.untilLogged(words);
    } finally {
      await server.kill();
    }
    const after = await s3.send(new ListObjectsV2Command({ Bucket }));
    expect((after.Contents ?? []).map((one) => one.Key)).toEqual(names.filter((one) => one !== Key));
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: bytes }));
  });
});
