import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { newDeployment, type Deployment } from './deployment.ts';

const Bucket = 'bucket';
const large = Buffer.alloc(300_000, 'x');
let deployment: Deployment;
let servers: readonly RunningServer[];

beforeAll(async () => {
  deployment = await newDeployment();
  const first = await deployment.start();
  servers = [first, await deployment.start()];
  await s3Client(first).send(new CreateBucketCommand({ Bucket }));
}, 540_000);
afterAll(() => deployment.remove());

const put = (server: RunningServer, Key: string, Body: Buffer) =>
  s3Client(server)
    .send(new PutObjectCommand({ Bucket, Key, Body }))
    .then(
      () => 'stored',
      (error: Error) => error.name,
    );
const ready = async (server: RunningServer) => (await fetch(`${server.s3}/minio/health/ready`)).status;

it('two servers whose common folder goes write nothing beneath, say so, and go on by themselves', async () => {
  const [one, two] = servers as [RunningServer, RunningServer];
  expect(await put(one, 'before', large)).toBe('stored');
  // The path leads to another folder, as the mount point does when its volume goes.
  const away = `${deployment.blobs}-away`;
  await rename(deployment.blobs, away);
  await mkdir(deployment.blobs);
  for (const server of servers) {
    expect(await put(server, 'large', large)).toBe('ServiceUnavailable');
    expect(await put(server, 'small', Buffer.from('x'))).toBe('stored');
    await expect.poll(() => ready(server), { timeout: 90_000 }).toBe(503);
  }
  expect(await readdir(deployment.blobs)).toEqual([]);
  await rm(deployment.blobs, { recursive: true });
  await rename(away, deployment.blobs);
  for (const server of servers) {
    await expect.poll(() => ready(server), { timeout: 90_000 }).toBe(200);
    await expect.poll(() => put(server, 'after', large), { timeout: 90_000 }).toBe('stored');
  }
  const { Body } = await s3Client(two).send(new GetObjectCommand({ Bucket, Key: 'before' }));
  expect((await Body?.transformToByteArray())?.length).toBe(large.length);
}, 540_000);
