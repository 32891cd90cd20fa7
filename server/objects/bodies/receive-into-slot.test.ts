import { createHash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BlobStore } from '../../store/blob-store.ts';
import { openFilesBlobStore } from '../../store/files/blob-store.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import { overwriteStored } from '../../../test/support/store/stored-body.ts';
import { decodeObject } from '../records/object-record.ts';
import { recordKeys } from '../records/record-format.ts';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { hashingPlaces, bufferSlotsAt, HashingRounds } from '../hashing/hashing.ts';
import { BUFFER_BYTES, SLOTS, slotsOf } from '../hashing/layout.ts';
import { md5Lanes } from '../hashing/md5-module.ts';
import { bodyFrom } from '../contract/body-source.ts';
import type { BufferSlots } from '../hashing/buffer-slots.ts';
import type { ObjectLayer } from '../contract/object-layer.ts';
import { body, chunks, put, testLayer } from '../../../test/support/objects/test-layer.ts';

const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');

async function* broken() {
  yield* chunks(randomBytes(3 * BUFFER_BYTES + 5), 65_536);
  throw new Error('the client went away');
}

describe('a large body that is hashed on the hashing thread', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let blobs: BlobStore;
  let records: MemoryRecordStore;
  let layer: ObjectLayer;
  let bufferSlots: BufferSlots;
  let hashing: NodeJS.Timeout;

  beforeEach(async () => {
    folder = await temporaryFolder();
    blobs = openFilesBlobStore(folder.path);
    records = new MemoryRecordStore();
    const [place] = hashingPlaces(1);
    if (place === undefined) throw new Error('one thread has one place');
    bufferSlots = bufferSlotsAt(place, () => undefined);
    const rounds = new HashingRounds(place.memory.buffer, slotsOf(1), md5Lanes(place.memory));
    hashing = setInterval(() => {
      while (rounds.next());
    }, 1);
    layer = layerOver(blobs);
    await layer.createBucket('bucket', { location: '' });
  });

  afterEach(async () => {
    clearInterval(hashing);
    await folder.remove();
  });

  const layerOver = (store: BlobStore) => testLayer({ blobs: store as never, records, bufferSlots }).layer;

  async function listed(): Promise<number> {
    let count = 0;
    for await (const _blob of blobs.list()) count += 1;
    return count;
  }

  async function freeSeats(): Promise<number> {
    let count = 0;
    // What left is free once the hashing thread has been there.
    for (const end = performance.now() + 20_000; count < SLOTS && performance.now() < end;) {
      while (bufferSlots.take() !== undefined) count += 1;
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
    return count;
  }

  it.each([200_000, BUFFER_BYTES, BUFFER_BYTES + 1, 9 * BUFFER_BYTES + 4_096, 9_999_999])(
    'has its MD5 as its ETag and comes back as it was, of %i bytes',
    async (size) => {
      const bytes = randomBytes(size);
      expect(await layer.putObject(put('bucket', 'key', bytes))).toMatchObject({ etag: md5(bytes) });
      expect((await body(layer, 'bucket', 'key')).equals(bytes)).toBe(true);
    },
  );

  it('keeps bodies apart that come at once, more than there are slots', async () => {
    const bodies = Array.from({ length: SLOTS + 3 }, () => randomBytes(BUFFER_BYTES + 777));
    const infos = await Promise.all(bodies.map((bytes, index) => layer.putObject(put('bucket', `${index}`, bytes))));
    expect(infos.map(({ etag }) => etag)).toEqual(bodies.map(md5));
    expect(await freeSeats()).toBe(SLOTS);
  });

  it('gives chunks back when they are copied', async () => {
    const bytes = randomBytes(2 * BUFFER_BYTES + 5);
    const back: Buffer[] = [];
    const source = {
      ...bodyFrom(chunks(Buffer.from(bytes), 65_536)),
      giveBack(chunk: Buffer) {
        back.push(Buffer.from(chunk));
        chunk.fill(0);
      },
    };
    const request = put('bucket', 'key', bytes);
    await layer.putObject({ ...request, body: source });
    expect((await body(layer, 'bucket', 'key')).equals(bytes)).toBe(true);
    expect(Buffer.concat(back).equals(bytes)).toBe(true);
  });

  it('refuses another Content-MD5, and keeps nothing', async () => {
    const digests = { md5: Buffer.alloc(16).toString('base64') };
    const answer = layer.putObject(put('bucket', 'key', randomBytes(BUFFER_BYTES + 1), { digests }));
    await expect(answer).rejects.toMatchObject({ code: 'BadDigest' });
    expect(await listed()).toBe(0);
    expect(await freeSeats()).toBe(SLOTS);
  });

  it('releases its slot when the client goes away', async () => {
    const answer = layer.putObject(put('bucket', 'key', Buffer.alloc(4 * BUFFER_BYTES), { body: broken() }));
    await expect(answer).rejects.toThrow('the client went away');
    expect(await listed()).toBe(0);
    expect(await freeSeats()).toBe(SLOTS);
  });

  it('is refused when it is shorter or longer than announced', async () => {
    const bytes = randomBytes(2 * BUFFER_BYTES);
    for (const size of [bytes.length + 1, bytes.length - 1]) {
      const answer = layer.putObject({ ...put('bucket', 'key', bytes), size });
      await expect(answer).rejects.toMatchObject({ code: 'IncompleteBody' });
    }
    expect(await listed()).toBe(0);
    expect(await freeSeats()).toBe(SLOTS);
  });

  it.each(['before', 'after'])('releases its slot when the store fails %s the first chunk', async (when) => {
    const failing: BlobStore = Object.assign(Object.create(blobs) as BlobStore, {
      async write(
        _id: string,
        body: AsyncIterable<Buffer>,
        { release }: { readonly release: (chunk: Buffer) => void },
      ) {
        if (when === 'after') {
          for await (const chunk of body) {
            release(chunk);
            break;
          }
        }
        throw new Error('the disk is gone');
      },
    });
    const bytes = randomBytes(20 * BUFFER_BYTES);
    const other = testLayer({ blobs: failing as never, bufferSlots }).layer;
    await other.createBucket('bucket', { location: '' });
    await expect(other.putObject(put('bucket', 'key', bytes))).rejects.toThrow('the disk is gone');
    expect(await freeSeats()).toBe(SLOTS);
  });

  it('is found damaged on a read of the whole when one byte has changed', async () => {
    const { bytes, damage } = await damagedObject();
    await damage();
    await expect(body(layer, 'bucket', 'key')).rejects.toThrow('damaged');
    expect(bytes.length).toBeGreaterThan(BUFFER_BYTES);
  });

  async function damagedObject() {
    const bytes = randomBytes(BUFFER_BYTES + 100);
    await layer.putObject(put('bucket', 'key', bytes));
    const entry = await records.get(recordKeys.object('bucket', 'key'));
    const record = decodeObject(entry?.value ?? Buffer.alloc(0), 'bucket', 'key');
    const damage = async () => {
      if (record.body.kind !== 'blob') throw new Error('the body is a blob');
      await overwriteStored(folder.path, record.body.blob, Buffer.of((bytes[777] ?? 0) ^ 1), 777);
    };
    return { bytes, damage };
  }
});
