import {
  CreateBucketCommand,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { report } from '../support/report.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { BrokenConnections } from '../support/server/broken-connections.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { EventReceiver } from './event-receiver.ts';

/** `.ci/run` asks for 1,500, `.ci/soak events` for 100,000. */
const writes = Number(process.env['COFFER_EVENTS'] ?? 400);
const writers = 8;
const Bucket = 'events';
const queueBytes = 128 * 1024;
/** Writes between two looks at the queue. */
const round = 40;
/** Milliseconds: a machine may pause its processes for minutes. */
const timeout = 900_000;
let receiver: EventReceiver;
let server: RunningServer;
let client: S3Client;

beforeAll(async () => {
  receiver = await EventReceiver.start();
  const env = {
    SVC_NOTIFY_WEBHOOK_ENDPOINT_A: receiver.url,
    SVC_NOTIFY_QUEUE_BYTES: String(queueBytes),
    SVC_NOTIFY_QUEUE_FULL: 'park',
  };
  server = await startServer({ env });
  await untilReady(server, timeout);
  client = s3Client(server);
  await client.send(new CreateBucketCommand({ Bucket }));
  const QueueConfigurations = [{ QueueArn: 'arn:minio:sqs::A:webhook', Events: ['s3:ObjectCreated:*' as const] }];
  const NotificationConfiguration = { QueueConfigurations };
  await client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
}, timeout);
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});

interface TargetStatus {
  readonly state: string;
  readonly waiting: { readonly events: number; readonly bytes: number; readonly since?: string };
  readonly dropped: number;
  readonly fullSince?: string;
  readonly failure?: { readonly since: string; readonly error: string };
}

async function status(): Promise<TargetStatus> {
  const { value } = await adminCall(server.s3, server, 'GET', '/minio/admin/coffer/v1/notifications');
  const [target] = (value as { readonly targets: readonly TargetStatus[] }).targets;
  if (target === undefined) throw new Error('there is no target');
  return target;
}

it(`a dead target leaves ${writes} writes alone, its queue within its bound, and says what waits since when`, async () => {
  await expect.poll(() => receiver.events.length, { timeout }).toBe(1);
  const died = Date.now();
  await receiver.stop();
  let made = 0;
  const broken = new BrokenConnections();
  const write = async (count: number) => {
    const end = made + count;
    const writer = async () => {
      while (made < end) {
        made += 1;
        const put = new PutObjectCommand({ Bucket, Key: `key ${made % 100}`, Body: 'x' });
        await broken.repeat(() => client.send(put));
      }
    };
    await Promise.all(Array.from({ length: writers }, writer));
  };
  // The queue is measured, and each thread learns whether it is full and tells what it dropped, about once a second.
  // A write whose connection broke may be made twice, with two events.
  const untilAccounted = async () => {
    const unexplained = async () => {
      const { waiting, dropped } = await status();
      const more = waiting.events + dropped - made;
      return Math.min(more, 0) + Math.max(more - broken.count, 0);
    };
    await expect.poll(unexplained, { timeout, interval: 250 }).toBe(0);
    return status();
  };
  /** Writes rounds until one adds nothing to the queue, so that each thread knows that it is full. */
  const untilFull = async (before: TargetStatus): Promise<TargetStatus> => {
    if (made + round > writes) return before;
    await write(round);
    const now = await untilAccounted();
    const isGrowing = now.state !== 'full' || now.waiting.events > before.waiting.events;
    return isGrowing ? untilFull(now) : now;
  };
  const full = await untilFull(await untilAccounted());
  expect(full).toMatchObject({
    state: 'full',
    failure: { error: expect.stringMatching(/ECONNREFUSED|refused/) as string },
  });
  expect(full.waiting.bytes).toBeGreaterThanOrEqual(queueBytes);
  // A round passes the bound, and those before each thread knows it come on top.
  const eventBytes = full.waiting.bytes / full.waiting.events;
  expect(full.waiting.bytes).toBeLessThan(queueBytes + 5 * round * eventBytes);
  await write(writes - made);
  const after = await untilAccounted();
  expect([after.state, after.waiting.since]).toEqual(['full', full.waiting.since]);
  expect(after.waiting.events).toBeGreaterThanOrEqual(full.waiting.events);
  expect(after.waiting.events).toBeLessThanOrEqual(full.waiting.events + broken.count);
  for (const since of [full.waiting.since, full.failure?.since, full.fullSince]) {
    expect(Date.parse(since ?? '')).toBeGreaterThan(died - 1_000);
  }

  await receiver.start();
  await expect.poll(async () => (await status()).state, { timeout, interval: 250 }).toBe('online');
  expect(receiver.records.length).toBeGreaterThanOrEqual(full.waiting.events);
  report(
    `${writes} writes before a dead target: ${full.waiting.events} events waited in ${full.waiting.bytes} bytes (bound ${queueBytes}), ${after.dropped} were dropped and counted; ${broken.count} connections broke, and their writes were repeated`,
  );
}, 4_000_000);
