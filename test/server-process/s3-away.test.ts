import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf } from '../crash/s3-client.ts';
import { readinessOf, type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { startWatchedFront, type WatchedFront } from '../support/server/watched-front.ts';

const Bucket = 'bucket';
const large = Buffer.alloc(300_000, 'x');
const small = Buffer.from('x');
let folder: string;
let other: RunningServer;
let front: WatchedFront;
let server: RunningServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-s3-away-'));
  other = await startServer();
  await untilReady(other);
  await clientOf(other).send(new CreateBucketCommand({ Bucket: 'blobs' }));
  front = await startWatchedFront(other.s3);
  await writeFile(join(folder, 'secret-key'), other.secretKey);
  server = await startServer({
    folder: join(folder, 'data'),
    env: {
      SVC_STORE_BLOBS: 's3://blobs/of/coffer',
      SVC_STORE_BLOBS_S3_ENDPOINT: front.url,
      SVC_STORE_BLOBS_S3_ACCESS_KEY: other.accessKey,
      SVC_STORE_BLOBS_S3_SECRET_KEY_FILE: join(folder, 'secret-key'),
      SVC_THREADS: '2',
    },
  });
  await untilReady(server);
  await clientOf(server).send(new CreateBucketCommand({ Bucket }));
}, 180_000);
afterAll(async () => {
  await server.kill();
  await front.close();
  await other.stop();
  await rm(folder, { recursive: true });
});

const readiness = () => readinessOf(server);
const put = (Key: string, Body: Buffer) => clientOf(server).send(new PutObjectCommand({ Bucket, Key, Body }));
const get = async (Key: string) => {
  const { Body } = await clientOf(server).send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
};
const unavailable = { name: 'ServiceUnavailable', $metadata: { httpStatusCode: 503 } };

describe('a server whose other S3 is away', { timeout: 540_000 }, () => {
  it('refuses what is above the inline limit, serves what is below, is not ready, and goes on by itself', async () => {
    await put('large', large);
    let isAway = true;
    front.before(
      () => true,
      () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve()),
      Infinity,
    );
    await expect.poll(readiness, { timeout: 180_000 }).toBe('503 bodies');
    await put('small', small);
    expect((await get('small')).equals(small)).toBe(true);
    // Each waits for that S3 for as long as its calls are begun again.
    await Promise.all([
      expect(put('above', large)).rejects.toMatchObject(unavailable),
      expect(get('large')).rejects.toMatchObject(unavailable),
    ]);
    isAway = false;
    front.reset();
    await expect.poll(readiness, { timeout: 180_000 }).toBe('200');
    await put('above', large);
    expect((await get('large')).equals(large)).toBe(true);
  });
});
