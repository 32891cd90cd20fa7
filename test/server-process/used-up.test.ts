import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientOf } from '../crash/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';

const Bucket = 'bucket';
const large = randomBytes(5 * 1024 * 1024);
const UNLIMITED = 4096;

let server: RunningServer;
let s3: S3Client;

beforeAll(async () => {
  server = await startServer();
  await untilReady(server);
  s3 = clientOf(server);
  await s3.send(new CreateBucketCommand({ Bucket }));
});
afterAll(() => server.stop());

const limitFiles = (count: number) =>
  execFileSync('prlimit', ['--pid', String(server.pid), `--nofile=${count}:${UNLIMITED}`]);
const openFiles = () => readdirSync(`/proc/${server.pid}/fd`).length;

interface SendError {
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/**
 * Returns the status, or `not accepted`. Where no descriptor is left for a new connection, libuv accepts and closes it, so that the client sees
 * a reset before the server has seen the request. A refusal is in the log, so that the loss of its answer is told from that.
 */
async function put(Key: string): Promise<number | 'not accepted'> {
  try {
    return (await s3.send(new PutObjectCommand({ Bucket, Key, Body: large }))).$metadata.httpStatusCode ?? 0;
  } catch (error) {
    const { code, $metadata } = error as SendError;
    if ($metadata?.httpStatusCode !== undefined) return $metadata.httpStatusCode;
    if (code !== 'ECONNRESET' && code !== 'EPIPE') throw error;
    expect(server.log.filter((line) => line.includes(Key))).toEqual([]);
    return 'not accepted';
  }
}

describe('a server whose descriptors are used up', { timeout: 180_000 }, () => {
  it('answers the first large bodies with 200 or 503 if it can accept them, does not end, and hashes in a thread later', async () => {
    const stored: string[] = [];
    for (let spare = 0; spare < 12; spare += 1) {
      limitFiles(openFiles() + spare);
      const status = await put(`large-${spare}`);
      expect([200, 503, 'not accepted']).toContain(status);
      if (status === 200) stored.push(`large-${spare}`);
      expect(server.ended()).toBeUndefined();
    }
    limitFiles(UNLIMITED);
    await expect.poll(() => put('after'), { timeout: 90_000 }).toBe(200);
    for (const Key of [...stored, 'after']) {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(large)).toBe(true);
    }
    expect(server.ended()).toBeUndefined();
    expect(server.log.join('\n')).not.toContain('Is its volume mounted?');
  });
});

describe('a server that gets SIGUSR1', () => {
  it('opens no debugger, and goes on', async () => {
    process.kill(server.pid, 'SIGUSR1');
    await server.untilLogged('SIGUSR1 is ignored');
    expect((await fetch(`${server.s3}/minio/health/live`)).status).toBe(200);
    expect(server.log.join('\n')).not.toContain('Debugger listening');
  });
});
