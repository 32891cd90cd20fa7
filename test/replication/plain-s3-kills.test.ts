import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AwsDouble, startAwsDouble } from '../support/replication/aws-double.ts';
import { fullForm } from '../support/full-form.ts';
import { freePort } from '../support/process/free-port.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { everythingTo, targetOf, versionedBucket } from './replicated-buckets.ts';

const Bucket = 'killed';
const keys = ['a', 'b', 'c', 'd'] as const;
const perKey = 12;
let folder: string;
let server: RunningServer;
let aws: AwsDouble;
let start: () => Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-plain-s3-'));
  const port = await freePort();
  aws = await startAwsDouble();
  start = async () => {
    server = await startServer({ folder, args: ['--address', `127.0.0.1:${port}`] });
    await untilReady(server, 60_000);
  };
  await start();
}, 270_000);
afterAll(async () => {
  await Promise.all([server?.stop(), aws?.close()]);
  await rm(folder, { recursive: true, force: true });
});

function copiesOf(key: string): readonly string[] {
  return aws.bucket
    .versions(key)
    .toReversed()
    .map(({ body }) => body.toString());
}

const arrived = () => keys.reduce((sum, key) => sum + copiesOf(key).length, 0);

it(
  'writes each version once and in its order, though the server is killed while it delivers',
  {
    timeout: 540_000,
  },
  async () => {
    await versionedBucket(s3Client(server), Bucket);
    const side = { s3: aws.endpoint, accessKey: 'key', secretKey: 'secret' };
    const { value } = await adminCall(
      server.s3,
      server,
      'PUT',
      `set-remote-target?bucket=${Bucket}`,
      targetOf(side, 'copies'),
    );
    const rules = everythingTo(value as string).replace(/<DeleteReplication>.*<\/DeleteReplication>/, '');
    await adminCall(server.s3, server, 'PUT', `/${Bucket}?replication=`, Buffer.from(rules));
    aws.setAway(true);
    for (let at = 0; at < perKey; at += 1) {
      for (const Key of keys) await s3Client(server).send(new PutObjectCommand({ Bucket, Key, Body: `${at}` }));
    }
    // A new server does not wait for what the earlier one met.
    await server.kill();
    aws.setAway(false);
    await start();
    for (const count of fullForm ? [3, 20, 35] : [20]) {
      await expect.poll(arrived, { timeout: 180_000, interval: 2 }).toBeGreaterThanOrEqual(count);
      await server.kill();
      await start();
    }
    const status = async () => {
      const heads = keys.map((Key) => s3Client(server).send(new HeadObjectCommand({ Bucket, Key })));
      return (await Promise.all(heads)).map(({ ReplicationStatus }) => ReplicationStatus);
    };
    await expect.poll(status, { timeout: 180_000, interval: 200 }).toEqual(keys.map(() => 'COMPLETED'));
    const inOrder = Array.from({ length: perKey }, (_, at) => `${at}`);
    for (const key of keys) expect(copiesOf(key)).toEqual(inOrder);
  },
);
