import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PatroniCluster, type PatroniNode, startPatroni } from '../support/server/patroni.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { report } from '../support/report.ts';

const Bucket = 'bucket';
const healsMs = 60_000;
/** The night asks for more, of each kind. */
const failovers = Number(process.env['COFFER_FAILOVERS'] ?? 2);

let cluster: PatroniCluster;
let folder: string;
let servers: readonly RunningServer[] = [];
let clients: readonly S3Client[] = [];
/** The keys whose PUT was answered. The body of each is its key. */
const acknowledged: string[] = [];
const loadOver = new AbortController();
let load: Promise<unknown> = Promise.resolve();

beforeAll(async () => {
  cluster = await startPatroni();
  folder = await mkdtemp(join(tmpdir(), 'coffer-failovers-'));
  await mkdir(join(folder, 'blobs'));
  const hosts = cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const env = {
    SVC_STORE_RECORDS: `postgres://coffer@${hosts}/coffer?target_session_attrs=read-write`,
    SVC_STORE_RECORDS_PASSWORD: cluster.password,
    SVC_STORE_BLOBS: `files:${join(folder, 'blobs')}`,
    SVC_THREADS: '2',
  };
  servers = await Promise.all([startServer({ env }), startServer({ env })]);
  for (const server of servers) await untilReady(server, healsMs);
  clients = servers.map((server) => s3Client(server));
  await clients[0]?.send(new CreateBucketCommand({ Bucket }));
  load = Promise.all([0, 1, 2, 3].map((writer) => write(writer)));
}, 720_000);
afterAll(async () => {
  loadOver.abort();
  await load;
  await Promise.all(servers.map((server) => server.kill()));
  await cluster?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Stores small objects under new keys, by turns at both servers. */
async function write(writer: number): Promise<void> {
  for (let count = 0; !loadOver.signal.aborted; count += 1) {
    const Key = `${writer}/${count}`;
    try {
      await clients[(writer + count) % clients.length]?.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
      acknowledged.push(Key);
    } catch {
      await sleep(200);
    }
    await sleep(20);
  }
}

/** Waits until both servers are ready and writes are acknowledged. Returns how long it took. */
async function healed(): Promise<number> {
  const began = performance.now();
  const before = acknowledged.length;
  await expect.poll(() => acknowledged.length - before, { timeout: healsMs }).toBeGreaterThan(8);
  for (const server of servers) {
    await expect
      .poll(async () => (await fetch(`${server.s3}/minio/health/ready`)).status, { timeout: healsMs })
      .toBe(200);
  }
  return performance.now() - began;
}

/** Reads what was acknowledged, each object at one of the servers. */
async function lost(): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const [at, Key] of acknowledged.entries()) {
    const read = async () => {
      const answer = await clients[at % clients.length]?.send(new GetObjectCommand({ Bucket, Key }));
      return answer?.Body?.transformToString();
    };
    const found = await read().catch(String);
    if (found !== Key) wrong.push(`${Key}: ${found}`);
  }
  return wrong;
}

type Failover = (primary: PatroniNode) => Promise<() => void | Promise<void>>;

/** Each takes the primary away, and returns what brings it back. */
const kinds: Readonly<Record<string, Failover>> = {
  'the machine of the primary dies': async (primary) => {
    await primary.kill();
    return () => primary.start();
  },
  'the machine of the primary stands still, and goes on later': (primary) => {
    primary.pause();
    return Promise.resolve(() => primary.resume());
  },
  'Patroni makes the standby the primary': async (primary) => {
    await cluster.switchOver(primary);
    return () => undefined;
  },
  'the primary is replaced, and takes writes all the same': (primary) => {
    primary.pausePatroni();
    return Promise.resolve(() => primary.resume());
  },
};

describe('two servers under load lose nothing acknowledged', { timeout: 600_000 }, () => {
  const names = Object.keys(kinds);
  it.each(Array.from({ length: failovers }, (_, at) => [at + 1, names[at % names.length] ?? '']))(
    'in failover %i: %s',
    async (number, name) => {
      const [primary] = await cluster.untilWhole();
      await healed();
      const bringBack = await kinds[name]?.(primary);
      await cluster.untilReplaced(primary);
      const away = await healed();
      await bringBack?.();
      await cluster.untilWhole();
      await healed();
      expect(await lost()).toEqual([]);
      report(`failover ${number}, ${name}: writes again ${(away / 1000).toFixed(1)} s after the new primary`);
    },
  );
});
