import {
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { adminCall } from '../support/server/admin-call.ts';
import { refusal, s3Client } from '../support/server/s3-client.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import { type RunningServer, type ServerAccess, startServer, untilReady } from '../support/server/start-server.ts';
import { replicate, sideOf, targetOf, versionedBucket } from './replicated-buckets.ts';

let left: ServerAccess;
let right: RunningServer;
let here: S3Client;
let there: S3Client;
let arn: string;
const wait = { timeout: 180_000, interval: 200 };
const Bucket = 'catching-up';
const Key = 'a b/ä+';
const big = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => at % 251));

/** The right side has no rule: what it gets stays there, as if the left side had not caught up. */
beforeAll(async () => {
  [left, right] = await Promise.all([sharedServer('left'), startServer()]);
  await untilReady(right);
  here = s3Client(left);
  there = s3Client(right);
  await Promise.all([versionedBucket(here, Bucket), versionedBucket(there, Bucket)]);
  arn = await replicate(sideOf(left), Bucket, sideOf(right));
}, 180_000);
afterAll(() => right?.stop());

async function proxied(side: ServerAccess, bucket = Bucket): Promise<Record<string, number>> {
  const { value } = await adminCall(side.s3, side, 'GET', `/${bucket}?replication-metrics=2`);
  return (value as { readonly proxyStats: Record<string, number> }).proxyStats;
}

/** How many reads of tags the other side answered in time. */
async function answeredTags(): Promise<number> {
  const { getTaggingProxyTotal: all = 0, getTaggingProxyFailed: failed = 0 } = await proxied(left);
  return all - failed;
}

async function setProxy(disableProxy: boolean): Promise<void> {
  const target = { ...targetOf(sideOf(right), Bucket), sourcebucket: Bucket, arn, disableProxy };
  const path = `set-remote-target?bucket=${Bucket}&update=true&proxy=true`;
  expect(await adminCall(left.s3, left, 'PUT', path, target)).toMatchObject({ status: 200 });
}

async function addUser(name: string, statements: readonly object[]): Promise<S3Client> {
  const secretKey = 'secret-of-a-user';
  const policy = { Version: '2012-10-17', Statement: statements };
  const calls = [
    ['PUT', `add-canned-policy?name=${name}`, Buffer.from(JSON.stringify(policy))],
    ['PUT', `add-user?accessKey=${name}`, { secretKey, status: 'enabled' }],
    ['PUT', `set-user-or-group-policy?policyName=${name}&userOrGroup=${name}&isGroup=false`, undefined],
  ] as const;
  for (const [method, path, body] of calls) {
    expect(await adminCall(left.s3, left, method, path, body)).toMatchObject({ status: 200 });
  }
  return s3Client({ ...left, accessKey: name, secretKey });
}

/** The other side has 2 s to answer, which a busy machine exceeds: then the object is not there, and the read is tried again. */
const passedOn = <T>(read: () => Promise<T>): Promise<T> => vi.waitFor(read);

const readObjects = { Effect: 'Allow', Action: 's3:GetObject*', Resource: `arn:aws:s3:::${Bucket}/*` };

describe('a read of what only the other side has', { timeout: 360_000 }, () => {
  it('is answered with the object of the other side, with its version, metadata and checksum', async () => {
    const Metadata = { colour: 'red' };
    const { VersionId } = await there.send(
      new PutObjectCommand({
        Bucket,
        Key,
        Body: big,
        ContentType: 'text/plain',
        Metadata,
        ChecksumAlgorithm: 'SHA256',
      }),
    );
    const head = await passedOn(() => here.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' })));
    const ChecksumSHA256 = createHash('sha256').update(big).digest('base64');
    expect(head).toMatchObject({ VersionId, Metadata, ContentLength: big.length, ChecksumSHA256 });
    const asHtml = { Bucket, Key, ResponseContentType: 'text/html' };
    const got = await passedOn(() => here.send(new GetObjectCommand(asHtml)));
    expect(got).toMatchObject({ VersionId, Metadata, ContentType: 'text/html' });
    expect(Buffer.from((await got.Body?.transformToByteArray()) ?? []).equals(big)).toBe(true);
    const version = await passedOn(() => here.send(new GetObjectCommand({ Bucket, Key, VersionId })));
    expect((await version.Body?.transformToByteArray())?.length).toBe(big.length);
  });

  it('honours ranges, conditions and empty bodies', async () => {
    const { ETag = '' } = await there.send(new PutObjectCommand({ Bucket, Key: 'ranged', Body: '0123456789' }));
    await there.send(new PutObjectCommand({ Bucket, Key: 'empty', Body: '' }));
    const get = (more: object) => here.send(new GetObjectCommand({ Bucket, Key: 'ranged', ...more }));
    const part = await passedOn(() => get({ Range: 'bytes=2-4' }));
    expect([part.ContentRange, await part.Body?.transformToString()]).toEqual(['bytes 2-4/10', '234']);
    const refused = (more: object) => expect.poll(() => refusal(get(more)));
    await refused({ Range: 'bytes=20-' }).toEqual({ code: 'InvalidRange', status: 416 });
    await refused({ IfMatch: '"0"' }).toEqual({ code: 'PreconditionFailed', status: 412 });
    await refused({ IfNoneMatch: ETag }).toMatchObject({ status: 304 });
    const empty = await passedOn(() => here.send(new GetObjectCommand({ Bucket, Key: 'empty' })));
    expect([empty.ContentLength, await empty.Body?.transformToString()]).toEqual([0, '']);
  });

  it('is answered with the tags of the other side, and those of a version', async () => {
    const put = (Tagging: string) => there.send(new PutObjectCommand({ Bucket, Key: 'with-tags', Body: 'x', Tagging }));
    const { VersionId: first } = await put('team=red');
    const { VersionId: second } = await put('team=blue&cost=1');
    const tags = (more: object = {}) =>
      passedOn(() => here.send(new GetObjectTaggingCommand({ Bucket, Key: 'with-tags', ...more })));
    expect(await tags()).toMatchObject({
      VersionId: second,
      TagSet: [
        { Key: 'cost', Value: '1' },
        { Key: 'team', Value: 'blue' },
      ],
    });
    expect(await tags({ VersionId: first })).toMatchObject({ TagSet: [{ Key: 'team', Value: 'red' }] });
    await expect.poll(answeredTags, wait).toBe(2);
    expect(await refusal(here.send(new GetObjectTaggingCommand({ Bucket, Key: 'absent' })))).toEqual({
      code: 'NoSuchKey',
      status: 404,
    });
    // A change of tags is one of this side alone.
    const Tagging = { TagSet: [{ Key: 'team', Value: 'green' }] };
    expect(await refusal(here.send(new PutObjectTaggingCommand({ Bucket, Key: 'with-tags', Tagging })))).toMatchObject({
      status: 404,
    });
  });

  it('is counted, and one that no side has is asked once, without a loop', async () => {
    const both = 'both-ways';
    await Promise.all([versionedBucket(here, both), versionedBucket(there, both)]);
    await Promise.all([replicate(sideOf(left), both, sideOf(right)), replicate(sideOf(right), both, sideOf(left))]);
    expect(await refusal(here.send(new GetObjectCommand({ Bucket: both, Key: 'absent' })))).toEqual({
      code: 'NoSuchKey',
      status: 404,
    });
    await expect.poll(() => proxied(left, both), wait).toMatchObject({ getProxyTotal: 1, getProxyFailed: 0 });
    const metrics = await (await fetch(`${left.s3}/minio/v2/metrics/bucket`)).text();
    expect(metrics).toMatch(/replication_proxied_get_requests_total\{bucket="both-ways",[^}]*\} 1/);
    expect(await proxied(right, both)).toMatchObject({ getProxyTotal: 0, headProxyTotal: 0 });
    // The delivery of a large body asks whether the other side has it, which must not ask back.
    await here.send(new PutObjectCommand({ Bucket: both, Key: 'large', Body: Buffer.alloc(9 * 1024 * 1024) }));
    const status = async () =>
      (await here.send(new HeadObjectCommand({ Bucket: both, Key: 'large' }))).ReplicationStatus;
    await expect.poll(status, wait).toBe('COMPLETED');
    expect(await there.send(new HeadObjectCommand({ Bucket: both, Key: 'large' }))).toMatchObject({
      ReplicationStatus: 'REPLICA',
    });
  });

  it('is not passed on where it was deleted here', async () => {
    const { VersionId } = await here.send(new PutObjectCommand({ Bucket, Key: 'deleted', Body: 'x' }));
    const there404 = () => there.send(new HeadObjectCommand({ Bucket, Key: 'deleted' })).catch(() => undefined);
    await expect.poll(there404, wait).toMatchObject({ VersionId });
    await there.send(new PutObjectCommand({ Bucket, Key: 'deleted', Body: 'newer' }));
    await here.send(new DeleteObjectCommand({ Bucket, Key: 'deleted' }));
    expect(await refusal(here.send(new GetObjectCommand({ Bucket, Key: 'deleted' })))).toEqual({
      code: 'NoSuchKey',
      status: 404,
    });
    expect((await refusal(here.send(new GetObjectTaggingCommand({ Bucket, Key: 'deleted' })))).status).not.toBe(200);
  });

  it('is not passed on with the key of a client', async () => {
    await there.send(new PutObjectCommand({ Bucket, Key: 'plain', Body: 'x' }));
    const key = Buffer.alloc(32, 1);
    const get = here.send(
      new GetObjectCommand({
        Bucket,
        Key: 'plain',
        SSECustomerAlgorithm: 'AES256',
        SSECustomerKey: key.toString('base64'),
        SSECustomerKeyMD5: createHash('md5').update(key).digest('base64'),
      }),
    );
    expect((await refusal(get)).status).not.toBe(200);
  });

  it('is not passed on where the target says so', async () => {
    await there.send(new PutObjectCommand({ Bucket, Key: 'switched', Body: 'x' }));
    await setProxy(true);
    const head = () =>
      here.send(new HeadObjectCommand({ Bucket, Key: 'switched' })).then(
        () => 200,
        () => 404,
      );
    expect(await head()).toBe(404);
    await setProxy(false);
    expect(await head()).toBe(200);
  });
});

describe('the rights of a caller', { timeout: 360_000 }, () => {
  it('are those of this side, and absence is told to those alone who may list', async () => {
    await there.send(new PutObjectCommand({ Bucket, Key: 'secret', Body: 'x', Tagging: 'k=v' }));
    const reader = await addUser('reader-alone', [readObjects]);
    const get = (client: S3Client, name: string) => client.send(new GetObjectCommand({ Bucket, Key: name }));
    expect(await (await get(reader, 'secret')).Body?.transformToString()).toBe('x');
    expect(await refusal(get(reader, 'absent'))).toEqual({ code: 'AccessDenied', status: 403 });
    const untagged = await addUser('no-tags', [{ ...readObjects, Action: 's3:GetObject' }]);
    const tags = (client: S3Client) => client.send(new GetObjectTaggingCommand({ Bucket, Key: 'secret' }));
    expect((await tags(reader)).TagSet).toEqual([{ Key: 'k', Value: 'v' }]);
    expect(await refusal(tags(untagged))).toEqual({ code: 'AccessDenied', status: 403 });
    const stranger = await addUser('stranger', [{ ...readObjects, Resource: 'arn:aws:s3:::other/*' }]);
    expect(await refusal(get(stranger, 'secret'))).toEqual({ code: 'AccessDenied', status: 403 });
  });

  it('are not taken from the tags of an object that is not here', async () => {
    await there.send(new PutObjectCommand({ Bucket, Key: 'tagged', Body: 'x', Tagging: 'secret=yes' }));
    const Condition = { StringEquals: { 's3:ExistingObjectTag/secret': 'yes' } };
    const list = { Effect: 'Allow', Action: 's3:ListBucket', Resource: `arn:aws:s3:::${Bucket}` };
    const client = await addUser('not-secret', [readObjects, list, { ...readObjects, Effect: 'Deny', Condition }]);
    expect(await refusal(client.send(new GetObjectCommand({ Bucket, Key: 'tagged' })))).toEqual({
      code: 'NoSuchKey',
      status: 404,
    });
  });

  it('include those of a bucket policy for everyone', async () => {
    const url = `${left.s3}/${Bucket}/secret`;
    expect((await fetch(url)).status).toBe(403);
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [{ ...readObjects, Principal: '*' }] });
    await here.send(new PutBucketPolicyCommand({ Bucket, Policy }));
    const answer = await fetch(url);
    expect([answer.status, await answer.text()]).toEqual([200, 'x']);
    // The count of tags needs a right of its own, which the wildcard gives.
    expect(answer.headers.get('x-amz-tagging-count')).toBe('1');
  });
});

describe('a target that is away', { timeout: 360_000 }, () => {
  it('leaves the answer of this side', async () => {
    await right.kill();
    const before = await proxied(left);
    expect(await refusal(here.send(new GetObjectCommand({ Bucket, Key })))).toEqual({ code: 'NoSuchKey', status: 404 });
    await expect
      .poll(async () => (await proxied(left))['getProxyFailed'], wait)
      .toBe((before['getProxyFailed'] ?? 0) + 1);
  });
});
