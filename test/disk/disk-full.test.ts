import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  AbortMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { complaintsAbout } from '../crash/compare.ts';
import { ExpectedObjects } from '../crash/expected-objects.ts';
import { ExpectedUploads } from '../crash/expected-uploads.ts';
import { clientOf } from '../crash/s3-client.ts';
import { SeededRandom } from '../crash/seeded-random.ts';
import { verifyFolder, verifySweptFolder } from '../crash/verify-folder.ts';
import { BUCKET_THERE, contentOf } from '../crash/witness.ts';
import { type RunningServer, startServer, untilReady } from '../harness/start-server.ts';
import { type Kind, mountSmall, type SmallFileSystem } from './small-file-system.ts';

const seed = Number(process.env['COFFER_SEED'] ?? Date.now() % 1_000_000);
const MEBIBYTES = 64;
const Bucket = 'full';
/** Until blobs that were given up are gone: a minute for their readers, and another until the next round. */
const REMOVED_AFTER = 150_000;

describe.each<[Kind, string]>([
  ['tmpfs', '1%'],
  ['tmpfs', '0'],
  ['ext4', '1%'],
  ['ext4', '0'],
])(`a server on a full disk (%s, reserve %s), seed ${seed}`, { timeout: 400_000 }, (kind, reserve) => {
  let folder: string;
  let small: SmallFileSystem;
  let server: RunningServer | undefined;
  let s3: S3Client;
  let expected: ExpectedObjects;
  let uploads: ExpectedUploads;
  const random = new SeededRandom(seed);
  const dataFolder = () => join(small.path, 'data');

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'coffer-full-'));
    small = await mountSmall(kind, folder, MEBIBYTES);
    await start();
    expected = new ExpectedObjects();
    uploads = new ExpectedUploads();
    expected.begin(`${Bucket}/`, BUCKET_THERE);
    await s3.send(new CreateBucketCommand({ Bucket }));
    expected.acknowledge(`${Bucket}/`);
  });

  afterEach(async () => {
    await server?.kill();
    small.unmount();
    await rm(folder, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    server = await startServer({ folder: dataFolder(), env: { SVC_STORAGE_RESERVE: reserve } });
    await untilReady(server, 60_000);
    s3 = clientOf(server);
  }

  async function put(key: string, size: number): Promise<'done' | 'full'> {
    const Body = random.bytes(size);
    const name = `${Bucket}/${key}`;
    expected.begin(name, contentOf(Body));
    const answer = await unlessFull(s3.send(new PutObjectCommand({ Bucket, Key: key, Body })));
    if (answer === 'full') expected.refuse(name);
    else expected.acknowledge(name);
    return answer;
  }

  async function remove(key: string): Promise<void> {
    const name = `${Bucket}/${key}`;
    expected.begin(name, undefined);
    await s3.send(new DeleteObjectCommand({ Bucket, Key: key }));
    expected.acknowledge(name);
  }

  async function everythingIsThere(): Promise<void> {
    expect(await complaintsAbout(s3, expected, uploads)).toEqual([]);
  }

  /** Writes are taken again without anybody doing anything. */
  async function serviceReturns(size: number, withinMs: number): Promise<void> {
    for (const end = Date.now() + withinMs; ; await sleep(1_000)) {
      if ((await put('after', size)) === 'done') return;
      if (Date.now() > end) throw new Error(`writes are refused ${withinMs} ms after room was made`);
    }
  }

  async function nothingIsDamaged(): Promise<void> {
    await everythingIsThere();
    await server?.stop();
    expect((await verifyFolder(dataFolder())).complaints).toEqual([]);
    expect((await verifySweptFolder(dataFolder())).complaints).toEqual([]);
    await start();
    await everythingIsThere();
  }

  it('by small objects refuses more, gives and deletes what is there, and takes new ones when others are gone', async () => {
    const taken = await fill((index) => put(`small-${index}`, 100_000));
    expect(taken.length).toBeGreaterThan(100);
    await everythingIsThere();
    for (const index of taken.slice(0, taken.length / 2)) await remove(`small-${index}`);
    await serviceReturns(100_000, 30_000);
    await nothingIsDamaged();
  });

  it('by large objects refuses more, gives and deletes what is there, and takes new ones when others are gone', async () => {
    const taken = await fill((index) => put(`large-${index}`, 1_500_000));
    expect(taken.length).toBeGreaterThan(10);
    // What is left is filled with small ones, which have no blob.
    const small = await fill((index) => put(`small-${index}`, 60_000));
    await everythingIsThere();
    for (const index of taken.slice(0, taken.length / 2)) await remove(`large-${index}`);
    for (const index of small.slice(0, small.length / 2)) await remove(`small-${index}`);
    await serviceReturns(1_500_000, REMOVED_AFTER);
    await nothingIsDamaged();
  });

  it('by parts of an upload refuses more, and takes new objects when the upload is aborted', async () => {
    const Key = 'parts';
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const upload = { Bucket, Key, UploadId };
    uploads.begin(`${Bucket}/${Key}`);
    uploads.begun(`${Bucket}/${Key}`, UploadId ?? '');
    const taken = await fill(async (index) => {
      const Body = random.bytes(1_500_000);
      uploads.beginPart(UploadId ?? '', index + 1);
      return unlessFull(s3.send(new UploadPartCommand({ ...upload, PartNumber: index + 1, Body })));
    });
    expect(taken.length).toBeGreaterThan(10);
    await everythingIsThere();
    uploads.end(UploadId ?? '');
    await s3.send(new AbortMultipartUploadCommand(upload));
    uploads.ended(UploadId ?? '');
    await serviceReturns(1_500_000, REMOVED_AFTER);
    await nothingIsDamaged();
  });
});

/** The only refusal that a full disk explains. */
async function unlessFull(call: Promise<unknown>): Promise<'done' | 'full'> {
  try {
    await call;
    return 'done';
  } catch (error) {
    if (!(error instanceof S3ServiceException)) throw error;
    expect({ code: error.name, status: error.$metadata.httpStatusCode }).toEqual({
      code: 'XMinioStorageFull',
      status: 507,
    });
    return 'full';
  }
}

/** Adds until so many were refused in a row, as clients that try again would; the names that were taken. */
async function fill(add: (index: number) => Promise<'done' | 'full'>): Promise<number[]> {
  const taken: number[] = [];
  for (let index = 0, refused = 0; refused < 5; index += 1) {
    if ((await add(index)) === 'done') {
      taken.push(index);
      refused = 0;
    } else {
      refused += 1;
      // A measurement of the free space is believed for a second.
      await sleep(refused === 1 ? 1_100 : 50);
    }
    if (taken.length > 5_000) throw new Error('the disk does not fill');
  }
  return taken;
}
