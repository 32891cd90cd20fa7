import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AwsDouble, awsRegion, startAwsDouble } from '../support/replication/aws-double.ts';
import { adminCall } from '../support/server/admin-call.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { everythingTo, type Side, targetOf, versionedBucket } from './replicated-buckets.ts';

let server: RunningServer;
let here: S3Client;
let aws: AwsDouble;
let Bucket: string;
let arn: string;
let count = 0;
const wait = { timeout: 90_000, interval: 100 };

beforeAll(async () => {
  server = await startServer({ env: { SVC_KMS_SECRET_KEY: `some-key:${Buffer.alloc(32, 7).toString('base64')}` } });
  await untilReady(server);
  here = s3Client(server);
}, 180_000);
afterAll(() => server?.stop());

const doubles: AwsDouble[] = [];
afterAll(() => Promise.all(doubles.map((one) => one.close())));

async function begin(objectLock = false): Promise<void> {
  count += 1;
  Bucket = `plain-${count}`;
  aws = await startAwsDouble({ objectLock });
  doubles.push(aws);
  await versionedBucket(here, Bucket, objectLock);
  await addTarget();
}

/** Adds the target with a rule for everything that it can do. */
async function addTarget(): Promise<void> {
  const target = targetOf(awsSide(), 'copies');
  const reply = await adminCall(server.s3, server, 'PUT', `set-remote-target?bucket=${Bucket}`, target);
  expect(reply.status).toBe(200);
  arn = reply.value as string;
  expect(await putRules(withoutRemovals(everythingTo(arn)))).toMatchObject({ status: 200 });
}

function awsSide(): Side {
  return { s3: aws.endpoint, accessKey: 'key', secretKey: 'secret' };
}

function putRules(document: string) {
  return adminCall(server.s3, server, 'PUT', `/${Bucket}?replication=`, Buffer.from(document));
}

function withoutRemovals(document: string): string {
  return document.replace(/<DeleteReplication>.*<\/DeleteReplication>/, '');
}

async function status(Key: string, VersionId?: string): Promise<string | undefined> {
  return (await here.send(new HeadObjectCommand({ Bucket, Key, VersionId }))).ReplicationStatus;
}

async function put(Key: string, Body: string, more: object = {}): Promise<string | undefined> {
  return (await here.send(new PutObjectCommand({ Bucket, Key, Body, ...more }))).VersionId;
}

/** The versions of a key at the other side, the oldest first. */
function copiesOf(key: string): readonly string[] {
  return aws.bucket
    .versions(key)
    .toReversed()
    .map(({ deleteMarker, body }) => (deleteMarker ? 'marker' : body.toString('latin1').slice(0, 20)));
}

async function waitingCount(): Promise<number> {
  const { value } = await adminCall(server.s3, server, 'GET', `/${Bucket}?replication-metrics=`);
  return (value as { readonly pendingReplicationCount: number }).pendingReplicationCount;
}

async function resync(): Promise<void> {
  const path = `/${Bucket}?replication-reset=&arn=${encodeURIComponent(arn)}`;
  expect((await adminCall(server.s3, server, 'PUT', path)).status).toBe(200);
  const state = async () => {
    const { value } = await adminCall(server.s3, server, 'GET', `/${Bucket}?replication-reset-status=`);
    return (value as { readonly target: readonly { readonly resyncStatus: string }[] }).target[0]?.resyncStatus;
  };
  await expect.poll(state, wait).toMatch(/^(?:Completed|Failed)$/);
}

describe('replication to an S3 that is neither Coffer nor MinIO', { timeout: 270_000 }, () => {
  beforeEach(() => begin());

  it('writes versions and delete markers in their order, as that server takes them', async () => {
    for (const body of ['one', 'two', 'three']) await put('a b/ä', body);
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'a b/ä' }));
    const last = await put('a b/ä', 'four');
    await expect.poll(() => status('a b/ä'), wait).toBe('COMPLETED');
    expect(copiesOf('a b/ä')).toEqual(['one', 'two', 'three', 'marker', 'four']);
    const writes = aws.requests.filter((one) => /^(?:PUT|POST|DELETE) /.test(one));
    expect(writes.filter((one) => one.includes('versionId'))).toEqual([]);
    expect(aws.bucket.versions('a b/ä')[0]?.headers['x-amz-meta-coffer-version-id']).toBe(last);
  });

  it('learns the kind of the server and the region of the bucket, and shows both', async () => {
    const path = `list-remote-targets?bucket=${Bucket}&type=replication`;
    const { value } = await adminCall(server.s3, server, 'GET', path);
    expect(value).toMatchObject([{ region: awsRegion, kind: 's3', arn }]);
  });

  it('keeps metadata, tags, encryption and the storage class of the rule', async () => {
    const rules = withoutRemovals(everythingTo(arn)).replace(
      '</Bucket>',
      '</Bucket><StorageClass>STANDARD_IA</StorageClass>',
    );
    expect(await putRules(rules)).toMatchObject({ status: 200 });
    await put('key', 'text', {
      ContentType: 'text/plain',
      CacheControl: 'no-store',
      Metadata: { colour: 'red' },
      Tagging: 'k=v',
      ServerSideEncryption: 'AES256',
    });
    await expect.poll(() => status('key'), wait).toBe('COMPLETED');
    const [copy] = aws.bucket.versions('key');
    expect(copy?.tags).toBe('k=v');
    expect(copy?.headers).toMatchObject({
      'content-type': 'text/plain',
      'cache-control': 'no-store',
      'x-amz-meta-colour': 'red',
      'x-amz-server-side-encryption': 'AES256',
      'x-amz-storage-class': 'STANDARD_IA',
    });
  });

  it('sends uploads in parts as such', async () => {
    const Key = 'parts';
    const { UploadId } = await here.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const Parts = [];
    for (const [at, size] of [5 * 1024 * 1024, 7].entries()) {
      const part = { Bucket, Key, UploadId, PartNumber: at + 1, Body: Buffer.alloc(size, at + 1) };
      Parts.push({ ETag: (await here.send(new UploadPartCommand(part))).ETag, PartNumber: at + 1 });
    }
    const { ETag } = await here.send(
      new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
    );
    await expect.poll(() => status(Key), wait).toBe('COMPLETED');
    expect(aws.bucket.versions(Key)).toMatchObject([{ parts: 2, etag: ETag?.replaceAll('"', '') }]);
  });

  it('changes the tags of the version that they belong to', async () => {
    const first = await put('key', 'one');
    await put('key', 'two', { Tagging: 'k=kept' });
    await expect.poll(() => status('key'), wait).toBe('COMPLETED');
    const Tagging = { TagSet: [{ Key: 'k', Value: 'new' }] };
    await here.send(new PutObjectTaggingCommand({ Bucket, Key: 'key', VersionId: first, Tagging }));
    await expect.poll(() => aws.bucket.versions('key').map(({ tags }) => tags), wait).toEqual(['k=kept', 'k=new']);
    expect(copiesOf('key')).toEqual(['one', 'two']);
    await expect.poll(() => status('key', first), wait).toBe('COMPLETED');
  });

  it('sends an object whose metadata leaves no space for the id of its version, and finds its copy by what it is', async () => {
    const Metadata = { long: 'x'.repeat(2_040) };
    const first = await put('key', 'one', { Metadata });
    await put('key', 'two', { Metadata });
    await expect.poll(() => status('key'), wait).toBe('COMPLETED');
    expect(copiesOf('key')).toEqual(['one', 'two']);
    expect(aws.bucket.versions('key')[0]?.headers['x-amz-meta-coffer-version-id']).toBeUndefined();
    const Tagging = { TagSet: [{ Key: 'k', Value: 'new' }] };
    await here.send(new PutObjectTaggingCommand({ Bucket, Key: 'key', VersionId: first, Tagging }));
    await expect.poll(() => aws.bucket.versions('key').map(({ tags }) => tags), wait).toEqual(['', 'k=new']);
    await expect.poll(() => status('key', first), wait).toBe('COMPLETED');
    await resync();
    expect(copiesOf('key')).toEqual(['one', 'two']);
  });

  it('fails a change of tags that cannot be told from that of another version, and names it', async () => {
    const Metadata = { long: 'x'.repeat(2_040) };
    const first = await put('key', 'same', { Metadata });
    await put('key', 'same', { Metadata });
    await expect.poll(() => status('key'), wait).toBe('COMPLETED');
    const Tagging = { TagSet: [{ Key: 'k', Value: 'new' }] };
    await here.send(new PutObjectTaggingCommand({ Bucket, Key: 'key', VersionId: first, Tagging }));
    await expect.poll(() => status('key', first), wait).toBe('FAILED');
    expect(await server.untilLogged(`the tags and the lock of version ${first} of key cannot be replicated`)).toContain(
      'replication-impossible',
    );
    expect(copiesOf('key')).toEqual(['same', 'same']);
  });

  it('sends nothing twice by a resync, and what is missing in its order', async () => {
    await put('key', 'one');
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'key' }));
    await put('key', 'two');
    await expect.poll(() => status('key'), wait).toBe('COMPLETED');
    await resync();
    expect(copiesOf('key')).toEqual(['one', 'marker', 'two']);
    await adminCall(server.s3, server, 'DELETE', `/${Bucket}?replication=`);
    const older = await put('between', 'not sent');
    await addTarget();
    await put('between', 'sent');
    await expect.poll(() => status('between'), wait).toBe('COMPLETED');
    await resync();
    expect(copiesOf('between')).toEqual(['sent']);
    expect(await status('between', older)).toBe('FAILED');
  });

  it('waits while the server is away, with a true backlog, and sends each version once', async () => {
    aws.setAway(true);
    await put('key', 'one');
    await put('key', 'two');
    await expect.poll(waitingCount, wait).toBe(2);
    expect(await status('key')).toBe('PENDING');
    aws.setAway(false);
    await expect.poll(() => status('key'), wait).toBe('COMPLETED');
    expect(copiesOf('key')).toEqual(['one', 'two']);
    await expect.poll(waitingCount, wait).toBe(0);
  });

  it('refuses a rule that replicates removals of versions, by name', async () => {
    const reply = await putRules(everythingTo(arn));
    expect(reply.status).toBe(400);
    expect(String(reply.value)).toContain('no Coffer or MinIO');
  });

  it('does not pass on reads', async () => {
    const before = aws.requests.length;
    await expect(here.send(new HeadObjectCommand({ Bucket, Key: 'absent' }))).rejects.toMatchObject({
      name: 'NotFound',
    });
    expect(aws.requests.slice(before).filter((one) => one.includes('absent'))).toEqual([]);
  });
});

describe('replication to such an S3 with object lock', { timeout: 270_000 }, () => {
  beforeEach(() => begin(true));

  it('keeps retentions and legal holds, with a digest of each body', async () => {
    const until = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000);
    const lock = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: until, ObjectLockLegalHoldStatus: 'ON' };
    await put('key', 'text', { ...lock, ServerSideEncryption: 'aws:kms', ChecksumAlgorithm: 'SHA256' });
    await expect.poll(() => status('key'), wait).toBe('COMPLETED');
    expect(aws.bucket.versions('key')).toMatchObject([{ mode: 'GOVERNANCE', until: until.toISOString(), hold: 'ON' }]);
    await here.send(new PutObjectLegalHoldCommand({ Bucket, Key: 'key', LegalHold: { Status: 'OFF' } }));
    const Retention = { Mode: 'GOVERNANCE', RetainUntilDate: new Date(Number(until) - 60_000) } as const;
    await here.send(new PutObjectRetentionCommand({ Bucket, Key: 'key', Retention, BypassGovernanceRetention: true }));
    const [copy] = aws.bucket.versions('key');
    await expect.poll(() => copy?.until, wait).toBe(Retention.RetainUntilDate.toISOString());
    await expect.poll(() => copy?.hold, wait).toBe('OFF');
  });
});
