import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { type Deployment, newDeployment } from './deployment.ts';

const Bucket = 'bucket';
const healsMs = 60_000;
let deployment: Deployment;
let folder: string;
let servers: readonly RunningServer[] = [];
/** The databases of these servers and of another deployment. */
let own: string;
let other: string;

beforeAll(async () => {
  [deployment, folder] = await Promise.all([newDeployment(), mkdtemp(join(tmpdir(), 'coffer-other-database-'))]);
  const database = await deployment.postgres.createDatabase();
  const foreign = await deployment.start({ SVC_STORE_RECORDS: database.url, SVC_STORE_BLOBS: `files:${folder}` });
  await s3Client(foreign).send(new CreateBucketCommand({ Bucket }));
  await foreign.kill();
  [own, other] = [nameOf(deployment.database.url), nameOf(database.url)];
  servers = await Promise.all([deployment.start(), deployment.start()]);
  const [one] = servers as [RunningServer];
  await s3Client(one).send(new CreateBucketCommand({ Bucket }));
  await s3Client(one).send(new PutObjectCommand({ Bucket, Key: 'before', Body: 'before' }));
}, 720_000);
afterAll(async () => {
  await deployment?.remove();
  await rm(folder, { recursive: true, force: true });
});

const nameOf = (url: string) => new URL(url).pathname.slice(1);

const run = (sql: string) => deployment.postgres.asSuperuser(sql, 'postgres');

/** Exchanges the names of the two databases, as a restore of a dump of another deployment does. */
async function exchange(): Promise<void> {
  for (const [from, to] of [
    [own, 'aside'],
    [other, own],
    ['aside', other],
  ]) {
    await run(`alter database ${from} allow_connections false`);
    await run(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${from}'`);
    await run(`alter database ${from} rename to ${to}`);
    await run(`alter database ${to} allow_connections true`);
  }
}

const put = (server: RunningServer, Key: string) =>
  s3Client(server)
    .send(new PutObjectCommand({ Bucket, Key, Body: Key }))
    .then(
      () => 'stored',
      (error: Error) => error.name,
    );
const get = (server: RunningServer, Key: string) =>
  s3Client(server)
    .send(new GetObjectCommand({ Bucket, Key }))
    .then(
      ({ Body }) => Body?.transformToString(),
      (error: Error) => error.name,
    );
const ready = async (server: RunningServer) => (await fetch(`${server.s3}/minio/health/ready`)).status;

it('two servers whose database is exchanged for that of another deployment refuse it, say so, and go on by themselves', async () => {
  await exchange();
  for (const server of servers) {
    for (let round = 0; round < 5; round += 1) {
      expect(await put(server, `during ${round}`)).toBe('ServiceUnavailable');
      expect(await get(server, 'before')).toBe('ServiceUnavailable');
    }
    await expect.poll(() => ready(server), { timeout: healsMs }).toBe(503);
    await server.untilLogged('belong to the deployment');
  }
  await exchange();
  for (const server of servers) {
    await expect.poll(() => ready(server), { timeout: healsMs }).toBe(200);
    // Each thread finds out by itself.
    await expect.poll(() => put(server, 'after'), { timeout: healsMs }).toBe('stored');
    await expect.poll(() => get(server, 'before'), { timeout: healsMs }).toBe('before');
  }
}, 720_000);
