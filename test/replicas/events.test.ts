import { CreateBucketCommand, PutBucketNotificationConfigurationCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { firstDeliveries, missing, outOfOrder, outOfRevisions } from '../events/deliveries.ts';
import { EventReceiver } from '../events/event-receiver.ts';
import { report } from '../support/report.ts';
import { s3Client } from '../support/server/s3-client.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { newDeployment, type Deployment } from './deployment.ts';

const Bucket = 'events';
const writers = 6;
/** Milliseconds: a machine may pause its processes for minutes. */
const timeout = 900_000;
const keysOfWriter = 5;
const writes = Number(process.env['COFFER_EVENTS'] ?? 600);

let deployment: Deployment;
let receiver: EventReceiver;
let env: Readonly<Record<string, string>>;
let holder: RunningServer;
let other: RunningServer;

beforeAll(async () => {
  [deployment, receiver] = await Promise.all([newDeployment(), EventReceiver.start()]);
  env = { SVC_NOTIFY_WEBHOOK_ENDPOINT_A: receiver.url };
  holder = await deployment.start(env);
  await holder.untilLogged('this server does the background work');
  other = await deployment.start(env);
  const client = s3Client(other);
  await client.send(new CreateBucketCommand({ Bucket }));
  const QueueConfigurations = [{ QueueArn: 'arn:minio:sqs::A:webhook', Events: ['s3:ObjectCreated:*' as const] }];
  const NotificationConfiguration = { QueueConfigurations };
  await client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
}, timeout);
afterAll(async () => {
  await receiver?.stop();
  await deployment?.remove();
});

it('come once at least and in order for each key, while the server that delivers them is killed', async () => {
  const acknowledged = new Set<string>();
  const servers = () =>
    [holder, other].filter((server) => server.ended() === undefined).map((server) => s3Client(server));
  let clients = servers();
  let made = 0;
  let broken = 0;
  const write = async (writer: number) => {
    // A write that the killed server did not answer is another one.
    while (acknowledged.size < writes) {
      const number = (made += 1);
      const Key = `${writer}/${number % keysOfWriter}`;
      const client = clients[number % clients.length];
      const Metadata = { number: String(number) };
      await client?.send(new PutObjectCommand({ Bucket, Key, Body: String(number), Metadata })).then(
        () => acknowledged.add(`${Key}#${number}`),
        () => {
          broken += 1;
          return sleep(20);
        },
      );
    }
  };
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  await expect.poll(() => receiver.records.length, { timeout: 3_600_000 }).toBeGreaterThan(writes / 10);
  await expect.poll(() => acknowledged.size, { timeout: 3_600_000 }).toBeGreaterThan(writes / 3);
  await holder.kill();
  clients = servers();
  await other.untilLogged('this server does the background work');
  await writing;
  await expect.poll(() => missing(receiver, acknowledged), { timeout, interval: 250 }).toEqual([]);
  expect(outOfOrder(firstDeliveries(receiver), acknowledged)).toEqual([]);
  expect(outOfRevisions(receiver)).toEqual([]);
  report(
    `${acknowledged.size} acknowledged writes to two servers over PostgreSQL, the lease moved: each event came, in order for each key; ${broken} writes had no answer, and others took their place`,
  );
}, 4_000_000);
