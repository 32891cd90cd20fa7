import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import { removeOrphanBlobs } from '../../server/objects/garbage-collection/garbage-collection.ts';
import { openBlobStore, openRecordStore } from '../../server/store/open-stores.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { signByHand } from '../support/server/sign-by-hand.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { newDeployment, type Deployment } from './deployment.ts';

const env = { SVC_PROMETHEUS_AUTH_TYPE: 'public' };
const log = createLogger({ name: 'test', level: 'error' });
let deployment: Deployment;
let holder: RunningServer;
let other: RunningServer;

beforeAll(async () => {
  deployment = await newDeployment();
  holder = await deployment.start(env);
  await holder.untilLogged('this server does the background work');
  other = await deployment.start(env);
}, 540_000);
afterAll(() => deployment.remove());

async function metric(server: RunningServer, name: string): Promise<number> {
  const text = await (await fetch(`${server.s3}/minio/v2/metrics/cluster`)).text();
  return Number(new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'm').exec(text)?.[1]);
}

const knownServers = () => metric(holder, 'coffer_cluster_servers');

describe('of two servers', { timeout: 360_000 }, () => {
  it('one does the background work, as its metrics say; both know of each other', async () => {
    for (const server of [holder, other]) {
      await expect.poll(() => metric(server, 'coffer_cluster_servers'), { timeout: 45_000 }).toBe(2);
    }
    expect(await metric(holder, 'coffer_background_work')).toBe(1);
    expect(await metric(other, 'coffer_background_work')).toBe(0);
  });

  it('the one counts what is stored for whoever asks the other', async () => {
    const s3 = s3Client(other);
    await s3.send(new CreateBucketCommand({ Bucket: 'counted' }));
    await s3.send(new PutObjectCommand({ Bucket: 'counted', Key: 'k', Body: 'content' }));
    const { value } = await adminCall(other.s3, other, 'POST', '/minio/admin/coffer/v1/usage');
    expect(value).toMatchObject({ usage: { buckets: [{ bucket: 'counted', objects: 1, bytes: 7 }] } });
    for (const server of [holder, other]) expect(await metric(server, 'minio_cluster_usage_total_bytes')).toBe(7);
  });

  it('an upload of one that is killed leaves nothing to see, and a blob that the other can sweep', async () => {
    const Bucket = 'bucket';
    await s3Client(other).send(new CreateBucketCommand({ Bucket }));
    await beginUpload(holder, `/${Bucket}/half`, 10_000_000);
    const blobs = await openBlobStore({ kind: 'files', folder: deployment.blobs }, { log });
    const count = async () => (await Array.fromAsync(blobs.list())).length;
    await expect.poll(count).toBe(1);
    await holder.kill();
    expect((await fetch(`${other.s3}/${Bucket}/half`)).status).toBe(403);
    const { url, password } = deployment.database;
    const records = await openRecordStore({ kind: 'postgres', url, password }, { log });
    expect(await removeOrphanBlobs({ records, blobs, now: Date.now(), grace: 0 })).toEqual({ removed: 1 });
    expect(await count()).toBe(0);
    await records.close();
  });

  it('the other takes the work over when the holder died', async () => {
    await other.untilLogged('this server does the background work');
    await expect.poll(() => metric(other, 'coffer_background_work')).toBe(1);
    await expect.poll(() => metric(other, 'coffer_cluster_servers'), { timeout: 60_000 }).toBe(1);
  });

  it('a holder that was paused finds another in its place when it wakes up', async () => {
    const third = await deployment.start(env);
    process.kill(other.pid, 'SIGSTOP');
    await third.untilLogged('this server does the background work');
    process.kill(other.pid, 'SIGCONT');
    await other.untilLogged('another server may do the background work now');
    // While the disk is busy a renewal can come too late: then nobody holds the lease for a moment, and either may have it next.
    const holders = async () => {
      const held = await Promise.all([other, third].map((server) => metric(server, 'coffer_background_work')));
      return [other, third].filter((_, index) => held[index] === 1);
    };
    await expect.poll(async () => (await holders()).length, { timeout: 90_000 }).toBe(1);
    const [first] = await holders();
    [holder, other] = first === other ? [third, other] : [other, third];
  });

  it('one that is stopped is known to the others until its last request has ended', async () => {
    const leaving = await deployment.start(env);
    const upload = await beginUpload(leaving, '/bucket/leaving', 10_000_000);
    await expect.poll(knownServers, { timeout: 180_000 }).toBe(3);
    const ended = leaving.stop();
    await expect.poll(knownServers, { timeout: 180_000 }).toBe(2);
    await expect.poll(() => upload.closed, { timeout: 3_000 }).toBe(true);
    expect(await ended).toBe(0);
  });

  it('the other takes the work over at once when the holder was stopped', async () => {
    expect(await other.stop()).toBe(0);
    const began = performance.now();
    await expect.poll(() => metric(holder, 'coffer_background_work'), { timeout: 90_000 }).toBe(1);
    // It looks every 3 s. A lease that was not given up is valid for 12 s at least.
    expect(performance.now() - began).toBeLessThan(11_000);
  });
});

/** Sends half of a body. Returns the connection, which stays open. */
async function beginUpload(server: RunningServer, path: string, size: number): Promise<Socket> {
  const { hostname, port } = new URL(server.s3);
  const headers = { 'content-length': String(size) };
  const { head } = signByHand(server, { method: 'PUT', path, headers, payload: 'UNSIGNED-PAYLOAD' });
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(head);
  await new Promise<void>((resolve) => {
    socket.write(Buffer.alloc(size / 2, 1), () => resolve());
  });
  return socket;
}
