import { randomBytes } from 'node:crypto';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { startMinio, type RunningMinio } from '../support/server/start-minio.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

let minio: RunningMinio;
let other: S3Client;
let server: RunningServer;
let s3: S3Client;

beforeAll(async () => {
  minio = await startMinio();
  const credentials = { accessKeyId: minio.accessKey, secretAccessKey: minio.secretKey };
  other = new S3Client({ endpoint: minio.url, region: 'us-east-1', forcePathStyle: true, credentials });
  await other.send(new CreateBucketCommand({ Bucket: 'blobs' }));
  server = await startServer({
    env: {
      SVC_STORE_BLOBS: 's3://blobs/of/coffer',
      SVC_STORE_BLOBS_S3_ENDPOINT: minio.url,
      SVC_STORE_BLOBS_S3_ACCESS_KEY: minio.accessKey,
      SVC_STORE_BLOBS_S3_SECRET_KEY: minio.secretKey,
    },
  });
  await untilReady(server);
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket: 'mine' }));
});

afterAll(async () => {
  await server?.stop();
  await minio?.stop();
});

async function put(Key: string, Body: Buffer): Promise<void> {
  await s3.send(new PutObjectCommand({ Bucket: 'mine', Key, Body }));
}

async function get(Key: string, Range?: string): Promise<Buffer> {
  const range = Range === undefined ? {} : { Range };
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'mine', Key, ...range }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

async function blobs(): Promise<readonly (number | undefined)[]> {
  const { Contents = [] } = await other.send(new ListObjectsV2Command({ Bucket: 'blobs', Prefix: 'of/coffer/' }));
  return Contents.filter(({ Key }) => /\/[0-9a-f]{32}$/.test(Key ?? '')).map(({ Size }) => Size);
}

it('keeps what is large in the other S3, and gives it back', async () => {
  const body = randomBytes(20 * 2 ** 20 + 1);
  await put('large', body);
  expect(await blobs()).toEqual([body.length]);
  expect((await get('large')).equals(body)).toBe(true);
  expect((await get('large', 'bytes=9000000-9000099')).equals(body.subarray(9_000_000, 9_000_100))).toBe(true);
});

it('keeps what is small to itself', async () => {
  const before = await blobs();
  await put('small', randomBytes(1000));
  expect(await blobs()).toEqual(before);
});

it('answers 503 while the other S3 is away, and goes on by itself', async () => {
  const body = randomBytes(300_000);
  await put('kept', body);
  await minio.kill();
  const rejected = get('kept').catch((error: unknown) => error as { $metadata: { httpStatusCode: number } });
  expect((await rejected) as object).toMatchObject({ $metadata: { httpStatusCode: 503 } });
  await minio.start();
  expect((await get('kept')).equals(body)).toBe(true);
}, 270_000);

it('says nothing of the secret key', async () => {
  await s3.send(new DeleteObjectCommand({ Bucket: 'mine', Key: 'kept' }));
  expect(server.log.join('\n')).not.toContain(minio.secretKey);
});
