import {
  CreateBucketCommand,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { report } from '../support/report.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { EventReceiver } from './event-receiver.ts';

/** `.ci/run` asks for 1,500, `.ci/soak events` for 100,000. */
const writes = Number(process.env['COFFER_EVENTS'] ?? 600);
const writers = 8;
const Bucket = 'events';
const queueBytes = 128 * 1024;
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
  await untilReady(server);
  client = s3Client(server);
  await client.send(new CreateBucketCommand({ Bucket }));
  const QueueConfigurations = [{ QueueArn: 'arn:minio:sqs::A:webhook', Events: ['s3:ObjectCreated:*' as const] }];
  const NotificationConfiguration = { QueueConfigurations };
  await client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
}, 60_000);
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
  await expect.poll(() => receiver.events.length, { timeout: 10_000 }).toBe(1);
  const died = Date.now();
  await receiver.stop();
  let made = 0;
  const isOver = () => made >= writes;
  let largest = 0;
  const write = async () => {
    while (made < writes) {
      made += 1;
      await client.send(new PutObjectCommand({ Bucket, Key: `key ${made % 100}`, Body: 'x' }));
    }
  };
  const began = performance.now();
  const writing = Promise.all(Array.from({ length: writers }, write));
  const watching = (async () => {
    while (!isOver()) {
      largest = Math.max(largest, (await status()).waiting.bytes);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  await Promise.all([writing, watching]);
  const seconds = (performance.now() - began) / 1_000;
  // The threads count what they drop once a second.
  const accounted = async () => (({ waiting, dropped }) => waiting.events + dropped)(await status());
  await expect.poll(accounted, { timeout: 20_000, interval: 250 }).toBe(writes);
  const full = await status();
  expect(full).toMatchObject({
    state: 'full',
    failure: { error: expect.stringMatching(/ECONNREFUSED|refused/) as string },
  });
  const eventBytes = full.waiting.bytes / full.waiting.events;
  // What comes until the bound is seen, up to two measurements later, may exceed it.
  const withinMeasurement = (writes / seconds) * 3 * eventBytes;
  expect(Math.max(largest, full.waiting.bytes)).toBeLessThan(queueBytes + withinMeasurement);
  for (const since of [full.waiting.since, full.failure?.since, full.fullSince]) {
    expect(Date.parse(since ?? '')).toBeGreaterThan(died - 1_000);
  }

  await receiver.start();
  await expect.poll(async () => (await status()).state, { timeout: 60_000, interval: 250 }).toBe('online');
  expect(receiver.records.length).toBeGreaterThanOrEqual(full.waiting.events);
  report(
    `${writes} writes before a dead target: ${full.waiting.events} events waited in ${full.waiting.bytes} bytes (bound ${queueBytes}), ${full.dropped} were dropped and counted`,
  );
}, 4_000_000);
