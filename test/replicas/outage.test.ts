import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, untilReady } from '../support/server/start-server.ts';
import { newDeployment, type Deployment } from './deployment.ts';

const Bucket = 'bucket';
let deployment: Deployment;
let server: RunningServer;

beforeAll(async () => {
  deployment = await newDeployment();
  await deployment.postgres.stop();
  server = await deployment.start({}, 'until it listens');
}, 540_000);
afterAll(() => deployment.remove());

const put = (Key: string) => s3Client(server).send(new PutObjectCommand({ Bucket, Key, Body: Key }));
const waitingFor = async () => (await fetch(`${server.s3}/minio/health/ready`)).headers.get('x-coffer-waiting-for');
const status = async (path: string) => (await fetch(server.s3 + path)).status;

describe('a server whose database is away when it starts', () => {
  it('listens, lives, says what it waits for, and refuses everything else for now', async () => {
    const line = await server.untilLogged('waiting for the stores');
    expect(line).not.toContain(deployment.database.password);
    expect(await status('/minio/health/live')).toBe(200);
    expect(await status('/minio/health/ready')).toBe(503);
    // Each thread hears of it by itself.
    await expect.poll(waitingFor).toBe('database');
    const answer = await fetch(`${server.s3}/${Bucket}`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  });

  it('becomes ready by itself when it comes', async () => {
    await deployment.postgres.start();
    await untilReady(server, 60_000);
  });
});

describe('a server whose database answers nothing any more', { timeout: 360_000 }, () => {
  beforeAll(async () => {
    await s3Client(server).send(new CreateBucketCommand({ Bucket }));
    await put('before');
  });

  it('lets nobody wait for long, and soon for nothing', async () => {
    deployment.postgres.pause();
    const began = performance.now();
    await expect(put('first')).rejects.toMatchObject({ name: 'ServiceUnavailable' });
    expect(performance.now() - began).toBeLessThan(30_000);
    const second = performance.now();
    const answers = await Promise.all(Array.from({ length: 50 }, () => status(`/${Bucket}/before`)));
    // Anonymous: without its bucket's policy nobody can tell.
    expect(new Set(answers)).toEqual(new Set([503]));
    expect(performance.now() - second).toBeLessThan(2_000);
  });

  it('is not ready after some seconds, and lives', async () => {
    await expect.poll(() => status('/minio/health/ready'), { timeout: 45_000 }).toBe(503);
    await expect.poll(waitingFor, { timeout: 45_000 }).toBe('database');
    expect(await status('/minio/health/live')).toBe(200);
  });

  it('is ready again by itself', async () => {
    deployment.postgres.resume();
    await untilReady(server, 30_000);
    // Each thread finds out by itself, and one may answer for another's second.
    await expect.poll(() => put('after').then(() => 'taken', String), { timeout: 45_000 }).toBe('taken');
  });
});

describe('servers whose database is killed and started under load', { timeout: 540_000 }, () => {
  it('lose nothing that they acknowledged, and serve again by themselves', async () => {
    const other = await deployment.start();
    const clients = [s3Client(server), s3Client(other)];
    const acknowledged = new Map<string, string>();
    const over = new AbortController();
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let count = 0; !over.signal.aborted; count += 1) {
        const client = clients[(writer + count) % 2];
        const [Key, Body] = [`load/${writer}/${count % 40}`, `${writer} ${count} `.repeat(1 + (count % 3) * 60_000)];
        acknowledged.delete(Key);
        try {
          await client?.send(new PutObjectCommand({ Bucket, Key, Body }));
          acknowledged.set(Key, Body);
        } catch {
          // Neither acknowledged nor refused for good: the next round writes it again.
          await sleep(100);
        }
      }
    });
    for (const end of ['kill', 'stop', 'kill'] as const) {
      await sleep(2_000);
      await deployment.postgres[end]();
      await sleep(1_000);
      await deployment.postgres.start();
      await Promise.all([untilReady(server, 30_000), untilReady(other, 30_000)]);
    }
    await sleep(2_000);
    over.abort();
    await Promise.all(writers);
    expect(acknowledged.size).toBeGreaterThan(50);
    for (const client of clients) {
      for (const [Key, body] of acknowledged) {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
        expect([Key, (await Body?.transformToString()) === body]).toEqual([Key, true]);
      }
    }
  });
});
