import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  DeleteObjectTaggingCommand,
  GetObjectLegalHoldCommand,
  GetObjectLockConfigurationCommand,
  GetObjectRetentionCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectLockConfigurationCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, it } from 'vitest';
import { s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import type { ServerAccess } from '../support/server/start-server.ts';

const Bucket = 'locked';
const later = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 86_400_000);
let server: ServerAccess;
let s3: S3Client;
beforeAll(async () => {
  server = await sharedServer();
  s3 = s3Client(server);
  await s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
});

describe('the AWS SDK', () => {
  it('sets, reads, copies and removes tags', async () => {
    const Key = 'tagged';
    const TagSet = [
      { Key: 'größe', Value: 'a b' },
      { Key: 'team', Value: '' },
    ];
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x', Tagging: 'team=red' }));
    expect((await s3.send(new HeadObjectCommand({ Bucket, Key }))).TagCount).toBe(1);
    await s3.send(new PutObjectTaggingCommand({ Bucket, Key, Tagging: { TagSet } }));
    await s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/${Key}` }));
    const copied = await s3.send(new GetObjectTaggingCommand({ Bucket, Key: 'copy' }));
    expect([copied.TagSet, copied.VersionId]).toEqual([TagSet, expect.stringMatching(/^[0-9a-f]{32}$/)]);
    await s3.send(new DeleteObjectTaggingCommand({ Bucket, Key }));
    expect((await s3.send(new GetObjectTaggingCommand({ Bucket, Key }))).TagSet).toEqual([]);
  });

  it('locks a version, and deletes it by a bypass', async () => {
    const Key = 'kept';
    const put = { Bucket, Key, Body: 'x', ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: later } as const;
    const { VersionId } = await s3.send(new PutObjectCommand({ ...put, ObjectLockLegalHoldStatus: 'ON' }));
    expect(await s3.send(new HeadObjectCommand({ Bucket, Key }))).toMatchObject({
      ObjectLockMode: 'GOVERNANCE',
      ObjectLockRetainUntilDate: later,
      ObjectLockLegalHoldStatus: 'ON',
    });
    const version = { Bucket, Key, VersionId };
    expect((await s3.send(new GetObjectLegalHoldCommand(version))).LegalHold).toEqual({ Status: 'ON' });
    await s3.send(new PutObjectLegalHoldCommand({ ...version, LegalHold: { Status: 'OFF' } }));
    const Retention = { Mode: 'GOVERNANCE', RetainUntilDate: new Date(later.getTime() + 1_000) } as const;
    await s3.send(new PutObjectRetentionCommand({ ...version, Retention }));
    expect((await s3.send(new GetObjectRetentionCommand(version))).Retention).toEqual(Retention);
    await expect(s3.send(new DeleteObjectCommand(version))).rejects.toMatchObject({ name: 'AccessDenied' });
    const Delete = { Objects: [{ Key, VersionId }] };
    expect((await s3.send(new DeleteObjectsCommand({ Bucket, Delete }))).Errors?.[0]?.Code).toBe('AccessDenied');
    await s3.send(new DeleteObjectCommand({ ...version, BypassGovernanceRetention: true }));
    await expect(s3.send(new HeadObjectCommand(version))).rejects.toMatchObject({ name: 'NotFound' });
  });

  it('sets the default retention of a bucket', async () => {
    const Rule = { DefaultRetention: { Mode: 'COMPLIANCE', Days: 1 } } as const;
    const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule } as const;
    await s3.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
    const found = await s3.send(new GetObjectLockConfigurationCommand({ Bucket }));
    expect(found.ObjectLockConfiguration).toEqual(ObjectLockConfiguration);
    const { VersionId } = await s3.send(new PutObjectCommand({ Bucket, Key: 'default', Body: 'x' }));
    const removal = { Bucket, Key: 'default', VersionId, BypassGovernanceRetention: true };
    await expect(s3.send(new DeleteObjectCommand(removal))).rejects.toMatchObject({ name: 'AccessDenied' });
  });
});
