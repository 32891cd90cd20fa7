import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetBucketNotificationConfigurationCommand,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { EventReceiver } from './event-receiver.ts';

const Bucket = 'events';
const arn = 'arn:minio:sqs:us-east-1:A:webhook';
const limit = 20;
let receiver: EventReceiver;
let server: RunningServer;
let client: S3Client;

beforeAll(async () => {
  receiver = await EventReceiver.start();
  server = await startServer({
    env: {
      SVC_NOTIFY_WEBHOOK_ENDPOINT_A: receiver.url,
      MINIO_NOTIFY_WEBHOOK_AUTH_TOKEN_A: 'secret-token',
      SVC_NOTIFY_WEBHOOK_QUEUE_LIMIT_A: String(limit),
      SVC_PROMETHEUS_AUTH_TYPE: 'public',
    },
  });
  await untilReady(server);
  client = s3Client(server);
  await client.send(new CreateBucketCommand({ Bucket }));
}, 180_000);
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});

const metrics = async () => (await fetch(`${server.s3}/minio/v2/metrics/cluster`)).text();

function configure() {
  return client.send(
    new PutBucketNotificationConfigurationCommand({
      Bucket,
      NotificationConfiguration: {
        QueueConfigurations: [{ Id: 'all', QueueArn: arn, Events: ['s3:ObjectCreated:*', 's3:ObjectRemoved:*'] }],
      },
    }),
  );
}

describe('a webhook', () => {
  it('gets a test event, then the events of the bucket in the form of MinIO', async () => {
    await configure();
    const { QueueConfigurations } = await client.send(new GetBucketNotificationConfigurationCommand({ Bucket }));
    expect(QueueConfigurations).toEqual([expect.objectContaining({ Id: 'all', QueueArn: arn })]);
    await expect
      .poll(() => receiver.events, { timeout: 10_000 })
      .toEqual([expect.objectContaining({ Service: 'Amazon S3', Event: 's3:TestEvent', Bucket })]);
    const put = await client.send(
      new PutObjectCommand({
        Bucket,
        Key: 'a b/ä',
        Body: 'text',
        ContentType: 'text/plain',
        Metadata: { colour: 'red' },
      }),
    );
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'a b/ä' }));
    await expect
      .poll(() => receiver.records.map(({ eventName }) => eventName), { timeout: 10_000 })
      .toEqual(['s3:ObjectCreated:Put', 's3:ObjectRemoved:Delete']);
    expect(receiver.events[1]).toMatchObject({
      EventName: 's3:ObjectCreated:Put',
      Key: `${Bucket}/a b/ä`,
      Records: [
        {
          eventVersion: '2.0',
          awsRegion: 'us-east-1',
          userIdentity: { principalId: 'root' },
          requestParameters: { principalId: 'root', sourceIPAddress: expect.stringContaining('127.0.0.1') as string },
          responseElements: { 'x-amz-request-id': put.$metadata.requestId },
          s3: {
            configurationId: 'all',
            bucket: { name: Bucket, arn: `arn:aws:s3:::${Bucket}` },
            object: {
              key: 'a+b%2F%C3%A4',
              size: 4,
              eTag: put.ETag?.replaceAll('"', ''),
              contentType: 'text/plain',
              userMetadata: { 'X-Amz-Meta-Colour': 'red' },
            },
          },
        },
      ],
    });
    const [created, removed] = receiver.records.map(({ s3 }) => s3.object.sequencer);
    expect(String(created) < String(removed)).toBe(true);
    expect([...receiver.authorizations]).toEqual(['Bearer secret-token']);
  });

  it('that is dead leaves the service alone: its queue is bounded, and the status says what waits', async () => {
    await receiver.stop();
    // The bound is measured once a second.
    await expect
      .poll(
        async () => {
          await client.send(new PutObjectCommand({ Bucket, Key: 'again', Body: 'x' }));
          return /dropped_events\{[^}]*A:webhook[^}]*\} [1-9]/.test(await metrics());
        },
        { timeout: 90_000, interval: 20 },
      )
      .toBe(true);
    const text = await metrics();
    expect(text).toMatch(/minio_notify_target_queue_length\{target_id="A:webhook"[^}]*\} \d\d/);
    expect(text).toMatch(/coffer_notify_target_oldest_event_seconds\{target_id="A:webhook"[^}]*\} [\d.]+/);
    await receiver.start();
    await expect
      .poll(metrics, { timeout: 90_000, interval: 250 })
      .toMatch(/queue_length\{target_id="A:webhook"[^}]*\} 0/);
  });
});
