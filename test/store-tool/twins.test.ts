import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketLifecycleConfigurationCommand,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  RestoreObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventReceiver } from '../events/event-receiver.ts';
import { replicate, sideOf, targetOf, versionedBucket } from '../replication/replicated-buckets.ts';
import { inFullForm } from '../support/full-form.ts';
import { report } from '../support/report.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import { type RunningServer, type ServerAccess, startServer, untilReady } from '../support/server/start-server.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { asRoot, classOf, tierOn } from '../tiering/tiered-servers.ts';
import { storeToolHere } from './run-store-tool.ts';

/** Seconds that both run beside each other. Bodies in a tier are removed some 90 seconds after their objects. */
const together = Number(process.env['COFFER_TWINS_SECONDS'] ?? inFullForm(120, 4));
const wait = { timeout: 180_000, interval: 100 };
let base: Awaited<ReturnType<typeof temporaryFolder>>;
let receiver: EventReceiver;
let other: ServerAccess;
let there: S3Client;
let original: RunningServer;
let client: S3Client;
let env: Record<string, string>;
const body = randomBytes(300_000);

beforeAll(async () => {
  [base, receiver, other] = await Promise.all([temporaryFolder(), EventReceiver.start(), sharedServer('right')]);
  env = { SVC_NOTIFY_WEBHOOK_ENDPOINT_A: receiver.url, SVC_NOTIFY_WEBHOOK_ENABLE_A: 'on' };
  original = await startServer({ folder: join(base.path, 'original'), env });
  await untilReady(original);
  client = s3Client(original);
  there = s3Client(other);
  await there.send(new CreateBucketCommand({ Bucket: 'twins-cold' }));
  expect(await asRoot(original, 'PUT', 'tier?force=false', tierOn(other, 'twins-cold'))).toMatchObject({ status: 204 });
  await client.send(new CreateBucketCommand({ Bucket: 'cool' }));
  const Rules = [{ ID: 'all', Status: 'Enabled', Filter: {}, Transitions: [{ Days: 0, StorageClass: 'COLD' }] }];
  await client.send(
    // The SDK knows the classes of AWS alone.
    new PutBucketLifecycleConfigurationCommand({ Bucket: 'cool', LifecycleConfiguration: { Rules } as never }),
  );
  await client.send(new CreateBucketCommand({ Bucket: 'told' }));
  const NotificationConfiguration = {
    QueueConfigurations: [
      { Id: 'all', QueueArn: 'arn:minio:sqs:us-east-1:A:webhook', Events: ['s3:ObjectCreated:*' as const] },
    ],
  };
  await client.send(new PutBucketNotificationConfigurationCommand({ Bucket: 'told', NotificationConfiguration }));
  await versionedBucket(client, 'twins');
  await versionedBucket(there, 'twins');
  await replicate(sideOf(original), 'twins', sideOf(other));
  for (const Key of ['one', 'two']) await client.send(new PutObjectCommand({ Bucket: 'cool', Key, Body: body }));
}, 360_000);
afterAll(async () => {
  client?.destroy();
  there?.destroy();
  await original?.stop();
  await receiver?.stop();
  await base?.remove();
});

const keysIn = async (Bucket: string, Prefix = 'by-the-') =>
  ((await there.send(new ListObjectsV2Command({ Bucket, Prefix }))).Contents ?? []).map(({ Key }) => Key);
const toldOf = (key: string) =>
  receiver.events.filter(({ Records = [] }) => Records.some(({ s3 }) => s3.object.key === key)).length;

async function read(from: S3Client, Key: string): Promise<Buffer> {
  const { Body } = await from.send(new GetObjectCommand({ Bucket: 'cool', Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

/** Makes a bucket with an object that is due to expire. */
async function expire(one: S3Client, Bucket: string): Promise<void> {
  await one.send(new CreateBucketCommand({ Bucket }));
  await one.send(new PutObjectCommand({ Bucket, Key: 'old', Body: 'x' }));
  const Rules = [{ ID: 'all', Status: 'Enabled' as const, Filter: {}, Expiration: { Date: new Date('2020-01-01') } }];
  await one.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }));
}

/** Lets both stores serve for the time, and returns the count of rounds. Each writes, deletes and reads where tiers, events and replicas are. */
async function bothServe(beside: S3Client): Promise<number> {
  const until = Date.now() + together * 1_000;
  let round = 0;
  for (; Date.now() < until; round += 1) {
    for (const [name, one] of Object.entries({ original: client, twin: beside })) {
      const Key = `by-the-${name}-${round}`;
      for (const Bucket of ['told', 'twins', 'cool']) await one.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
      await one.send(new DeleteObjectCommand({ Bucket: 'cool', Key: `by-the-${name}-${round - 5}` }));
    }
    expect((await read(client, 'two')).equals(body)).toBe(true);
    await sleep(Math.max(0, Math.min(until - Date.now(), 1_000)));
  }
  return round;
}

const needsPromotion = expect.stringMatching(/restored from a snapshot.*coffer-store promote/) as unknown;

async function queueOf(server: ServerAccess): Promise<unknown> {
  const { value } = await asRoot(server, 'GET', '/minio/admin/coffer/v1/notifications');
  return (value as { readonly targets: readonly unknown[] }).targets[0];
}

/** Expects that the restored store refuses whatever needs a tier, a target or a site. */
async function expectRefusals(twin: ServerAccess, beside: S3Client): Promise<void> {
  expect(await refusal(read(beside, 'one'))).toMatchObject({ status: 503 });
  const RestoreRequest = { Days: 1 };
  const restore = new RestoreObjectCommand({ Bucket: 'cool', Key: 'one', RestoreRequest });
  await expect(beside.send(restore)).rejects.toMatchObject({ message: needsPromotion });
  // The target may have what this store has not.
  const absent = new GetObjectCommand({ Bucket: 'twins', Key: 'absent' });
  await expect(beside.send(absent)).rejects.toMatchObject({ message: needsPromotion });
  const calls = [
    ['GET', 'tier/COLD', undefined],
    ['PUT', 'tier?force=true', tierOn(other, 'twins-cold', 'COLDER')],
    ['PUT', 'set-remote-target?bucket=twins', targetOf(sideOf(other), 'twins-cold')],
    ['PUT', 'site-replication/add', [{ name: 'a', endpoints: other.s3, accessKey: 'k', secretKey: 's' }]],
    ['GET', 'site-replication/peer/describe', undefined],
  ] as const;
  for (const [method, call, body] of calls) {
    expect(await asRoot(twin, method, call, body), call).toMatchObject({
      status: 503,
      value: { Message: needsPromotion },
    });
  }
}

describe('an original and a restored store beside each other', () => {
  it('lose nothing of each other: the restored one acts for nobody until it is promoted', async () => {
    for (const Key of ['one', 'two']) await expect.poll(() => classOf(client, 'cool', Key), wait).toBe('COLD');
    const credentials = { COFFER_ACCESS_KEY: original.accessKey, COFFER_SECRET_KEY: original.secretKey };
    const taken = await storeToolHere(['snapshot', 'monday', '--server', original.s3], credentials);
    expect(taken.code, taken.stdout + taken.stderr).toBe(0);
    const folder = join(base.path, 'restored');
    const snapshot = join(original.folder, 'snapshots', 'monday');
    const restored = await storeToolHere(['restore', snapshot, folder]);
    expect(restored.code, restored.stdout + restored.stderr).toBe(0);
    let twin = await startServer({ folder, env });
    try {
      await untilReady(twin);
      const beside = s3Client(twin);
      await twin.untilLogged('the store was restored from a snapshot');
      await expectRefusals(twin, beside);
      await beside.send(new DeleteObjectCommand({ Bucket: 'cool', Key: 'one' }));
      await beside.send(new PutObjectCommand({ Bucket: 'told', Key: 'by-the-twin', Body: 'x' }));
      await beside.send(new PutObjectCommand({ Bucket: 'twins', Key: 'by-the-twin', Body: 'x' }));
      await client.send(new PutObjectCommand({ Bucket: 'told', Key: 'by-the-original', Body: 'x' }));
      await client.send(new PutObjectCommand({ Bucket: 'twins', Key: 'by-the-original', Body: 'x' }));
      await expect
        .poll(async () => JSON.stringify((await asRoot(twin, 'GET', 'info')).value), wait)
        .toContain('the store was restored from a snapshot');
      // What the twin would send waits, and is counted.
      await expect
        .poll(() => queueOf(twin), wait)
        .toMatchObject({ waiting: { events: 1 }, state: 'offline', failure: { error: needsPromotion } });
      await expect.poll(() => toldOf('by-the-original'), wait).toBe(1);
      await expect.poll(() => keysIn('twins'), wait).toContain('by-the-original');
      for (const one of [client, beside]) await expire(one, 'brief');
      const rounds = await bothServe(beside);
      // Each of them deletes what it has in the tier, and the original loses nothing.
      for (const Key of ['one', 'two']) expect((await read(client, Key)).equals(body)).toBe(true);
      for (let round = 0; round < rounds; round += 1) {
        const key = `by-the-original-${round}`;
        await expect.poll(() => toldOf(key), wait).toBeGreaterThan(0);
        await expect.poll(() => keysIn('twins', key), wait).toContain(key);
      }
      expect(receiver.events.filter((event) => JSON.stringify(event).includes('by-the-twin'))).toEqual([]);
      expect(await keysIn('twins', 'by-the-twin')).toEqual([]);
      // A rule of the day of the restore would remove what was restored.
      const old = () => client.send(new HeadObjectCommand({ Bucket: 'brief', Key: 'old' }));
      await expect.poll(() => refusal(old()).catch(() => 'there'), wait).toMatchObject({ status: 404 });
      await beside.send(new HeadObjectCommand({ Bucket: 'brief', Key: 'old' }));
      beside.destroy();
      // A restart changes nothing about it.
      await twin.stop();
      twin = await startServer({ folder, env });
      await untilReady(twin);
      expect(toldOf('by-the-twin')).toBe(0);
      const promoted = await storeToolHere(['promote', '--server', twin.s3], credentials);
      expect(promoted.code, promoted.stdout + promoted.stderr).toBe(0);
      const after = s3Client(twin);
      expect((await read(after, 'two')).equals(body)).toBe(true);
      report(
        `an original and a restored store served beside each other for ${together} s: ${rounds} rounds, nothing was lost`,
      );
      // What it wrote in all rounds was waiting, and is sent in no order of its keys.
      const sent = { ...wait, timeout: 180_000 + rounds * 500 };
      await expect.poll(() => toldOf('by-the-twin'), sent).toBe(1);
      await expect.poll(() => keysIn('twins', 'by-the-twin'), sent).toContain('by-the-twin');
      after.destroy();
    } finally {
      await twin.stop();
    }
  }, 7_200_000);
});
