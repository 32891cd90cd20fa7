import {
  CreateBucketCommand,
  GetObjectCommand,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  type S3Client,
  SelectObjectContentCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { EventReceiver } from './event-receiver.ts';

const Bucket = 'events';
const timeout = 120_000;
let receiver: EventReceiver;
let server: RunningServer;
let client: S3Client;

beforeAll(async () => {
  receiver = await EventReceiver.start();
  server = await startServer({ env: { SVC_NOTIFY_WEBHOOK_ENDPOINT_A: receiver.url } });
  await untilReady(server, timeout);
  client = s3Client(server);
  await client.send(new CreateBucketCommand({ Bucket }));
  await client.send(
    new PutBucketNotificationConfigurationCommand({
      Bucket,
      NotificationConfiguration: {
        QueueConfigurations: [{ QueueArn: 'arn:minio:sqs::A:webhook', Events: ['s3:ObjectAccessed:*' as never] }],
      },
      SkipDestinationValidation: true,
    }),
  );
}, timeout);
afterAll(async () => {
  await server?.stop();
  await receiver?.stop();
});

/** The requests whose events came, each once. */
function requests(): readonly string[] {
  return [...new Set(receiver.records.map(({ responseElements }) => responseElements?.['x-amz-request-id'] ?? ''))];
}

/** Returns the ID of the request. */
async function select(Key: string, Expression: string): Promise<string | undefined> {
  const { Payload, $metadata } = await client.send(
    new SelectObjectContentCommand({
      Bucket,
      Key,
      ExpressionType: 'SQL',
      Expression,
      InputSerialization: { CSV: {} },
      OutputSerialization: { CSV: {} },
    }),
  );
  await Array.fromAsync(Payload ?? []);
  return $metadata.requestId;
}

it(
  'a query sends the event of a read, and a read or a query that fails sends none',
  async () => {
    const Key = 'one';
    await client.send(new PutObjectCommand({ Bucket, Key, Body: 'a,b\n' }));
    await expect(client.send(new GetObjectCommand({ Bucket, Key, Range: 'bytes=100-' }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 416 },
    });
    await expect(select(Key, 'SELECT nonsense FROM')).rejects.toThrow();
    const queried = await select(Key, 'SELECT * FROM S3Object');
    const read = await client.send(new GetObjectCommand({ Bucket, Key }));
    await read.Body?.transformToString();
    // The events of an object come in their order: none but repetitions follows the last.
    await expect.poll(requests, { timeout }).toContain(read.$metadata.requestId);
    expect(requests()).toEqual([queried, read.$metadata.requestId]);
  },
  timeout,
);
