import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DeliveryError } from '../../server/outbox/delivery-error.ts';
import { put } from '../support/objects/test-layer.ts';
import { bucket, LinkedServer, type TestClock } from '../support/replication/linked-servers.ts';
import { s3Client } from '../support/server/s3-client.ts';
import { startServer, untilReady } from '../support/server/start-server.ts';
import { startWatchedFront } from '../support/server/watched-front.ts';
import { replicate, sideOf, versionedBucket } from './replicated-buckets.ts';

const key = 'key';

/** Two servers, of which the first has a version in parts that the second has not got. `text` is its body. */
async function withVersionInParts(text = 'part') {
  const clock: TestClock = { now: Date.UTC(2027, 0, 1) };
  const [one, two] = [await LinkedServer.start('one', clock), await LinkedServer.start('two', clock)];
  await one.replicateTo(two);
  const { layer } = one.calls;
  const { uploadId } = await layer.createMultipartUpload({ bucket, key, headers: { metadata: {} } });
  const { etag } = await layer.putPart({ ...put(bucket, key, text), uploadId, partNumber: 1 });
  const parts = [{ partNumber: 1, etag }];
  const made = await layer.completeMultipartUpload({ bucket, key, uploadId, parts });
  const { versionId = '', lastModified: modified } = made;
  return { one, two, version: { versionId, modified, etag: made.etag } };
}

/** The other server is not reached any more once the upload has begun, as after a kill: it is not told of the end of the upload either. */
async function killedWhileSending(one: LinkedServer, two: LinkedServer): Promise<void> {
  two.intercept = ({ query = {} }) => {
    if (query['uploadId'] === undefined) return undefined;
    throw new DeliveryError('unavailable', 'killed');
  };
  await one.deliver();
  two.intercept = undefined;
  expect(await uploads(two)).toBe(1);
}

async function uploads({ calls: { layer } }: LinkedServer): Promise<number> {
  const all = { bucket, prefix: '', delimiter: '', afterKey: '', afterUploadId: '', limit: 100 };
  return (await layer.listMultipartUploads(all)).uploads.length;
}

const statusOf = async ({ calls: { layer } }: LinkedServer) =>
  (await layer.headObject(bucket, key)).replication?.status;

describe('an upload that a replication left', () => {
  it('ends when the version is sent again', async () => {
    const { one, two } = await withVersionInParts();
    await killedWhileSending(one, two);
    await one.deliver();
    expect([await uploads(two), await statusOf(one)]).toEqual([0, 'COMPLETED']);
  });

  it('ends with the removal of the version, which is not sent again', async () => {
    const { one, two, version } = await withVersionInParts();
    await killedWhileSending(one, two);
    await one.calls.layer.deleteObject(bucket, key, { versionId: version.versionId });
    await one.deliver();
    expect(await uploads(two)).toBe(0);
  });

  it('does not fail the version where another server sends the version meanwhile, which ends the upload', async () => {
    const { one, two, version } = await withVersionInParts();
    await two.calls.layer.putObject(put(bucket, key, 'part', { replica: version }));
    const code = 'NoSuchUpload';
    const gone = { status: 404, headers: { 'x-amz-request-id': 'R' }, text: `<Error><Code>${code}</Code></Error>` };
    two.intercept = ({ query = {} }) => (query['partNumber'] === undefined ? undefined : gone);
    await one.deliver();
    expect(await statusOf(one)).toBe('COMPLETED');
  });

  it('ends when the version is found at the target, to which another server has sent it meanwhile', async () => {
    // A body of this size is sent only where the target has not got it.
    const text = 'p'.repeat(9 * 1024 * 1024);
    const { one, two, version } = await withVersionInParts(text);
    two.intercept = ({ method, query = {} }) => {
      // The other server arrives after the question.
      if (method === 'HEAD') return { status: 404, headers: { 'x-amz-request-id': 'R' }, text: '' };
      if (query['uploadId'] === undefined) return undefined;
      throw new DeliveryError('unavailable', 'killed');
    };
    await two.calls.layer.putObject(put(bucket, key, text, { replica: version }));
    await one.deliver();
    two.intercept = undefined;
    expect(await uploads(two)).toBe(1);
    await one.deliver();
    expect([await uploads(two), await statusOf(one)]).toEqual([0, 'COMPLETED']);
  });

  it('ends with the removal of a version that came meanwhile', async () => {
    const { one, two, version } = await withVersionInParts();
    await killedWhileSending(one, two);
    await two.calls.layer.putObject(put(bucket, key, 'part', { replica: version }));
    await one.calls.layer.deleteObject(bucket, key, { versionId: version.versionId });
    await one.deliver();
    expect(await uploads(two)).toBe(0);
  });

  it('fails the version where the target has ended the upload and not got the version', async () => {
    const { one, two } = await withVersionInParts();
    const gone = {
      status: 404,
      headers: { 'x-amz-request-id': 'R' },
      text: '<Error><Code>NoSuchUpload</Code></Error>',
    };
    two.intercept = ({ query = {} }) => (query['partNumber'] === undefined ? undefined : gone);
    await one.deliver();
    expect(await statusOf(one)).toBe('FAILED');
  });
});

const wait = { timeout: 180_000, interval: 50 };

it('a server that is killed while it sends a version in parts leaves no upload', { timeout: 540_000 }, async () => {
  const Bucket = 'left';
  const folder = await mkdtemp(join(tmpdir(), 'coffer-left-uploads-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const start = async () => {
    const server = await startServer({ folder: join(folder, 'source') });
    await untilReady(server, 120_000);
    return server;
  };
  let source = await start();
  onTestFinished(async () => void (await source.stop()));
  const target = await startServer({ folder: join(folder, 'target') });
  onTestFinished(async () => void (await target.stop()));
  await untilReady(target, 120_000);
  const front = await startWatchedFront(target.s3);
  onTestFinished(() => front.close());
  const [here, there] = [s3Client(source), s3Client(target)];
  await Promise.all([versionedBucket(here, Bucket), versionedBucket(there, Bucket)]);
  await replicate(sideOf(source), Bucket, { ...sideOf(target), s3: front.url });
  // The second part does not arrive before the kill.
  const held = Promise.withResolvers<undefined>();
  held.promise.catch(() => undefined);
  const reached = new Promise<void>((resolve) => {
    front.before(
      (method, path) => method === 'PUT' && path.includes('partNumber=2'),
      () => {
        resolve();
        return held.promise;
      },
    );
  });

  const { UploadId } = await here.send(new CreateMultipartUploadCommand({ Bucket, Key: key }));
  const Parts = [];
  for (const [at, size] of [5 * 1024 * 1024, 7].entries()) {
    const part = { Bucket, Key: key, UploadId, PartNumber: at + 1, Body: Buffer.alloc(size, at + 1) };
    const { ETag } = await here.send(new UploadPartCommand(part));
    Parts.push({ ETag, PartNumber: at + 1 });
  }
  await here.send(new CompleteMultipartUploadCommand({ Bucket, Key: key, UploadId, MultipartUpload: { Parts } }));
  await reached;
  const left = async () => (await there.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads?.length ?? 0;
  expect(await left()).toBe(1);
  await source.kill();
  held.reject(new Error('the source was killed'));
  source = await start();
  const status = async () =>
    (await s3Client(source).send(new HeadObjectCommand({ Bucket, Key: key }))).ReplicationStatus;
  await expect.poll(status, wait).toBe('COMPLETED');
  expect(await left()).toBe(0);
  const copy = await there.send(new GetObjectCommand({ Bucket, Key: key, PartNumber: 2 }));
  expect(await copy.Body?.transformToByteArray()).toEqual(new Uint8Array(7).fill(2));
});
