import {
  CreateBucketCommand,
  GetBucketLoggingCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketLoggingCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';

const REQUESTS = 400;
const LoggingEnabled = {
  TargetBucket: 'logs',
  TargetPrefix: 'of/',
  TargetObjectKeyFormat: { PartitionedPrefix: { PartitionDateSource: 'EventTime' } },
} as const;

let server: RunningServer;
let s3: S3Client;

beforeAll(async () => {
  server = await startServer({ env: { SVC_ACCESS_LOG_INTERVAL: '1s', SVC_THREADS: '2' } });
  await untilReady(server);
  s3 = s3Client(server);
  for (const Bucket of ['source', 'logs']) await s3.send(new CreateBucketCommand({ Bucket }));
  await s3.send(new PutObjectCommand({ Bucket: 'source', Key: 'k', Body: 'content' }));
});
afterAll(() => server.stop());

/** Each thread looks every five seconds what it logs. Sends a few requests again and again, until those of one time are all logged. */
async function untilEveryThreadLogs(): Promise<void> {
  for (let round = 0; ; round += 1) {
    const Key = `round-${round}`;
    const ask = () => s3.send(new HeadObjectCommand({ Bucket: 'source', Key })).catch(() => undefined);
    await Promise.all(Array.from({ length: 20 }, ask));
    const logged = async () => (await lines()).filter((line) => line.includes(` REST.HEAD.OBJECT ${Key} `)).length;
    const isLogged = await vi
      .waitFor(async () => expect(await logged()).toBe(20), { timeout: 3_000, interval: 200 })
      .then(() => true)
      .catch(() => false);
    if (isLogged) return;
  }
}

/** The lines of all delivered objects. */
async function lines(): Promise<string[]> {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: 'logs', Prefix: 'of/' }));
  const texts = await Promise.all(
    Contents.map(async ({ Key }) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'logs', Key }));
      return (await Body?.transformToString()) ?? '';
    }),
  );
  return texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
}

const heads = async () => (await lines()).filter((line) => line.includes(' REST.HEAD.OBJECT k '));

it('delivers a line for each request of all threads, and none for its own deliveries', async () => {
  await s3.send(new PutBucketLoggingCommand({ Bucket: 'source', BucketLoggingStatus: { LoggingEnabled } }));
  expect((await s3.send(new GetBucketLoggingCommand({ Bucket: 'source' }))).LoggingEnabled).toMatchObject(
    LoggingEnabled,
  );
  // The bucket logs into itself too: a line for each delivery would never end.
  const own = { TargetBucket: 'logs', TargetPrefix: 'own/' };
  await s3.send(new PutBucketLoggingCommand({ Bucket: 'logs', BucketLoggingStatus: { LoggingEnabled: own } }));
  await untilEveryThreadLogs();
  const Bucket = 'source';
  for (let at = 0; at < REQUESTS; at += 20) {
    await Promise.all(Array.from({ length: 20 }, () => s3.send(new HeadObjectCommand({ Bucket, Key: 'k' }))));
  }
  await (await s3.send(new GetObjectCommand({ Bucket, Key: 'k', Range: 'bytes=1-3' }))).Body?.transformToString();
  await expect.poll(heads, { timeout: 90_000, interval: 200 }).toHaveLength(REQUESTS);
  const found = await heads();
  expect(new Set(found.map((line) => line.match(/"[^"]*"|\[[^\]]*\]|[^ ]+/g)?.length))).toEqual(new Set([26]));
  expect(new Set(found.map((line) => line.split(' ')[6])).size).toBe(REQUESTS);
  // The status, the error, the bytes of the body that were sent, and the size of the object.
  expect(new Set(found.map((line) => / HTTP\/1\.1" (\S+ \S+ \S+ \S+)/.exec(line)?.[1]))).toEqual(
    new Set(['200 - - 7']),
  );
  await expect
    .poll(async () => (await lines()).join(''), { timeout: 90_000 })
    .toMatch(/ REST\.GET\.OBJECT k [^"]*"[^"]*" 206 - 3 7 /);
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: 'logs', Prefix: 'own/' }));
  for (const { Key } of Contents) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'logs', Key }));
    expect(await Body?.transformToString()).not.toContain('REST.PUT.OBJECT');
  }
}, 360_000);
