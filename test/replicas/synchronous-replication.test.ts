import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { everythingTo, targetOf, versionedBucket } from '../replication/replicated-buckets.ts';
import { type AwsDouble, startAwsDouble } from '../support/replication/aws-double.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { s3Client } from '../support/server/s3-client.ts';
import type { RunningServer } from '../support/server/start-server.ts';
import { type Deployment, newDeployment } from './deployment.ts';

let deployment: Deployment;
let servers: readonly RunningServer[];
let aws: AwsDouble;

beforeAll(async () => {
  [deployment, aws] = await Promise.all([newDeployment(), startAwsDouble()]);
  servers = await Promise.all([deployment.start(), deployment.start()]);
}, 540_000);
afterAll(() => Promise.all([deployment?.remove(), aws?.close()]));

it('lets answers wait on every server, also on the one that does not deliver', { timeout: 270_000 }, async () => {
  const Bucket = 'synchronous';
  const [one] = servers as [RunningServer];
  await versionedBucket(s3Client(one), Bucket);
  const side = { s3: aws.endpoint, accessKey: 'key', secretKey: 'secret' };
  const target = { ...targetOf(side, 'copies'), replicationSync: true };
  const { value } = await adminCall(one.s3, one, 'PUT', `set-remote-target?bucket=${Bucket}`, target);
  const rules = everythingTo(value as string).replace(/<DeleteReplication>.*<\/DeleteReplication>/, '');
  const reply = await adminCall(one.s3, one, 'PUT', `/${Bucket}?replication=`, Buffer.from(rules));
  expect(reply.status).toBe(200);
  for (const [at, server] of servers.entries()) {
    const client = s3Client(server);
    const object = { Bucket, Key: `by server ${at}` };
    await client.send(new PutObjectCommand({ ...object, Body: 'text' }));
    expect((await client.send(new HeadObjectCommand(object))).ReplicationStatus).toBe('COMPLETED');
    expect(aws.bucket.versions(object.Key)).toHaveLength(1);
  }
});
