import { DeleteObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminCall } from '../support/server/admin-call.ts';
import { runCoffer } from '../support/server/run-coffer.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import { type RunningServer, type ServerAccess, startServer, untilReady } from '../support/server/start-server.ts';
import { replicate, sideOf, versionedBucket } from './replicated-buckets.ts';

const Bucket = 'waiting';
let folder: string;
let left: ServerAccess;
let right: RunningServer;
let here: S3Client;
let arn: string;
let kept: string;
let removed: string;

/** The other server is away from here on. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-backlog-'));
  [left, right] = await Promise.all([sharedServer('left'), startServer()]);
  await untilReady(right);
  here = s3Client(left);
  await Promise.all([versionedBucket(here, Bucket), versionedBucket(s3Client(right), Bucket)]);
  await versionedBucket(here, 'alone');
  arn = await replicate(sideOf(left), Bucket, sideOf(right));
  const put = async (Key: string) =>
    (await here.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }))).VersionId ?? '';
  await put('sent');
  removed = await put('removed');
  const status = async (Key: string) => (await here.send(new HeadObjectCommand({ Bucket, Key }))).ReplicationStatus;
  for (const Key of ['sent', 'removed']) while ((await status(Key)) !== 'COMPLETED') await sleep(100);
  await right.stop();
  kept = await put('in/kept');
  await here.send(new DeleteObjectCommand({ Bucket, Key: 'in/hidden' }));
  await here.send(new DeleteObjectCommand({ Bucket, Key: 'removed', VersionId: removed }));
}, 270_000);
afterAll(async () => {
  await right?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function lines(method: 'GET' | 'POST', call: string): Promise<readonly Record<string, unknown>[]> {
  const { status, value } = await adminCall(left.s3, left, method, call);
  expect(status, JSON.stringify(value)).toBe(200);
  return value as Record<string, unknown>[];
}

describe('the backlog of a bucket whose target is away', { timeout: 180_000 }, () => {
  it('has the versions, the delete markers and the removals that wait', async () => {
    const found = await lines('POST', `replication/diff?bucket=${Bucket}`);
    expect(found).toEqual([
      expect.objectContaining({ object: 'in/hidden', deletemarker: true, rStatus: 'PENDING' }),
      expect.objectContaining({
        object: 'in/kept',
        versionId: kept,
        deletemarker: false,
        rStatus: 'PENDING',
        targets: { [arn]: { rStatus: 'PENDING' } },
      }),
      expect.objectContaining({
        object: 'removed',
        versionId: removed,
        targets: { [arn]: { drStatus: expect.stringMatching(/PENDING|FAILED/) as string } },
      }),
    ]);
    expect(Date.parse(String(found[0]?.['lastModified']))).toBeGreaterThan(0);
  });

  it('is listed below a prefix, and with what is replicated already', async () => {
    const below = await lines('POST', `replication/diff?bucket=${Bucket}&prefix=in/k`);
    expect(below.map(({ object }) => object)).toEqual(['in/kept']);
    const all = await lines('POST', `replication/diff?bucket=${Bucket}&verbose=true&arn=${encodeURIComponent(arn)}`);
    expect(all).toContainEqual(
      expect.objectContaining({ object: 'sent', rStatus: 'COMPLETED', targets: { [arn]: { rStatus: 'COMPLETED' } } }),
    );
  });

  it('has nothing that failed but what the queue of the target holds', async () => {
    const failed = await lines('GET', `replication/mrf?bucket=${Bucket}&node=all`);
    for (const one of failed) expect(one).toMatchObject({ bucket: Bucket, retryCount: 0 });
  });

  it('is printed by the client', async () => {
    const at = ['--config-dir', folder];
    await runCoffer([...at, 'alias', 'set', 'here', left.s3, left.accessKey, left.secretKey]);
    const { code, stdout } = await runCoffer([...at, '--json', 'replicate', 'backlog', '--full', `here/${Bucket}`]);
    expect(code).toBe(0);
    expect(stdout.toString()).toContain('"in/kept"');
  });

  it.each([
    ['a bucket that is not replicated', 'replication/diff?bucket=alone', 404, 'ReplicationConfigurationNotFoundError'],
    ['no bucket', 'replication/diff?bucket=not-there', 404, 'NoSuchBucket'],
    ['an unknown target', `replication/diff?bucket=${Bucket}&arn=arn`, 400, 'InvalidRequest'],
  ])('of %s is refused', async (_, call, status, Code) => {
    const answer = await adminCall(left.s3, left, 'POST', call);
    expect({ status: answer.status, value: answer.value }).toMatchObject({ status, value: { Code } });
  });
});
