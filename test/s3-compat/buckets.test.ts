import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteBucketEncryptionCommand,
  GetBucketAclCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketLocationCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketPolicyCommand,
  GetBucketReplicationCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetObjectLockConfigurationCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  PutBucketAnalyticsConfigurationCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';

let server: RunningServer;
let s3: S3Client;
beforeAll(async () => {
  server = await startServer();
  await untilReady(server);
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket: 'first' }));
});
afterAll(() => server.stop());

describe('buckets', () => {
  it('are made, found, listed and deleted', async () => {
    await s3.send(new CreateBucketCommand({ Bucket: 'short-lived' }));
    await s3.send(new HeadBucketCommand({ Bucket: 'short-lived' }));
    const names = async () => (await s3.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name);
    expect(await names()).toEqual(['first', 'short-lived']);
    await s3.send(new DeleteBucketCommand({ Bucket: 'short-lived' }));
    expect(await names()).toEqual(['first']);
  });

  it('take any location where the store has no region', async () => {
    const create = (Bucket: string, LocationConstraint: string) =>
      s3.send(
        new CreateBucketCommand({
          Bucket,
          CreateBucketConfiguration: { LocationConstraint: LocationConstraint as 'EU' },
        }),
      );
    await create('located', 'us-east-1');
    expect((await s3.send(new GetBucketLocationCommand({ Bucket: 'located' }))).LocationConstraint).toBeUndefined();
    await create('elsewhere', 'eu-central-1');
    expect((await s3.send(new GetBucketLocationCommand({ Bucket: 'elsewhere' }))).LocationConstraint).toBe(
      'eu-central-1',
    );
    for (const Bucket of ['located', 'elsewhere']) await s3.send(new DeleteBucketCommand({ Bucket }));
  });

  it.each([
    ['one that exists', 'first', 'BucketAlreadyOwnedByYou', 409],
    ['upper case', 'Upper-Case', 'InvalidBucketName', 400],
    ['two characters', 'ab', 'InvalidBucketName', 400],
    ['an IP address', '192.168.5.4', 'InvalidBucketName', 400],
    ['a reserved name', 'minio', 'InvalidBucketName', 400],
  ])('refuse %s', async (_what, Bucket, code, status) => {
    expect(await refusal(s3.send(new CreateBucketCommand({ Bucket })))).toEqual({ code, status });
  });

  it('that are not empty stay', async () => {
    await s3.send(new PutObjectCommand({ Bucket: 'first', Key: 'a', Body: 'a' }));
    expect((await refusal(s3.send(new DeleteBucketCommand({ Bucket: 'first' })))).code).toBe('BucketNotEmpty');
  });

  it('that do not exist are told so', async () => {
    const Bucket = 'no-such-bucket';
    expect((await refusal(s3.send(new HeadBucketCommand({ Bucket })))).status).toBe(404);
    expect((await refusal(s3.send(new GetBucketLocationCommand({ Bucket })))).code).toBe('NoSuchBucket');
    expect((await refusal(s3.send(new PutObjectCommand({ Bucket, Key: 'k', Body: 'x' })))).code).toBe('NoSuchBucket');
  });

  it('have no default encryption until one is set, and none can be without a key service', async () => {
    const Bucket = 'first';
    expect((await refusal(s3.send(new GetBucketEncryptionCommand({ Bucket })))).code).toBe(
      'ServerSideEncryptionConfigurationNotFoundError',
    );
    await s3.send(new DeleteBucketEncryptionCommand({ Bucket }));
  });
});

describe('what a bucket does not have', () => {
  it.each([
    ['policy', GetBucketPolicyCommand, 'NoSuchBucketPolicy'],
    ['tags', GetBucketTaggingCommand, 'NoSuchTagSet'],
    ['lifecycle', GetBucketLifecycleConfigurationCommand, 'NoSuchLifecycleConfiguration'],
    ['replication', GetBucketReplicationCommand, 'ReplicationConfigurationNotFoundError'],
    ['object lock', GetObjectLockConfigurationCommand, 'ObjectLockConfigurationNotFoundError'],
  ])('%s is told by its own code', async (_what, command, code) => {
    // The commands share their input, which the type of a union of classes does not tell.
    const Command = command as typeof GetBucketPolicyCommand;
    expect(await refusal(s3.send(new Command({ Bucket: 'first' })))).toEqual({ code, status: 404 });
  });

  it('versioning and notifications are empty', async () => {
    expect((await s3.send(new GetBucketVersioningCommand({ Bucket: 'first' }))).Status).toBeUndefined();
    const notifications = await s3.send(new GetBucketNotificationConfigurationCommand({ Bucket: 'first' }));
    expect(notifications.TopicConfigurations).toBeUndefined();
  });

  it('the ACL gives the owner everything', async () => {
    const acl = await s3.send(new GetBucketAclCommand({ Bucket: 'first' }));
    expect(acl.Grants?.map(({ Permission }) => Permission)).toEqual(['FULL_CONTROL']);
    expect(acl.Grants?.[0]?.Grantee?.ID).toBe(acl.Owner?.ID);
  });

  it('cannot be set', async () => {
    const command = new PutBucketAnalyticsConfigurationCommand({
      Bucket: 'first',
      Id: 'all',
      AnalyticsConfiguration: { Id: 'all', StorageClassAnalysis: {} },
    });
    expect(await refusal(s3.send(command))).toEqual({ code: 'NotImplemented', status: 501 });
  });
});
