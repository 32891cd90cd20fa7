import {
  CreateBucketCommand,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { report } from '../support/report.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { firstDeliveries, missing, outOfOrder, outOfRevisions } from './deliveries.ts';
import { EventReceiver } from './event-receiver.ts';
import { seed } from '../support/seed.ts';

/** `.ci/run` asks for 1,500 writes and three kills, `.ci/soak events` for 100,000 and five. */
const writes = Number(process.env['COFFER_EVENTS'] ?? 150);
const kills = Number(process.env['COFFER_KILLS'] ?? 1);
const writers = 8;
/** Milliseconds: a machine may pause its processes for minutes. */
const timeout = 900_000;
const keysOfWriter = 5;
const Bucket = 'events';
const arn = 'arn:minio:sqs::A:webhook';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let receiver: EventReceiver;
let server: RunningServer;
let client: S3Client;
const over = new AbortController();

beforeAll(async () => {
  folder = await temporaryFolder();
  receiver = await EventReceiver.start();
  await start();
  await client.send(new CreateBucketCommand({ Bucket }));
  const QueueConfigurations = [{ QueueArn: arn, Events: ['s3:ObjectCreated:*' as const] }];
  const NotificationConfiguration = { QueueConfigurations };
  await client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
}, timeout);
afterAll(async () => {
  over.abort();
  await server?.stop();
  await receiver?.stop();
  await folder?.remove();
});

async function start(): Promise<void> {
  server = await startServer({ folder: folder.path, env: { SVC_NOTIFY_WEBHOOK_ENDPOINT_A: receiver.url } });
  await untilReady(server, timeout);
  client = s3Client(server);
}

/** The target stops and starts, and sometimes refuses. */
async function disturb(random: SeededRandom): Promise<void> {
  while (!over.signal.aborted) {
    await sleep(random.between(200, 600));
    if (random.between(0, 1) === 0) receiver.status = 503;
    else await receiver.stop();
    await sleep(random.between(50, 300));
    receiver.status = 200;
    await receiver.stop();
    await receiver.start();
  }
}

it(`delivers each of ${writes} writes, in order for each key, through ${kills} kills of the server`, async () => {
  const random = new SeededRandom(seed);
  const disturbing = disturb(random);
  const acknowledged = new Set<string>();
  const sent = new Set<string>();
  let made = 0;
  let broken = 0;
  const write = async (writer: number) => {
    // A write that a kill breaks off is another one.
    while (acknowledged.size < writes) {
      const number = (made += 1);
      const Key = `${writer}/${number % keysOfWriter} ä`;
      const name = `${Key}#${number}`;
      sent.add(name);
      try {
        const Metadata = { number: String(number) };
        await client.send(new PutObjectCommand({ Bucket, Key, Body: String(number), Metadata }));
        acknowledged.add(name);
        const rejected = { number: `refused-${number}` };
        if (number % 50 === 0) {
          await client
            .send(new PutObjectCommand({ Bucket, Key, Body: 'x', Metadata: rejected, IfNoneMatch: '*' }))
            .catch(() => undefined);
        }
      } catch {
        // The server is killed, or ended a connection of a process that was paused. The server may have made this write.
        broken += 1;
        await sleep(20);
      }
    }
  };
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  for (let kill = 1; kill <= kills; kill += 1) {
    const enough = (kill * writes) / (kills + 1);
    await expect.poll(() => acknowledged.size, { timeout: 3_600_000, interval: 5 }).toBeGreaterThan(enough);
    await server.kill();
    await start();
  }
  await writing;
  over.abort();
  await disturbing;

  await expect.poll(() => missing(receiver, acknowledged), { timeout, interval: 250 }).toEqual([]);
  const first = firstDeliveries(receiver);
  expect(first.filter((name) => !sent.has(name))).toEqual([]);
  expect(outOfOrder(first, acknowledged)).toEqual([]);
  expect(outOfRevisions(receiver)).toEqual([]);
  report(
    `${acknowledged.size} acknowledged writes, ${kills} kills: each of ${first.length} events came, in order for each key; ${receiver.records.length - first.length} came again; ${broken} writes had no answer, and others took their place (seed ${seed})`,
  );
}, 4_000_000);
