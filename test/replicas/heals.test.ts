import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultyFront, startFaultyFront, type WrongAnswer } from './faulty-front.ts';
import { startPostgres, type TestPostgres } from '../support/server/postgres.ts';
import { forEachLimit } from '../../platform/async/concurrency.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startHaproxy, type TestProxy } from '../support/server/start-proxy.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';

const Bucket = 'bucket';
const healsMs = 60_000;
/** Each of the two servers has two HTTP threads and a background thread, with 8 connections each, and a few for counting. */
const maxConnections = 2 * (3 * 8 + 4);

let primary: TestPostgres;
let synchronous: TestPostgres;
let asynchronous: TestPostgres;
let proxy: TestProxy;
let other: RunningServer;
let front: FaultyFront;
let servers: readonly RunningServer[] = [];
let clients: readonly S3Client[] = [];
/** The digest of what was acknowledged, by key. */
const acknowledged = new Map<string, string>();
const loadOver = new AbortController();
let load: Promise<unknown> = Promise.resolve();

beforeAll(async () => {
  primary = await startPostgres();
  synchronous = await primary.startStandby('synchronous');
  asynchronous = await primary.startStandby('asynchronous');
  await primary.asSuperuser(`alter system set synchronous_standby_names = 'synchronous'`);
  await primary.asSuperuser('select pg_reload_conf()');
  [proxy, other] = await Promise.all([startHaproxy([primary, synchronous]), startServer()]);
  await untilReady(other, healsMs);
  await s3Client(other).send(new CreateBucketCommand({ Bucket: 'blobs' }));
  front = await startFaultyFront(other.s3);
  const env = {
    SVC_STORE_RECORDS: `postgres://coffer@127.0.0.1:${proxy.port}/coffer`,
    SVC_STORE_RECORDS_PASSWORD: primary.password,
    SVC_STORE_BLOBS: 's3://blobs/tenant',
    SVC_STORE_BLOBS_S3_ENDPOINT: front.url,
    SVC_STORE_BLOBS_S3_ACCESS_KEY: other.accessKey,
    SVC_STORE_BLOBS_S3_SECRET_KEY: other.secretKey,
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
  await proxy.remove();
  await front.close();
  await other.kill();
  for (const database of [asynchronous, synchronous, primary]) await database.remove();
});

/** Stores small and large objects under new keys, by turns at both servers, and remembers those that were acknowledged. */
async function write(writer: number): Promise<void> {
  for (let count = 0; !loadOver.signal.aborted; count += 1) {
    const Key = `${writer}/${count}`;
    const Body = randomBytes(count % 3 === 0 ? 200_000 : 1_000);
    const client = clients[(writer + count) % clients.length];
    try {
      await client?.send(new PutObjectCommand({ Bucket, Key, Body }));
      acknowledged.set(Key, digest(Body));
    } catch {
      await sleep(200);
    }
    await sleep(20);
  }
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function healed(): Promise<void> {
  const before = acknowledged.size;
  for (const server of servers) {
    await expect
      .poll(async () => (await fetch(`${server.s3}/minio/health/ready`)).status, { timeout: healsMs })
      .toBe(200);
  }
  await expect.poll(() => acknowledged.size - before, { timeout: healsMs }).toBeGreaterThan(8);
}

async function read(Key: string, client: S3Client | undefined): Promise<string> {
  const answer = await client?.send(new GetObjectCommand({ Bucket, Key }));
  return digest((await answer?.Body?.transformToByteArray()) ?? Buffer.alloc(0));
}

/** Reads what was acknowledged, each object at one of the servers. A read that the server ends is made again; wrong bytes are a loss at once. */
async function nothingLost(): Promise<void> {
  const lost: string[] = [];
  await forEachLimit([...acknowledged].entries(), 8, async ([at, [Key, expected]]) => {
    const client = clients[at % clients.length];
    const found = await read(Key, client)
      .catch(() => read(Key, client))
      .catch(() => read(Key, client))
      .catch(String);
    if (found !== expected) lost.push(`${Key}: ${found}`);
  });
  expect(lost).toEqual([]);
}

async function connections(database: TestPostgres): Promise<number> {
  const sql = `select count(*)::int as open from pg_stat_activity where usename = 'coffer'`;
  const [row] = await database.asSuperuser(sql);
  return Number(row?.['open']);
}

const operations = ['PUT', 'GET', 'HEAD', 'DELETE', 'List', 'ListUploads'];
const ofUploads = ['Create', 'Part', 'Complete', 'Abort'];
const html = { 'content-type': 'text/html' };
const xml = { 'content-type': 'application/xml' };
const welcome = '<html><body>Welcome</body></html>';
const errorOf = (code: string) => `<Error><Code>${code}</Code><Message>later</Message></Error>`;
const wrongAnswers: readonly WrongAnswer[] = [
  ...[200, 204, 301, 403, 404, 412, 416, 429, 500, 502].map(
    (status) => ({ kind: 'instead', status, headers: html, body: status === 204 ? '' : welcome }) as const,
  ),
  { kind: 'instead', status: 200, body: '' },
  { kind: 'instead', status: 404, body: '' },
  { kind: 'instead', status: 503, headers: xml, body: errorOf('SlowDown') },
  // An S3 that began its answer before it had failed.
  { kind: 'instead', status: 200, headers: xml, body: errorOf('InternalError') },
  { kind: 'flipped' },
  { kind: 'cut' },
  { kind: 'reset' },
  { kind: 'lost' },
];

/** Stores objects whose bodies are sent in parts, until every wrong answer was given to their calls. */
async function uploadUntilAllWereAnswered(): Promise<void> {
  const deadline = Date.now() + 2 * healsMs;
  for (let count = 0; ['Create', 'Part', 'Complete'].some((operation) => front.left(operation) > 0); count += 1) {
    if (Date.now() > deadline)
      throw new Error(`left: ${ofUploads.map((one) => `${one} ${front.left(one)}`).join(', ')}`);
    const Key = `parts/${count}`;
    const Body = randomBytes(9 * 1024 * 1024);
    await clients[count % clients.length]?.send(new PutObjectCommand({ Bucket, Key, Body })).then(
      () => acknowledged.set(Key, digest(Body)),
      () => undefined,
    );
  }
}

describe('two servers under load', { timeout: 300_000 }, () => {
  it('lose and quarantine nothing when the other S3 answers each call in every wrong way once', async () => {
    for (const operation of [...operations, ...ofUploads]) front.fault(operation, wrongAnswers);
    await uploadUntilAllWereAnswered();
    await expect.poll(() => front.left('PUT'), { timeout: healsMs }).toBe(0);
    await nothingLost();
    expect(front.left('GET')).toBe(0);
    await healed();
    await nothingLost();
    expect(servers.flatMap(({ log }) => log).filter((line) => line.includes('"event":"object-damaged"'))).toEqual([]);
  });

  it('go on after their sessions were ended, and after a table was away, within the bound of connections', async () => {
    await primary.asSuperuser(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'coffer'`);
    await healed();
    await primary.asSuperuser('alter table coffer_meta rename to away');
    await primary.asSuperuser(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'coffer'`);
    let most = 0;
    for (let round = 0; round < 40; round += 1) {
      most = Math.max(most, await connections(primary));
      await sleep(250);
    }
    await primary.asSuperuser('alter table away rename to coffer_meta');
    await healed();
    expect(Math.max(most, await connections(primary))).toBeLessThanOrEqual(maxConnections);
  });

  it('wait for the synchronous standby, and not for the asynchronous one', async () => {
    asynchronous.pause();
    await healed();
    asynchronous.resume();
    synchronous.pause();
    await sleep(3_000);
    const stuck = acknowledged.size;
    await sleep(2_000);
    expect(acknowledged.size).toBe(stuck);
    synchronous.resume();
    await healed();
    expect(await connections(primary)).toBeLessThanOrEqual(maxConnections);
  });

  it('lose nothing acknowledged when the primary dies and the synchronous standby is promoted', async () => {
    await primary.kill();
    await synchronous.promote();
    await healed();
    loadOver.abort();
    await load;
    await nothingLost();
    expect(await connections(synchronous)).toBeLessThanOrEqual(maxConnections);
  });
});
