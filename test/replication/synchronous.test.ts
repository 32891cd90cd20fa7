import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AwsDouble, startAwsDouble } from '../support/replication/aws-double.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import type { ServerAccess } from '../support/server/start-server.ts';
import { everythingTo, type Side, sideOf, targetOf, versionedBucket } from './replicated-buckets.ts';

let server: ServerAccess;
let other: ServerAccess;
let aws: AwsDouble;
let here: S3Client;
let there: S3Client;
const wait = { timeout: 90_000, interval: 100 };

beforeAll(async () => {
  [server, other, aws] = await Promise.all([sharedServer('left'), sharedServer('right'), startAwsDouble()]);
  here = s3Client(server);
  there = s3Client(other);
}, 180_000);
afterAll(() => aws?.close());

async function replicate(Bucket: string, to: Side, replicationSync = true): Promise<string> {
  await versionedBucket(here, Bucket);
  const target = { ...targetOf(to, Bucket), replicationSync };
  const { value } = await adminCall(server.s3, server, 'PUT', `set-remote-target?bucket=${Bucket}`, target);
  const rules = everythingTo(value as string).replace(/<DeleteReplication>.*<\/DeleteReplication>/, '');
  const reply = await adminCall(server.s3, server, 'PUT', `/${Bucket}?replication=`, Buffer.from(rules));
  expect(reply.status).toBe(200);
  return value as string;
}

async function status(Bucket: string, Key: string): Promise<string | undefined> {
  return (await here.send(new HeadObjectCommand({ Bucket, Key }))).ReplicationStatus;
}

const toDouble = (): Side => ({ s3: aws.endpoint, accessKey: 'key', secretKey: 'secret' });

describe('synchronous replication', { timeout: 270_000 }, () => {
  it('answers a write when the target has the version', async () => {
    const Bucket = 'synchronous';
    await versionedBucket(there, Bucket);
    await replicate(Bucket, sideOf(other));
    await here.send(new PutObjectCommand({ Bucket, Key: 'put', Body: 'text' }));
    expect(await status(Bucket, 'put')).toBe('COMPLETED');
    const copy = await there.send(new GetObjectCommand({ Bucket, Key: 'put' }));
    expect(await copy.Body?.transformToString()).toBe('text');
    await here.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/put` }));
    expect(await status(Bucket, 'copy')).toBe('COMPLETED');
    const Key = 'parts';
    const { UploadId } = await here.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const part = { Bucket, Key, UploadId, PartNumber: 1, Body: 'part' };
    const Parts = [{ ETag: (await here.send(new UploadPartCommand(part))).ETag, PartNumber: 1 }];
    await here.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
    expect(await status(Bucket, Key)).toBe('COMPLETED');
  });

  it('does not fail a write that the target refuses', async () => {
    const Bucket = 'refusing';
    await replicate(Bucket, toDouble());
    aws.refuseWrites(true);
    await here.send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'text' }));
    expect(await status(Bucket, 'key')).toBe('FAILED');
    aws.refuseWrites(false);
  });

  it('leaves the version to the queue while the target is away, and says so', async () => {
    const Bucket = 'target-away';
    await replicate(Bucket, toDouble());
    aws.setAway(true);
    for (const Key of ['one', 'two', 'three']) await here.send(new PutObjectCommand({ Bucket, Key, Body: 'text' }));
    expect(await status(Bucket, 'three')).toBe('PENDING');
    aws.setAway(false);
    for (const Key of ['one', 'two', 'three']) await expect.poll(() => status(Bucket, Key), wait).toBe('COMPLETED');
  });

  it('is turned on and off for a target, which shows it', async () => {
    const Bucket = 'turned';
    await versionedBucket(there, Bucket);
    const arn = await replicate(Bucket, sideOf(other), false);
    const shown = async () => {
      const path = `list-remote-targets?bucket=${Bucket}&type=replication`;
      return (await adminCall(server.s3, server, 'GET', path)).value;
    };
    expect(await shown()).toMatchObject([{ replicationSync: false }]);
    for (const replicationSync of [true, false]) {
      const target = { ...targetOf(sideOf(other), Bucket), arn, replicationSync };
      const path = `set-remote-target?bucket=${Bucket}&update=true&sync=true`;
      expect((await adminCall(server.s3, server, 'PUT', path, target)).status).toBe(200);
      expect(await shown()).toMatchObject([{ replicationSync }]);
    }
  });
});
