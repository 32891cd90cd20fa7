import { createHash, randomBytes } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
  RestoreObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import { type RunningServer, type ServerAccess, startServer, untilReady } from '../support/server/start-server.ts';
import { asRoot, classOf, tierOn } from './tiered-servers.ts';

let server: RunningServer;
let other: ServerAccess;
let here: S3Client;
let there: S3Client;
const wait = { timeout: 180_000, interval: 100 };
const encrypting = { SVC_KMS_SECRET_KEY: `some-key:${Buffer.alloc(32, 7).toString('base64')}` };

const atOnce = {
  Rules: [{ ID: 'all', Status: 'Enabled', Filter: {}, Transitions: [{ Days: 0, StorageClass: 'COLD' }] }],
} as const;

async function bucketWithRule(Bucket: string, StorageClass = 'COLD'): Promise<void> {
  const rule = { ...atOnce.Rules[0], Transitions: [{ Days: 0, StorageClass }] };
  await here.send(new CreateBucketCommand({ Bucket }));
  await here.send(
    // The SDK knows the classes of AWS alone.
    new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules: [rule] } as never }),
  );
}

async function untilMoved(Bucket: string, Key: string): Promise<void> {
  await expect.poll(() => classOf(here, Bucket, Key), wait).toBe('COLD');
}

/** The sizes of the bodies in the tier. */
async function inTier(Bucket = 'cold'): Promise<readonly number[]> {
  const { Contents = [] } = await there.send(new ListObjectsV2Command({ Bucket }));
  return Contents.map(({ Size = 0 }) => Size);
}

async function bytesOf(request: { Bucket: string; Key: string; Range?: string }): Promise<Buffer> {
  const { Body } = await here.send(new GetObjectCommand(request));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

async function add(tier: object): Promise<string> {
  return ((await asRoot(server, 'PUT', 'tier', tier)).value as { Code: string }).Code;
}

beforeAll(async () => {
  [server, other] = await Promise.all([startServer({ env: encrypting }), sharedServer('right')]);
  await untilReady(server);
  here = s3Client(server);
  there = s3Client(other);
  await there.send(new CreateBucketCommand({ Bucket: 'cold' }));
  expect(await asRoot(server, 'PUT', 'tier?force=false', tierOn(other, 'cold'))).toMatchObject({ status: 204 });
}, 180_000);
afterAll(async () => {
  await server?.stop();
});

describe('a bucket of another Coffer as a tier', { timeout: 360_000 }, () => {
  it('takes bodies of every kind, which are read from there whole and in ranges', async () => {
    const Bucket = 'kinds';
    await bucketWithRule(Bucket);
    const small = Buffer.from('a small body');
    const large = randomBytes(9 * 1024 * 1024 + 11);
    await here.send(new PutObjectCommand({ Bucket, Key: 'small', Body: small, Metadata: { colour: 'red' } }));
    await here.send(new PutObjectCommand({ Bucket, Key: 'large', Body: large, ChecksumAlgorithm: 'SHA256' }));
    await here.send(new PutObjectCommand({ Bucket, Key: 'sealed', Body: large, ServerSideEncryption: 'aws:kms' }));
    for (const Key of ['small', 'large', 'sealed']) await untilMoved(Bucket, Key);
    expect((await bytesOf({ Bucket, Key: 'small' })).equals(small)).toBe(true);
    expect((await bytesOf({ Bucket, Key: 'large' })).equals(large)).toBe(true);
    expect((await bytesOf({ Bucket, Key: 'sealed' })).equals(large)).toBe(true);
    const Range = 'bytes=8388600-8388700';
    for (const Key of ['large', 'sealed']) {
      expect((await bytesOf({ Bucket, Key, Range })).equals(large.subarray(8_388_600, 8_388_701))).toBe(true);
    }
    const head = await here.send(new HeadObjectCommand({ Bucket, Key: 'large', ChecksumMode: 'ENABLED' }));
    expect(head.ChecksumSHA256).toBe(createHash('sha256').update(large).digest('base64'));
    const { Contents = [] } = await here.send(new ListObjectsV2Command({ Bucket }));
    expect(Contents.map(({ StorageClass }) => StorageClass)).toEqual(['COLD', 'COLD', 'COLD']);
    // Nothing of the plaintext of an encrypted object leaves the server.
    expect((await inTier()).filter((size) => size > large.length)).toHaveLength(1);
  });

  it('gives parts back one by one, and the source of a copy', async () => {
    const Bucket = 'parts';
    await bucketWithRule(Bucket);
    const Key = 'key';
    const { UploadId } = await here.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const Parts = [];
    for (const [at, size] of [5 * 1024 * 1024, 7].entries()) {
      const part = { Bucket, Key, UploadId, PartNumber: at + 1, Body: Buffer.alloc(size, at + 1) };
      const { ETag } = await here.send(new UploadPartCommand(part));
      Parts.push({ ETag, PartNumber: at + 1 });
    }
    await here.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
    await untilMoved(Bucket, Key);
    const second = await here.send(new GetObjectCommand({ Bucket, Key, PartNumber: 2 }));
    expect(second).toMatchObject({ PartsCount: 2, ContentLength: 7 });
    expect(Buffer.from((await second.Body?.transformToByteArray()) ?? [])).toEqual(Buffer.alloc(7, 2));
    await here.send(new CreateBucketCommand({ Bucket: 'elsewhere' }));
    await here.send(new CopyObjectCommand({ Bucket: 'elsewhere', Key, CopySource: `${Bucket}/${Key}` }));
    expect(await classOf(here, 'elsewhere', Key)).toBeUndefined();
    expect((await bytesOf({ Bucket: 'elsewhere', Key })).length).toBe(5 * 1024 * 1024 + 7);
  });

  it('lets a body be restored for some days', async () => {
    const Bucket = 'restored';
    await bucketWithRule(Bucket);
    const Key = 'key';
    await here.send(new PutObjectCommand({ Bucket, Key, Body: randomBytes(300_000) }));
    await untilMoved(Bucket, Key);
    const asked = new RestoreObjectCommand({ Bucket, Key, RestoreRequest: { Days: 2 } });
    expect((await here.send(asked)).$metadata.httpStatusCode).toBe(202);
    const restore = async () => (await here.send(new HeadObjectCommand({ Bucket, Key }))).Restore;
    await expect.poll(restore, wait).toMatch(/^ongoing-request="false", expiry-date="\w{3}, .* 00:00:00 GMT"$/);
    expect((await here.send(asked)).$metadata.httpStatusCode).toBe(200);
    expect(await classOf(here, Bucket, Key)).toBe('COLD');
    await here.send(new CreateBucketCommand({ Bucket: 'here' }));
    await here.send(new PutObjectCommand({ Bucket: 'here', Key, Body: 'text' }));
    const restoring = here.send(new RestoreObjectCommand({ Bucket: 'here', Key, RestoreRequest: { Days: 1 } }));
    expect(await refusal(restoring)).toMatchObject({ code: 'InvalidObjectState' });
  });

  it('is counted, and kept while a rule or a body needs it', async () => {
    const Bucket = 'counted';
    await bucketWithRule(Bucket);
    await here.send(new PutObjectCommand({ Bucket, Key: 'key', Body: randomBytes(1_000) }));
    await untilMoved(Bucket, 'key');
    const { value: tiers } = await asRoot(server, 'GET', 'tier');
    expect(JSON.stringify(tiers)).not.toContain(other.secretKey);
    expect(tiers).toMatchObject([{ Name: 'COLD', Type: 'minio', MinIO: { Bucket: 'cold', SecretKey: 'REDACTED' } }]);
    expect(await asRoot(server, 'GET', 'tier/COLD')).toMatchObject({ status: 204 });
    expect(await asRoot(server, 'DELETE', 'tier/COLD')).toMatchObject({
      status: 409,
      value: { Code: 'XMinioAdminTierBackendInUse' },
    });
    await asRoot(server, 'POST', '/minio/admin/coffer/v1/usage');
    const stats = async () => (await asRoot(server, 'GET', 'tier-stats')).value as readonly { Name: string }[];
    await expect
      .poll(async () => (await stats()).find(({ Name }) => Name === 'COLD'), wait)
      .toMatchObject({ Type: 'minio', Stats: { numObjects: expect.any(Number) as number } });
  });

  it('is refused where it does not work', async () => {
    expect(await add(tierOn(other, 'cold'))).toBe('XMinioAdminTierAlreadyExists');
    expect(await add(tierOn(other, 'cold', 'OTHER'))).toBe('XMinioAdminTierBackendInUse');
    await s3Client(other).send(new CreateBucketCommand({ Bucket: 'used' }));
    await s3Client(other).send(new PutObjectCommand({ Bucket: 'used', Key: 'in/of-others', Body: 'text' }));
    expect(await add(tierOn(other, 'used', 'OTHER', { Prefix: 'in/' }))).toBe('XMinioAdminTierBackendInUse');
    expect(await add(tierOn(other, 'absent', 'OTHER'))).toBe('XMinioAdminTierBucketNotFound');
    expect(await add(tierOn(other, 'cold', 'other'))).toBe('XMinioAdminTierNameNotUpperCase');
    expect(await add(tierOn(other, 'cold', 'STANDARD'))).toBe('XMinioAdminTierReserved');
    const keys = { Prefix: 'b', SecretKey: 'another-secret' };
    expect(await add(tierOn(other, 'cold', 'OTHER', keys))).toBe('XMinioAdminTierInvalidCredentials');
    // Clients would repeat a 503 for minutes.
    const unreachable = tierOn(other, 'cold', 'OTHER', { Endpoint: 'http://127.0.0.1:9' });
    expect(await asRoot(server, 'PUT', 'tier', unreachable)).toMatchObject({
      status: 400,
      value: { Code: 'XMinioBackendDown', Message: expect.stringContaining('ECONNREFUSED') as string },
    });
    const unknown = { Rules: [{ ...atOnce.Rules[0], Transitions: [{ Days: 0, StorageClass: 'GLACIER' }] }] };
    const put = new PutBucketLifecycleConfigurationCommand({
      Bucket: 'kinds',
      LifecycleConfiguration: unknown as never,
    });
    expect(await refusal(here.send(put))).toMatchObject({ code: 'InvalidStorageClass' });
  });

  it('names tier, bucket and key of a body that was removed there', async () => {
    const Bucket = 'lost';
    const Key = 'key';
    await there.send(new CreateBucketCommand({ Bucket: 'lossy' }));
    expect(await asRoot(server, 'PUT', 'tier?force=false', tierOn(other, 'lossy', 'LOSSY'))).toMatchObject({
      status: 204,
    });
    await bucketWithRule(Bucket, 'LOSSY');
    await here.send(new PutObjectCommand({ Bucket, Key, Body: randomBytes(1_000) }));
    await expect.poll(() => classOf(here, Bucket, Key), wait).toBe('LOSSY');
    const { Contents: [body] = [] } = await there.send(new ListObjectsV2Command({ Bucket: 'lossy' }));
    await there.send(new DeleteObjectCommand({ Bucket: 'lossy', Key: body?.Key }));
    await expect(here.send(new GetObjectCommand({ Bucket, Key }))).rejects.toMatchObject({
      name: 'InternalError',
      message: expect.stringMatching(/^The stored bytes of this object are missing/) as string,
    });
    expect(await classOf(here, Bucket, Key)).toBe('LOSSY');
    const place = `is missing (the tier LOSSY, bucket lossy at ${other.s3}, key ${body?.Key})`;
    await expect.poll(() => server.log.some((line) => line.includes(place)), wait).toBe(true);
  });

  // The tier minio-client waits until a removed object has left its tier.
  it('keeps what it has over a kill of the server', async () => {
    const Bucket = 'killed';
    await bucketWithRule(Bucket);
    const Key = 'key';
    const body = randomBytes(234_567);
    await here.send(new PutObjectCommand({ Bucket, Key, Body: body }));
    await untilMoved(Bucket, Key);
    const { folder } = server;
    await server.kill();
    server = await startServer({ env: encrypting, folder });
    await untilReady(server);
    here = s3Client(server);
    expect((await bytesOf({ Bucket, Key })).equals(body)).toBe(true);
  });
});
