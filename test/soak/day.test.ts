import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf } from '../crash/s3-client.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { type DayClient, look, step, Obstacles } from './day-client.ts';
import { randomPort } from './random-port.ts';
import { report } from '../support/report.ts';
import { growthAfter, watchMemory } from './resident-memory.ts';
import { seed } from '../support/seed.ts';

const minutes = Number(process.env['COFFER_SOAK_MINUTES'] ?? 120);
const durationMs = minutes * 60_000;
const CLIENTS = 16;
const Bucket = 'day';
/** Capacity is measured for this long, and one of the three is restarted so often. */
const measureMs = Math.min(60_000, durationMs / 10);
const restartEveryMs = Math.min(180_000, durationMs / 10);
const warmUpMs = Math.min(600_000, durationMs / 4);
const MiB = 1_048_576;

let folder: string;
let postgres: TestPostgres;
let blobStore: RunningServer;
let steady: RunningServer;
let restarted: RunningServer;
let ports: { blobs: number; restarted: number };
let replicaEnv: Record<string, string>;

async function startAt(
  port: number,
  options: { folder: string; env?: Record<string, string> },
): Promise<RunningServer> {
  const server = await startServer({ ...options, args: ['--address', `127.0.0.1:${port}`] });
  await untilReady(server, 60_000);
  return server;
}
const startBlobStore = () => startAt(ports.blobs, { folder: join(folder, 'blob-store') });
const startReplica = (port: number, name: string) => startAt(port, { folder: join(folder, name), env: replicaEnv });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-day-'));
  postgres = await startPostgres();
  const database = await postgres.createDatabase();
  ports = { blobs: await randomPort(), restarted: await randomPort() };
  blobStore = await startBlobStore();
  await clientOf(blobStore).send(new CreateBucketCommand({ Bucket: 'blobs' }));
  replicaEnv = {
    SVC_STORE_RECORDS: database.url,
    SVC_STORE_RECORDS_PASSWORD: database.password,
    SVC_STORE_BLOBS: 's3://blobs/day',
    SVC_STORE_BLOBS_S3_ENDPOINT: blobStore.s3,
    SVC_STORE_BLOBS_S3_ACCESS_KEY: blobStore.accessKey,
    SVC_STORE_BLOBS_S3_SECRET_KEY: blobStore.secretKey,
    SVC_THREADS: '2',
  };
  steady = await startReplica(await randomPort(), 'steady');
  restarted = await startReplica(ports.restarted, 'restarted');
  await clientOf(steady).send(new CreateBucketCommand({ Bucket }));
}, 540_000);

afterAll(async () => {
  await steady.kill();
  await restarted.kill();
  await blobStore.kill();
  await postgres.remove();
  await rm(folder, { recursive: true, force: true });
});

/** What is restarted in turn, gently and by force by turns. */
const turns: readonly { readonly what: string; restart(gently: boolean): Promise<void> }[] = [
  {
    what: 'a replica',
    async restart(gently) {
      await (gently ? restarted.stop() : restarted.kill());
      await sleep(2_000);
      restarted = await startReplica(ports.restarted, 'restarted');
    },
  },
  {
    what: 'PostgreSQL',
    async restart(gently) {
      await (gently ? postgres.stop() : postgres.kill());
      await sleep(2_000);
      await postgres.start();
    },
  },
  {
    what: 'the blob store',
    async restart(gently) {
      await (gently ? blobStore.stop() : blobStore.kill());
      await sleep(2_000);
      blobStore = await startBlobStore();
    },
  },
];

/** Steps of all clients until the time is over, at most so many a second; how many there were. */
async function run(clients: readonly DayClient[], forMs: number, perSecond: number): Promise<number> {
  const began = performance.now();
  let steps = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() - began < forMs) {
        const due = began + (steps * 1_000) / perSecond;
        steps += 1;
        if (due > performance.now()) await sleep(due - performance.now());
        await step(client);
      }
    }),
  );
  return steps;
}

async function restartInTurn(signal: AbortSignal): Promise<number> {
  for (let round = 0; ; round += 1) {
    await sleep(restartEveryMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return round;
    const turn = turns[round % turns.length];
    console.log(`${new Date().toISOString()} restarting ${turn?.what}`);
    await turn?.restart(Math.floor(round / turns.length) % 2 === 0);
  }
}

describe(`a day in ${minutes} minutes, seed ${seed}`, () => {
  it(
    'loses nothing, does not grow, and refuses only what a retry heals',
    { timeout: durationMs + 600_000 },
    async () => {
      const random = new SeededRandom(seed);
      const obstacles = new Obstacles();
      const replicas = [steady, restarted].map(clientOf);
      const clients = Array.from({ length: CLIENTS }, (_, index): DayClient => ({
        name: `client-${index}`,
        bucket: Bucket,
        replicas,
        random: new SeededRandom(random.between(0, 2 ** 30)),
        obstacles,
        holds: new Map(),
        wrong: [],
      }));
      const measured = await run(clients, measureMs, Infinity);
      const capacity = (measured * 1_000) / measureMs;
      const memory = watchMemory(steady.pid);
      const over = new AbortController();
      const restarting = restartInTurn(over.signal);
      const steps = await run(clients, durationMs, capacity / 2);
      over.abort();
      const restarts = await restarting;
      memory.stop();
      for (const client of clients) for (const key of client.holds.keys()) await look(client, key);

      const growth = growthAfter(warmUpMs, memory.samples);
      const boundBytes = Math.max(16 * MiB, growth.meanBytes / 10);
      const wrong = clients.flatMap((client) => client.wrong);
      const answered = [...obstacles.answered].map(([code, count]) => `${count} ${code}`).join(', ') || 'none';
      report(
        `${minutes} minutes, seed ${seed}: ${steps} operations at ${Math.round(capacity / 2)} a second (half of ${Math.round(capacity)} measured), ` +
          `${restarts} restarts of ${turns.map(({ what }) => what).join(', ')} in turn; ${wrong.length} lost or wrong`,
      );
      report(
        `503 answers: ${answered}; ${obstacles.unanswered} requests to a server that was away; other errors: ` +
          `${obstacles.unexpected.length}; the longest wait with retries ${Math.round(obstacles.longestMs)} ms`,
      );
      report(
        `resident memory of the replica that ran on: ${Math.round(growth.meanBytes / MiB)} MiB on average, growth after ` +
          `${Math.round(warmUpMs / 60_000)} minutes ${(growth.grownBytes / MiB).toFixed(1)} MiB by linear fit of ${growth.samples} samples ` +
          `(bound ${Math.round(boundBytes / MiB)} MiB)`,
      );
      expect(wrong).toEqual([]);
      expect(obstacles.unexpected).toEqual([]);
      expect(restarts).toBeGreaterThanOrEqual(turns.length);
      expect(growth.grownBytes).toBeLessThan(boundBytes);
    },
  );
});
