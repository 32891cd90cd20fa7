import { createHash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PACKAGE_SIZE } from '../../encryption/package-format.ts';
import type { BlobStore } from '../../store/blob-store.ts';
import { openFilesBlobStore } from '../../store/files/blob-store.ts';
import { MemoryRecordStore } from '../../store/memory/record-store.ts';
import { readStored } from '../../../test/support/store/stored-body.ts';
import { temporaryFolder } from '../../../test/support/store/temporary-folder.ts';
import { Gmac } from '../checksums/block-sums.ts';
import { hashingPlaces, bufferSlotsAt } from '../hashing/hashing.ts';
import { BUFFER_BYTES, SLOTS } from '../hashing/layout.ts';
import type { BufferSlots } from '../hashing/buffer-slots.ts';
import type { ObjectLayer } from '../contract/object-layer.ts';
import { decodeObject } from '../records/object-record.ts';
import { recordKeys } from '../records/record-format.ts';
import { body, chunks, put, testLayer } from '../../../test/support/objects/test-layer.ts';

const encryption = { scheme: 'SSE-KMS' } as const;

async function* broken() {
  yield* chunks(randomBytes(3 * BUFFER_BYTES + 5), 65_536);
  throw new Error('the client went away');
}

describe('a large body that is encrypted into the memory of a slot', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let blobs: BlobStore;
  let records: MemoryRecordStore;
  let layer: ObjectLayer;
  let bufferSlots: BufferSlots;
  let started: boolean;

  beforeEach(async () => {
    folder = await temporaryFolder();
    blobs = openFilesBlobStore(folder.path);
    records = new MemoryRecordStore();
    started = false;
    const [place] = hashingPlaces(1);
    if (place === undefined) throw new Error('one thread has one place');
    bufferSlots = bufferSlotsAt(place, () => {
      started = true;
    });
    layer = testLayer({ blobs: blobs as never, records, bufferSlots }).layer;
    await layer.createBucket('bucket', { location: '' });
  });

  afterEach(() => folder.remove());

  async function listed() {
    const ids = [];
    for await (const { id } of blobs.list()) ids.push(id);
    return ids;
  }

  function freeSeats(): number {
    let count = 0;
    while (bufferSlots.takeUnhashed() !== undefined) count += 1;
    return count;
  }

  it.each([200_000, 8 * PACKAGE_SIZE, BUFFER_BYTES + 1, 9 * BUFFER_BYTES + 4_096, 9_999_999])(
    'comes back as it was, of %i bytes, and needs no hashing thread',
    async (size) => {
      const bytes = randomBytes(size);
      await layer.putObject(put('bucket', 'key', bytes, { encryption, chunk: 60_000 }));
      expect((await body(layer, 'bucket', 'key')).equals(bytes)).toBe(true);
      expect(started).toBe(false);
      expect(freeSeats()).toBe(SLOTS);
    },
  );

  it('has the MD5 of its plaintext as its ETag with SSE-S3', async () => {
    const bytes = randomBytes(BUFFER_BYTES + 777);
    const { etag } = await layer.putObject(put('bucket', 'key', bytes, { encryption: { scheme: 'SSE-S3' } }));
    expect(etag).toBe(createHash('md5').update(bytes).digest('hex'));
  });

  it('keeps the GMAC of the ciphertext, by which a scrub without keys finds damage', async () => {
    await layer.putObject(put('bucket', 'key', randomBytes(2 * BUFFER_BYTES + 777), { encryption }));
    const entry = await records.get(recordKeys.object('bucket', 'key'));
    const record = decodeObject(entry?.value ?? Buffer.alloc(0), 'bucket', 'key');
    if (record.body.kind !== 'blob') throw new Error('the body is a blob');
    const mac = new Gmac();
    mac.update(await readStored(folder.path, record.body.blob));
    expect(record.body).toMatchObject({ mac: mac.digest() });
  });

  it('keeps bodies apart that come at once, more than there are slots', async () => {
    const bodies = Array.from({ length: SLOTS + 3 }, () => randomBytes(BUFFER_BYTES + 777));
    await Promise.all(bodies.map((bytes, index) => layer.putObject(put('bucket', `${index}`, bytes, { encryption }))));
    for (const [index, bytes] of bodies.entries()) {
      expect((await body(layer, 'bucket', `${index}`)).equals(bytes)).toBe(true);
    }
    expect(freeSeats()).toBe(SLOTS);
  });

  it('releases its slot when the client goes away', async () => {
    const bytes = Buffer.alloc(4 * BUFFER_BYTES);
    const answer = layer.putObject(put('bucket', 'key', bytes, { encryption, body: broken() }));
    await expect(answer).rejects.toThrow('the client went away');
    expect(await listed()).toEqual([]);
    expect(freeSeats()).toBe(SLOTS);
  });

  it('is refused when it is shorter or longer than announced', async () => {
    const bytes = randomBytes(2 * BUFFER_BYTES);
    for (const size of [bytes.length + 1, bytes.length - 1]) {
      const answer = layer.putObject({ ...put('bucket', 'key', bytes, { encryption }), size });
      await expect(answer).rejects.toMatchObject({ code: 'IncompleteBody' });
    }
    expect(await listed()).toEqual([]);
    expect(freeSeats()).toBe(SLOTS);
  });
});
