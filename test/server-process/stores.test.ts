import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeOlder } from '../support/maintenance/filled-layer.ts';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import { inFullForm } from '../support/full-form.ts';
import { freePort } from '../support/process/free-port.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer, type StartOptions } from '../support/server/start-server.ts';

const Bucket = 'bucket';
let base: string;
let running: Set<RunningServer>;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'coffer-stores-'));
  await Promise.all(['blobs', 'other-blobs'].map((name) => mkdir(join(base, name))));
  running = new Set();
});
afterEach(async () => {
  await Promise.all([...running].map((server) => server.kill()));
  await rm(base, { recursive: true, force: true });
});

const folder = (name: string) => join(base, name);

async function started(env: Readonly<Record<string, string>>, more: StartOptions = {}): Promise<RunningServer> {
  const server = await startServer({ folder: folder('data'), env: { SVC_THREADS: '1', ...env }, ...more });
  running.add(server);
  return server;
}

/** What the server said when it ended. */
async function lastWords(env: Readonly<Record<string, string>>, more: StartOptions = {}): Promise<string> {
  try {
    const server = await started(env, more);
    await server.untilLogged('"level":"fatal"');
    return server.log.join('\n');
  } catch (error) {
    return String(error);
  }
}

async function keepsObjects(server: RunningServer): Promise<void> {
  // The pauses between attempts have grown while it waited.
  await untilReady(server, 60_000);
  const client = s3Client(server);
  await client.send(new CreateBucketCommand({ Bucket }));
  const Body = 'x'.repeat(1_000_000);
  await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body }));
  const got = await client.send(new GetObjectCommand({ Bucket, Key: 'large' }));
  expect((await got.Body?.transformToString()) === Body).toBe(true);
}

describe('a server keeps', { timeout: 360_000 }, () => {
  it('records and blobs where it is told, each elsewhere, and needs them both', async () => {
    const env = { SVC_STORE_RECORDS: `lmdb:${folder('fast')}`, SVC_STORE_BLOBS: folder('blobs') };
    const server = await started(env);
    await keepsObjects(server);
    expect(await lastWords(env)).toContain(`the data folder ${folder('fast')} is in use by another server`);
    await server.stop();
    const without = { SVC_STORE_RECORDS: env.SVC_STORE_RECORDS };
    const other = await started({ ...without, SVC_STORE_BLOBS: folder('other-blobs') });
    const line = await other.untilLogged('waiting for the stores');
    expect(line).toContain(`the blobs of this deployment are not at ${folder('other-blobs')}`);
    expect((await fetch(`${other.s3}/minio/health/ready`)).status).toBe(503);
  });

  it('blobs in another S3, and waits for it', async () => {
    const port = await freePort();
    const env = {
      SVC_STORE_BLOBS: 's3://blobs/coffer',
      SVC_STORE_BLOBS_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      SVC_STORE_BLOBS_S3_ACCESS_KEY: 'root',
      SVC_STORE_BLOBS_S3_SECRET_KEY: 'root-password',
    };
    const server = await started(env);
    await server.untilLogged('waiting for the stores');
    expect((await fetch(`${server.s3}/minio/health/live`)).status).toBe(200);
    const s3 = await started({}, { folder: folder('s3'), args: ['--address', `127.0.0.1:${port}`] });
    await untilReady(s3);
    await s3Client(s3).send(new CreateBucketCommand({ Bucket: 'blobs' }));
    await keepsObjects(server);
    const marker = await s3Client(s3).send(
      new GetObjectCommand({ Bucket: 'blobs', Key: 'coffer/coffer-deployment.json' }),
    );
    const format = JSON.parse(await readFile(join(folder('data'), 'format.json'), 'utf8')) as { deploymentId: string };
    expect(JSON.parse((await marker.Body?.transformToString()) ?? '')).toEqual({ deploymentId: format.deploymentId });
  });
});

describe('a server refuses', { timeout: 360_000 }, () => {
  it('the blobs of another deployment', async () => {
    const env = { SVC_STORE_BLOBS: folder('blobs') };
    const first = await started(env);
    await untilReady(first);
    await first.stop();
    const words = await lastWords(env, { folder: folder('second') });
    expect(words).toMatch(
      /the record file .* is missing, and the bodies in .* belong to a deployment.* A new server needs/,
    );
  });

  it('an address that is none, without its password', async () => {
    const words = await lastWords({ SVC_STORE_RECORDS: 'postgres://coffer:hunter2@db:port/coffer' });
    expect(words).toContain('SVC_STORE_RECORDS is not the address of a database');
    expect(words).not.toContain('hunter2');
  });
});

/** Bytes that a process has read from files and sockets. @see proc_pid_io(5) */
async function bytesRead(pid: number): Promise<number> {
  return Number(/^rchar: (\d+)$/m.exec(await readFile(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

describe('threads of a server', { timeout: 360_000 }, () => {
  it('read a body without block sums once for all its first readers', async () => {
    const size = inFullForm(64, 32) * 1024 * 1024;
    const first = await started({});
    await untilReady(first);
    await s3Client(first).send(new CreateBucketCommand({ Bucket }));
    await s3Client(first).send(new PutObjectCommand({ Bucket, Key: 'old', Body: Buffer.alloc(size, 'old') }));
    await first.stop();
    const data = await openDataFolder(folder('data'));
    const records = openLmdbRecordStore({ folder: data.recordsFolder });
    await makeOlder({ records, blobs: openFilesBlobStore(data.blobsFolder) }, 'old');
    await records.close();
    await data.close();

    const server = await started({ SVC_THREADS: String(inFullForm(4, 2)) });
    await untilReady(server);
    const before = await bytesRead(server.pid);
    // Each has a connection of its own, which the kernel gives to one of the threads.
    const readers = Array.from({ length: 32 }, async (_, at) => {
      const Range = `bytes=${3 * at}-${3 * at + 2}`;
      const got = await s3Client(server).send(new GetObjectCommand({ Bucket, Key: 'old', Range }));
      return got.Body?.transformToString();
    });
    expect(new Set(await Promise.all(readers))).toEqual(new Set(['old']));
    expect((await bytesRead(server.pid)) - before).toBeLessThan(1.5 * size);
  });
});
