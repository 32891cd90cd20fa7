import { CreateBucketCommand, DeleteBucketCommand, HeadBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { newDeployment, type Deployment } from './deployment.ts';

const names = Array.from({ length: 300 }, (_, at) => `bucket-${String(at).padStart(3, '0')}`);
const listed = 100;
const env = { SVC_THREADS: '4', SVC_PROMETHEUS_AUTH_TYPE: 'public' };

let deployment: Deployment;
beforeAll(async () => {
  deployment = await newDeployment();
}, 540_000);
afterAll(() => deployment.remove());

/** Does the work for each bucket, some at a time, so that many connections lead to all threads. */
async function forEach(buckets: readonly string[], work: (bucket: string) => Promise<unknown>): Promise<void> {
  const rest = [...buckets];
  const next = async () => {
    for (let bucket = rest.shift(); bucket !== undefined; bucket = rest.shift()) await work(bucket);
  };
  await Promise.all(Array.from({ length: 16 }, next));
}

const head = (client: S3Client, Bucket: string) => client.send(new HeadBucketCommand({ Bucket }));

/** Returns the requests of an operation by bucket. */
async function rows(server: RunningServer, api: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${server.s3}/minio/v2/metrics/bucket`)).text();
  const found = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, labels = '', value] = /^minio_bucket_requests_total\{(.*)\} (\d+)$/.exec(line) ?? [];
    if (!labels.includes(`api="${api}"`)) continue;
    found.set(/bucket="([^"]*)"/.exec(labels)?.[1] ?? '', Number(value));
  }
  return found;
}

const sum = (found: ReadonlyMap<string, number>) => [...found.values()].reduce((a, b) => a + b, 0);
const untilSum = (server: RunningServer, api: string, total: number) =>
  expect.poll(async () => sum(await rows(server, api)), { timeout: 90_000, interval: 500 }).toBe(total);

it('tells the requests of 300 buckets, four threads and two servers exactly, over removals and a restart', async () => {
  let servers = await Promise.all([deployment.start(env), deployment.start(env)]);
  let clients = servers.map((server) => s3Client(server));
  // In their order, so that it is known which are the oldest.
  for (const Bucket of names) await clients[0]!.send(new CreateBucketCommand({ Bucket }));
  await untilSum(servers[0], 'putbucket', 300);

  for (const client of clients) await forEach([...names, ...names.toReversed()], (bucket) => head(client, bucket));
  for (const server of servers) {
    await untilSum(server, 'headbucket', 600);
    const found = await rows(server, 'headbucket');
    expect([...found.keys()]).toEqual(['(others)', ...names.slice(0, listed)]);
    for (const name of names.slice(0, listed)) expect([name, found.get(name)]).toEqual([name, 2]);
  }

  // A name that does not exist is one of the others.
  await expect(head(clients[1]!, 'guessed')).rejects.toThrow();
  await untilSum(servers[1], 'headbucket', 601);

  await forEach(names.slice(0, 50), (Bucket) => clients[1]!.send(new DeleteBucketCommand({ Bucket })));
  const [last = ''] = names.slice(149, 150);
  const made = [600, 601];
  for (const [index, server] of servers.entries()) {
    const itsRow = async () => {
      await head(clients[index]!, last);
      made[index]! += 1;
      return (await rows(server, 'headbucket')).has(last);
    };
    await expect.poll(itsRow, { timeout: 270_000, interval: 1_000 }).toBe(true);
    await untilSum(server, 'headbucket', made[index]!);
  }
  await forEach(names.slice(50), (bucket) => head(clients[0]!, bucket));
  await untilSum(servers[0], 'headbucket', made[0]! + 250);

  await servers[1].stop();
  servers = [servers[0], await deployment.start(env)];
  clients = servers.map((server) => s3Client(server));
  await forEach([...names.slice(50), ...names.slice(50)], (bucket) => head(clients[1]!, bucket));
  await untilSum(servers[1], 'headbucket', 500);
  const found = await rows(servers[1], 'headbucket');
  expect([...found.keys()]).toEqual(['(others)', ...names.slice(50, 150)]);
  for (const name of names.slice(50, 150)) expect([name, found.get(name)]).toEqual([name, 2]);
}, 300_000);
