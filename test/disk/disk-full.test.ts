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
import { describe, expect, it } from 'vitest';
import { complaintsAbout } from '../crash/compare.ts';
import { ExpectedObjects, ExpectedUploads, BUCKET_THERE, contentOf } from '../crash/expected.ts';
import { clientOf } from '../crash/s3-client.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { verifyFolder, verifySweptFolder } from '../crash/verify-folder.ts';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { type Kind, mountSmall, type SmallFileSystem } from './small-file-system.ts';
import { seed } from '../support/seed.ts';

const MEBIBYTES = 64;
const Bucket = 'full';
/** Milliseconds. Blobs that were given up are gone after a minute for their readers, the next round, and another one for their segment. */
const REMOVED_AFTER = 240_000;

interface Scene {
  readonly name: string;
  readonly kind: Kind;
  readonly reserve: string;
}
const scenes: readonly Scene[] = [
  { name: 'tmpfs, a reserve of 1 %', kind: 'tmpfs', reserve: '1%' },
  // Without one it is the stores themselves that find no room.
  { name: 'tmpfs, no reserve', kind: 'tmpfs', reserve: '0' },
  { name: 'ext4, no reserve', kind: 'ext4', reserve: '0' },
];

/** A server on a small file system of its own, and what it answered. */
class FullDisk {
  readonly expected = new ExpectedObjects();
  readonly uploads = new ExpectedUploads();
  readonly random = new SeededRandom(seed);
  readonly #folder: string;
  readonly #reserve: string;
  readonly #small: SmallFileSystem;
  #server: RunningServer | undefined;
  #s3: S3Client | undefined;

  private constructor(folder: string, small: SmallFileSystem, reserve: string) {
    this.#folder = folder;
    this.#small = small;
    this.#reserve = reserve;
  }

  static async make({ kind, reserve }: Scene): Promise<FullDisk> {
    const folder = await mkdtemp(join(tmpdir(), 'coffer-full-'));
    const disk = new FullDisk(folder, await mountSmall(kind, folder, MEBIBYTES), reserve);
    await disk.#start();
    disk.expected.begin(`${Bucket}/`, BUCKET_THERE);
    await disk.s3.send(new CreateBucketCommand({ Bucket }));
    disk.expected.acknowledge(`${Bucket}/`);
    return disk;
  }

  get s3(): S3Client {
    if (this.#s3 === undefined) throw new Error('the server was not started');
    return this.#s3;
  }

  async remove(): Promise<void> {
    await this.#server?.kill();
    await this.#small.unmount();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async put(key: string, size: number): Promise<'done' | 'full'> {
    const Body = this.random.bytes(size);
    const name = `${Bucket}/${key}`;
    this.expected.begin(name, contentOf(Body));
    const answer = await unlessFull(this.s3.send(new PutObjectCommand({ Bucket, Key: key, Body })));
    if (answer === 'full') this.expected.refuse(name);
    else this.expected.acknowledge(name);
    return answer;
  }

  async delete(key: string): Promise<void> {
    const name = `${Bucket}/${key}`;
    this.expected.begin(name, undefined);
    await this.s3.send(new DeleteObjectCommand({ Bucket, Key: key }));
    this.expected.acknowledge(name);
  }

  async everythingIsThere(): Promise<void> {
    expect(await complaintsAbout(this.s3, this.expected, this.uploads)).toEqual([]);
  }

  /** Writes are taken again without anybody doing anything. */
  async serviceReturns(size: number, withinMs: number): Promise<void> {
    for (const end = Date.now() + withinMs; ; await sleep(1_000)) {
      if ((await this.put('after', size)) === 'done') return;
      if (Date.now() > end) throw new Error(`writes are refused ${withinMs} ms after room was made`);
    }
  }

  async nothingIsDamaged(): Promise<void> {
    await this.everythingIsThere();
    await this.#server?.stop();
    const dataFolder = join(this.#small.path, 'data');
    expect((await verifyFolder(dataFolder)).complaints).toEqual([]);
    expect((await verifySweptFolder(dataFolder)).complaints).toEqual([]);
    await this.#start();
    await this.everythingIsThere();
  }

  async #start(): Promise<void> {
    const env = { SVC_STORAGE_RESERVE: this.#reserve, SVC_THREADS: '1' };
    this.#server = await startServer({ folder: join(this.#small.path, 'data'), env });
    await untilReady(this.#server, 60_000);
    this.#s3 = clientOf(this.#server);
  }
}

const withFullDisk = (scene: Scene, work: (disk: FullDisk) => Promise<void>) => async () => {
  const disk = await FullDisk.make(scene);
  try {
    await work(disk);
  } finally {
    await disk.remove();
  }
};

// Most of their time they wait for blobs to be removed.
describe.concurrent.each(scenes)(`a server on a full disk: $name, seed ${seed}`, { timeout: 400_000 }, (scene) => {
  it(
    'full of small objects refuses more, gives and deletes what is there, and takes new ones when others are gone',
    withFullDisk(scene, async (disk) => {
      const taken = await fill((index) => disk.put(`small-${index}`, 100_000));
      expect(taken.length).toBeGreaterThan(100);
      await disk.everythingIsThere();
      for (const index of taken.slice(0, taken.length / 2)) await disk.delete(`small-${index}`);
      await disk.serviceReturns(100_000, 30_000);
      await disk.nothingIsDamaged();
    }),
  );

  it(
    'full of large objects refuses more, gives and deletes what is there, and takes new ones when others are gone',
    withFullDisk(scene, async (disk) => {
      const taken = await fill((index) => disk.put(`large-${index}`, 1_500_000));
      expect(taken.length).toBeGreaterThan(10);
      // What is left is filled with small ones, which have no blob.
      const small = await fill((index) => disk.put(`small-${index}`, 60_000));
      await disk.everythingIsThere();
      for (const index of taken.slice(0, taken.length / 2)) await disk.delete(`large-${index}`);
      for (const index of small.slice(0, small.length / 2)) await disk.delete(`small-${index}`);
      await disk.serviceReturns(1_500_000, REMOVED_AFTER);
      await disk.nothingIsDamaged();
    }),
  );

  it(
    'full of parts of an upload refuses more, and takes new objects when the upload is aborted',
    withFullDisk(scene, async (disk) => {
      const { s3, uploads } = disk;
      const Key = 'parts';
      const name = `${Bucket}/${Key}`;
      uploads.begin(name);
      const { UploadId = '' } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
      uploads.begun(name, UploadId);
      const upload = { Bucket, Key, UploadId };
      const taken = await fill((index) => {
        const Body = disk.random.bytes(1_500_000);
        uploads.beginPart(UploadId, index + 1);
        return unlessFull(s3.send(new UploadPartCommand({ ...upload, PartNumber: index + 1, Body })));
      });
      expect(taken.length).toBeGreaterThan(10);
      await disk.everythingIsThere();
      uploads.end(UploadId);
      await s3.send(new AbortMultipartUploadCommand(upload));
      uploads.ended(UploadId);
      await disk.serviceReturns(1_500_000, REMOVED_AFTER);
      await disk.nothingIsDamaged();
    }),
  );
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

/** Adds until several were refused, over more than a second: so long a measurement of the free space is believed. What was taken. */
async function fill(add: (index: number) => Promise<'done' | 'full'>): Promise<number[]> {
  const taken: number[] = [];
  for (let index = 0, rejected = 0; rejected < 8; index += 1) {
    if ((await add(index)) === 'done') taken.push(index);
    else {
      rejected += 1;
      await sleep(200);
    }
    if (taken.length > 5_000) throw new Error('the disk does not fill');
  }
  return taken;
}
