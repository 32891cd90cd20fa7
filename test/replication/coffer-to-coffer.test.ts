import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectRetentionCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/process/free-port.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import { type ServerAccess, startServer, untilReady } from '../support/server/start-server.ts';
import { replicate, sideOf, targetOf, versionedBucket, versionsOf } from './replicated-buckets.ts';

let left: ServerAccess;
let right: ServerAccess;
let here: S3Client;
let there: S3Client;
const wait = { timeout: 60_000, interval: 100 };

beforeAll(async () => {
  [left, right] = await Promise.all([sharedServer('left'), sharedServer('right')]);
  here = s3Client(left);
  there = s3Client(right);
}, 180_000);

async function status(client: S3Client, Bucket: string, Key: string): Promise<string | undefined> {
  return (await client.send(new HeadObjectCommand({ Bucket, Key }))).ReplicationStatus;
}

async function untilEqual(Bucket: string): Promise<readonly string[]> {
  await expect.poll(() => versionsOf(there, Bucket), wait).toEqual(await versionsOf(here, Bucket));
  return versionsOf(there, Bucket);
}

describe('replication to another Coffer', { timeout: 180_000 }, () => {
  it('keeps versions with their ids, times, metadata and tags, and says so on both sides', async () => {
    const Bucket = 'one-way';
    await Promise.all([versionedBucket(here, Bucket), versionedBucket(there, Bucket)]);
    await replicate(sideOf(left), Bucket, sideOf(right));
    const Key = 'a b/ä';
    const described = { ContentType: 'text/plain', Metadata: { colour: 'red' }, Tagging: 'k=v&l=w%20x' };
    await here.send(new PutObjectCommand({ Bucket, Key, Body: 'one', ...described }));
    await here.send(new PutObjectCommand({ Bucket, Key, Body: Buffer.alloc(300_000, 1), ...described }));
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }));
    expect(await untilEqual(Bucket)).toHaveLength(3);
    await expect.poll(() => status(here, Bucket, Key), wait).toBe('COMPLETED');
    const copy = await there.send(new GetObjectCommand({ Bucket, Key }));
    expect(copy).toMatchObject({
      ContentType: 'text/plain',
      Metadata: { colour: 'red' },
      ReplicationStatus: 'REPLICA',
    });
    expect((await copy.Body?.transformToByteArray())?.length).toBe(300_000);
    const { TagSet } = await there.send(new GetObjectTaggingCommand({ Bucket, Key }));
    expect(TagSet).toEqual([
      { Key: 'k', Value: 'v' },
      { Key: 'l', Value: 'w x' },
    ]);
  });

  it('replicates uploads in parts as such, and objects under a key of the server', async () => {
    const Bucket = 'in-parts';
    await Promise.all([versionedBucket(here, Bucket), versionedBucket(there, Bucket)]);
    await replicate(sideOf(left), Bucket, sideOf(right));
    const Key = 'parts';
    const { UploadId } = await here.send(
      new CreateMultipartUploadCommand({ Bucket, Key, ChecksumAlgorithm: 'SHA256' }),
    );
    const Parts = [];
    for (const [at, size] of [5 * 1024 * 1024, 7].entries()) {
      const part = { Bucket, Key, UploadId, PartNumber: at + 1, Body: Buffer.alloc(size, at + 1) };
      const { ETag, ChecksumSHA256 } = await here.send(new UploadPartCommand({ ...part, ChecksumAlgorithm: 'SHA256' }));
      Parts.push({ ETag, ChecksumSHA256, PartNumber: at + 1 });
    }
    await here.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
    await here.send(new PutObjectCommand({ Bucket, Key: 'sealed', Body: 'text', ServerSideEncryption: 'aws:kms' }));
    await untilEqual(Bucket);
    const [part] = [await there.send(new GetObjectCommand({ Bucket, Key, PartNumber: 2, ChecksumMode: 'ENABLED' }))];
    expect(part).toMatchObject({ PartsCount: 2, ContentLength: 7 });
    const head = { Bucket, Key, ChecksumMode: 'ENABLED' } as const;
    const [ours, theirs] = await Promise.all([here, there].map((client) => client.send(new HeadObjectCommand(head))));
    expect(theirs?.ChecksumSHA256).toBe(ours?.ChecksumSHA256);
    const sealed = await there.send(new GetObjectCommand({ Bucket, Key: 'sealed' }));
    expect(sealed.ServerSideEncryption).toBe('aws:kms');
    expect(await sealed.Body?.transformToString()).toBe('text');
  });

  it('replicates in both directions without a loop, with changes of tags from either side', async () => {
    const Bucket = 'two-way';
    await Promise.all([versionedBucket(here, Bucket), versionedBucket(there, Bucket)]);
    await Promise.all([replicate(sideOf(left), Bucket, sideOf(right)), replicate(sideOf(right), Bucket, sideOf(left))]);
    await here.send(new PutObjectCommand({ Bucket, Key: 'left', Body: 'from the left' }));
    await there.send(new PutObjectCommand({ Bucket, Key: 'right', Body: 'from the right' }));
    await expect.poll(async () => (await versionsOf(here, Bucket)).length, wait).toBe(2);
    await untilEqual(Bucket);
    // A replica is changed where it is, and its source follows.
    const Tagging = { TagSet: [{ Key: 'by', Value: 'replica' }] };
    await there.send(new PutObjectTaggingCommand({ Bucket, Key: 'left', Tagging }));
    const tags = async () => (await here.send(new GetObjectTaggingCommand({ Bucket, Key: 'left' }))).TagSet;
    await expect.poll(tags, wait).toEqual(Tagging.TagSet);
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'right' }));
    await expect.poll(async () => (await versionsOf(there, Bucket)).length, wait).toBe(3);
    expect(await untilEqual(Bucket)).toHaveLength(3);
    expect(await status(there, Bucket, 'left')).toBe('REPLICA');
  });

  it('replicates removals of versions, retentions and legal holds', async () => {
    const Bucket = 'locked';
    await Promise.all([versionedBucket(here, Bucket, true), versionedBucket(there, Bucket, true)]);
    await replicate(sideOf(left), Bucket, sideOf(right));
    const Key = 'key';
    const until = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000);
    const { VersionId } = await here.send(new PutObjectCommand({ Bucket, Key, Body: 'text' }));
    const Retention = { Mode: 'GOVERNANCE', RetainUntilDate: until } as const;
    await here.send(new PutObjectRetentionCommand({ Bucket, Key, Retention }));
    await here.send(new PutObjectLegalHoldCommand({ Bucket, Key, LegalHold: { Status: 'ON' } }));
    const hold = () =>
      there.send(new GetObjectLegalHoldCommand({ Bucket, Key })).then(
        ({ LegalHold }) => LegalHold?.Status,
        () => undefined,
      );
    await expect.poll(hold, wait).toBe('ON');
    expect((await there.send(new GetObjectRetentionCommand({ Bucket, Key }))).Retention).toEqual(Retention);
    await here.send(new PutObjectLegalHoldCommand({ Bucket, Key, LegalHold: { Status: 'OFF' } }));
    await here.send(new DeleteObjectCommand({ Bucket, Key, VersionId, BypassGovernanceRetention: true }));
    await expect.poll(() => versionsOf(there, Bucket), wait).toEqual([]);
  });

  it('keeps a legal hold of one side and tags of the other one, set at once', async () => {
    const Bucket = 'joined';
    const Key = 'key';
    await Promise.all([versionedBucket(here, Bucket, true), versionedBucket(there, Bucket, true)]);
    await Promise.all([replicate(sideOf(left), Bucket, sideOf(right)), replicate(sideOf(right), Bucket, sideOf(left))]);
    await here.send(new PutObjectCommand({ Bucket, Key, Body: 'text' }));
    await expect.poll(() => status(here, Bucket, Key), wait).toBe('COMPLETED');
    const Tagging = { TagSet: [{ Key: 'k', Value: 'v' }] };
    await here.send(new PutObjectLegalHoldCommand({ Bucket, Key, LegalHold: { Status: 'ON' } }));
    await there.send(new PutObjectTaggingCommand({ Bucket, Key, Tagging }));
    const shown = (client: S3Client) => async () => {
      const { ObjectLockLegalHoldStatus, TagCount } = await client.send(new HeadObjectCommand({ Bucket, Key }));
      return { ObjectLockLegalHoldStatus, TagCount };
    };
    for (const client of [here, there]) {
      await expect.poll(shown(client), wait).toEqual({ ObjectLockLegalHoldStatus: 'ON', TagCount: 1 });
    }
    await expect.poll(() => status(here, Bucket, Key), wait).toBe('COMPLETED');
  });

  it('waits for a target that is away, and sends everything when it is back', async () => {
    const Bucket = 'away';
    const port = await freePort();
    const folder = await mkdtemp(join(tmpdir(), 'coffer-replication-'));
    const start = () => startServer({ folder, args: ['--address', `127.0.0.1:${port}`] });
    const other = await start();
    await untilReady(other);
    const client = s3Client(other);
    await Promise.all([versionedBucket(here, Bucket), versionedBucket(client, Bucket)]);
    const arn = await replicate(sideOf(left), Bucket, sideOf(other));
    await other.kill();
    for (let at = 0; at < 20; at += 1) {
      await here.send(new PutObjectCommand({ Bucket, Key: `key-${at % 5}`, Body: `body ${at}` }));
    }
    const targets = async () => {
      const { value } = await adminCall(left.s3, left, 'GET', `list-remote-targets?bucket=${Bucket}&type=replication`);
      return value as readonly Record<string, unknown>[];
    };
    await expect.poll(async () => (await targets())[0]?.['isOnline'], wait).toBe(false);
    expect(JSON.stringify(await targets())).not.toContain(other.secretKey);
    const metrics = async () =>
      (await adminCall(left.s3, left, 'GET', `/${Bucket}?replication-metrics=2`)).value as {
        readonly currStats: { readonly Stats: Record<string, { readonly pendingReplicationCount: number }> };
      };
    await expect.poll(async () => (await metrics()).currStats.Stats[arn]?.pendingReplicationCount, wait).toBe(20);
    await expectCanceled(Bucket, arn);
    const back = await start();
    await untilReady(back);
    await expect.poll(() => versionsOf(s3Client(back), Bucket), wait).toEqual(await versionsOf(here, Bucket));
    const resyncs = async () => (await adminCall(left.s3, left, 'GET', `/${Bucket}?replication-reset-status=`)).value;
    const over = { resyncStatus: 'Canceled', replicationCount: 20, failedReplicationCount: 0 };
    await expect
      .poll(resyncs, wait)
      .toMatchObject({ target: [{ ...over, endTime: expect.not.stringMatching(/^0001/) as string }] });
    // What waits for a target ends with its rule.
    await back.stop();
    await here.send(new PutObjectCommand({ Bucket, Key: 'waits', Body: 'text' }));
    expect(await status(here, Bucket, 'waits')).toBe('PENDING');
    expect((await adminCall(left.s3, left, 'DELETE', `/${Bucket}?replication=`)).status).toBe(200);
    await expect.poll(() => status(here, Bucket, 'waits'), wait).toBeUndefined();
    await rm(folder, { recursive: true, force: true });
  });

  it('sends what was there before by a resync, once', async () => {
    const Bucket = 'existing';
    await Promise.all([versionedBucket(here, Bucket), versionedBucket(there, Bucket)]);
    for (let at = 0; at < 12; at += 1)
      await here.send(new PutObjectCommand({ Bucket, Key: `key-${at % 4}`, Body: `${at}` }));
    const arn = await replicate(sideOf(left), Bucket, sideOf(right));
    const path = `/${Bucket}?replication-reset=&arn=${encodeURIComponent(arn)}`;
    const started = await adminCall(left.s3, left, 'PUT', path);
    expect(started).toMatchObject({ status: 200, value: { target: [{ arn, resetid: expect.any(String) }] } });
    const state = async () => {
      const { value } = await adminCall(left.s3, left, 'GET', `/${Bucket}?replication-reset-status=`);
      return (value as { readonly target: readonly Record<string, unknown>[] }).target[0];
    };
    await expect.poll(state, wait).toMatchObject({ resyncStatus: 'Completed', replicationCount: 12 });
    await untilEqual(Bucket);
  });
});

/** A resync to a target that is away is canceled. What it has queued is sent when the target is back. */
async function expectCanceled(Bucket: string, arn: string): Promise<void> {
  const resync = (call: string, method = 'PUT') =>
    adminCall(left.s3, left, method, `/${Bucket}?replication-reset${call}=&arn=${encodeURIComponent(arn)}`);
  const state = async () =>
    ((await resync('-status', 'GET')).value as { readonly target: readonly Record<string, unknown>[] }).target[0];
  const none = { status: 400, value: expect.stringContaining('InvalidRequest') as string };
  expect(await resync('-cancel')).toEqual(none);
  const { target } = (await resync('')).value as { readonly target: readonly { readonly resetid: string }[] };
  const [{ resetid } = { resetid: '' }] = target;
  await expect.poll(state, wait).toMatchObject({ resyncStatus: 'Ongoing', object: '' });
  const canceled = await resync('-cancel');
  expect([canceled.status, canceled.value]).toEqual([200, resetid]);
  expect(await state()).toMatchObject({ resetid, resyncStatus: 'Canceled', replicationCount: 0 });
  expect(await resync('-cancel')).toEqual(none);
  // It has changes in the queue still.
  expect(await resync('')).toEqual(none);
}

it('a target takes other keys, and no other bucket', { timeout: 180_000 }, async () => {
  const Bucket = 'keys';
  await Promise.all([
    versionedBucket(here, Bucket),
    versionedBucket(there, Bucket),
    versionedBucket(there, 'elsewhere'),
  ]);
  const arn = await replicate(sideOf(left), Bucket, sideOf(right));
  const update = (to: string, keys: { readonly accessKey: string; readonly secretKey: string }) => {
    const target = { ...targetOf({ s3: right.s3, ...keys }, to), arn };
    return adminCall(left.s3, left, 'PUT', `set-remote-target?bucket=${Bucket}&update=true&creds=true`, target);
  };
  expect(await update('elsewhere', right)).toMatchObject({ status: 400, value: { Code: 'InvalidRequest' } });
  // Keys that do not open the bucket are refused at once.
  expect((await update(Bucket, { ...right, secretKey: 'another-secret-key' })).status).not.toBe(200);
  expect(await update(Bucket, right)).toMatchObject({ status: 200, value: arn });
});

describe('what is refused', { timeout: 180_000 }, () => {
  it.each([
    ['a bucket that is not there', 'absent', 404, 'RemoteDestinationNotFoundError'],
    ['a bucket without versions', 'unversioned', 400, 'RemoteTargetNotVersionedError'],
  ])('%s as a target', async (_what, name, status, Code) => {
    const Bucket = `to-${name}`;
    await versionedBucket(here, Bucket);
    if (name === 'unversioned') await there.send(new CreateBucketCommand({ Bucket: name }));
    const target = targetOf(sideOf(right), name);
    const reply = await adminCall(left.s3, left, 'PUT', `set-remote-target?bucket=${Bucket}`, target);
    expect(reply).toMatchObject({ status, value: { Code } });
  });

  it('the removal of a target that a rule names', async () => {
    const Bucket = 'in-use';
    await Promise.all([versionedBucket(here, Bucket), versionedBucket(there, Bucket)]);
    const arn = await replicate(sideOf(left), Bucket, sideOf(right));
    const remove = () =>
      adminCall(left.s3, left, 'DELETE', `remove-remote-target?bucket=${Bucket}&arn=${encodeURIComponent(arn)}`);
    expect(await remove()).toMatchObject({ status: 400, value: { Code: 'XMinioAdminRemoteRemoveDisallowed' } });
    expect((await adminCall(left.s3, left, 'DELETE', `/${Bucket}?replication=`)).status).toBe(200);
    expect(await remove()).toMatchObject({ status: 404 });
  });

  it('a version id that a client chooses', async () => {
    const Bucket = 'chosen';
    await versionedBucket(here, Bucket);
    const put = new PutObjectCommand({ Bucket, Key: 'key', Body: 'x' });
    put.middlewareStack.add(
      (next) => (args) => {
        const request = args.request as { query: Record<string, string> };
        request.query = { ...request.query, versionId: '0'.repeat(32) };
        return next(args);
      },
      { step: 'build' },
    );
    expect(await refusal(here.send(put))).toEqual({ code: 'InvalidArgument', status: 400 });
  });
});
