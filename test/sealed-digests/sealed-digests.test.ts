import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DigestKeys, noDigestKeys } from '../../server/encryption/digest-keys.ts';
import { readOldDigestsState, sealOldDigests } from '../../server/maintenance/rewrap/seal-old-digests.ts';
import { takeSnapshot } from '../../server/maintenance/snapshot.ts';
import { verifyStores } from '../../server/maintenance/verify/verify-stores.ts';
import { decodeObject } from '../../server/objects/records/object-record.ts';
import { within } from '../../server/store/keys.ts';
import { put } from '../support/objects/test-layer.ts';
import { type DataFolder, openDataFolder } from '../../server/store/data-folder.ts';
import { openFilesBlobStore } from '../../server/store/files/blob-store.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import type { BlobStore } from '../../server/store/blob-store.ts';
import type { RecordStore } from '../../server/store/record-store.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { inFullForm } from '../support/full-form.ts';
import { DigestSearch } from './find-digests.ts';
import { writeAsBefore } from './old-records.ts';
import { storeTool } from '../store-tool/run-store-tool.ts';
import {
  algorithms,
  customerKey,
  EncryptedStore,
  filesIn,
  OBJECTS,
  pin,
  readableIn,
  schemes,
} from './encrypted-store.ts';

const log = { info: () => undefined, error: () => undefined };

let base: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
let folder: DataFolder;
let records: RecordStore;
let blobs: BlobStore;
let store: EncryptedStore;

beforeEach(async () => {
  base = await temporaryFolder();
  path = join(base.path, 'data');
  folder = await openDataFolder(path);
  records = openLmdbRecordStore({ folder: folder.recordsFolder });
  blobs = openFilesBlobStore(folder.blobsFolder);
  store = new EncryptedStore(records, blobs);
  await store.start();
});
afterEach(async () => {
  await records.close();
  await folder.close();
  await base.remove();
});

/** By `coffer-store restore`, which verifies the snapshot first. */
async function restored(snapshot: string): Promise<string> {
  const out = `${snapshot}-restored`;
  const { code, stderr } = await storeTool(['restore', snapshot, out]);
  expect(code, stderr).toBe(0);
  return out;
}

/** What a server shows that starts on another folder. */
async function shownBy(other: string) {
  const data = await openDataFolder(other);
  const moved = openLmdbRecordStore({ folder: data.recordsFolder });
  try {
    const there = new EncryptedStore(moved, openFilesBlobStore(data.blobsFolder), store.service);
    await there.start();
    return await there.shown();
  } finally {
    await moved.close();
    await data.close();
  }
}

const readable = (what: string, within: string) => readableIn(what, filesIn(within));

const value = (at: number) => Buffer.from(pin(at));

function crc(at: number): Buffer {
  const digest = Buffer.alloc(4);
  digest.writeUInt32BE(crc32(value(at)));
  return digest;
}

describe('the search for digests', () => {
  const contents: [string, Buffer][] = Array.from({ length: 500 }, (_, at) => [pin(at), value(at)]);

  it('finds one CRC of 32 bits that is written as text, and none within a longer token', () => {
    for (const text of [crc(3).toString('hex'), crc(3).toString('base64'), String(crc32(value(3)))]) {
      const search = new DigestSearch(contents);
      search.add(Buffer.from(`1${text} ${text.replace(/=+$/, '')}1`));
      expect(search.found()).toEqual([]);
      search.add(Buffer.from(`{"value":"${text}"}`));
      expect(search.found()).toEqual([expect.stringContaining(`CRC32 of ${pin(3)}, `)]);
    }
  });

  it('finds the raw CRCs of a fifth of the objects in random bytes, and nothing without them', () => {
    const bytes = randomBytes(inFullForm(16, 4) * 1024 * 1024);
    const search = new DigestSearch(contents);
    search.add(bytes);
    expect(search.found()).toEqual([]);
    const { hits, control, bound, values } = search.short();
    expect(values).toBeGreaterThan(1_900);
    expect(control).toBeLessThanOrEqual(bound);
    expect(hits.length).toBeLessThanOrEqual(bound);
    for (let at = 0; at < 100; at += 1) search.add(crc(at));
    expect(search.found()).toContain(`CRC32 of ${pin(7)}, raw`);
  });
});

describe('digests in a data folder', () => {
  it('are all found where objects are plain', { timeout: 300_000 }, async () => {
    await store.putAll([undefined]);
    const found = await readable('a plain data folder', path);
    for (let at = 0; at < OBJECTS; at += 1) expect(found).toContain(`MD5 of ${pin(at)}, hexadecimal`);
    for (const algorithm of algorithms) expect(found.some((what) => what.startsWith(`${algorithm} of`))).toBe(true);
    expect(found).toContain(`CRC32 of ${pin(0)}, base64`);
    expect(found).toContain(`CRC32 of ${pin(0)}, decimal`);
    expect(found).toContain('CRC64NVME of the huge one, base64');
    expect(found).toContain('CRC64NVME of the first part, base64');
    expect(found).toContain('CRC64NVME of the whole, base64');
    expect(found).toContain(`MD5 of ${pin(2)}, hexadecimal`);
  });

  it('are never found where objects are encrypted, nor in a snapshot, nor restored', { timeout: 300_000 }, async () => {
    await store.putAll(schemes);
    expect(await readable('a data folder', path)).toEqual([]);
    await store.makeNoncurrent();
    expect(await readable('a data folder with noncurrent versions', path)).toEqual([]);
    const out = join(base.path, 'snapshot');
    await takeSnapshot({ records, folder: path, out });
    expect(await readable('its snapshot', out)).toEqual([]);
    const back = await restored(out);
    expect(await readable('the snapshot restored', back)).toEqual([]);
    expect(await shownBy(back)).toEqual(await store.shown());
  });

  it('that older servers left readable are sealed, and gone from a compact copy', { timeout: 300_000 }, async () => {
    await store.putAll(schemes);
    const before = await store.shown();
    await writeAsBefore(records, store, customerKey);
    const left = await readable('a data folder as older servers wrote it', path);
    expect(left.length).toBeGreaterThan(OBJECTS);
    expect(await store.shown()).toEqual(before);
    await store.makeNoncurrent();
    const versions = await store.shown();

    let now = Date.now();
    const round = () => sealOldDigests({ records, digests: store.digests, hasKeys: true, log, clock: () => now });
    expect(await round()).toMatchObject({ dropped: 0, failed: 0 });
    now += 3_600_000;
    expect(await round()).toMatchObject({ sealed: 0, clean: true });
    expect(await store.shown()).toEqual(versions);

    const out = join(base.path, 'compact');
    await takeSnapshot({ records, folder: path, out });
    expect(await readable('its compact copy, brought forward', out)).toEqual([]);
    expect(await readable('the compact copy restored', await restored(out))).toEqual([]);
    const verified = verifyStores({ records, blobs, now, bodies: true });
    expect(await Array.fromAsync(verified)).toEqual([]);
  });

  it('of uploads that an older server began can be completed', { timeout: 300_000 }, async () => {
    await store.layer.createBucket('bucket', { location: '' });
    for (const [at, encryption] of schemes.entries()) await store.upload(`open-${at}`, encryption, false);
    await writeAsBefore(records, store, customerKey);
    await sealOldDigests({ records, digests: store.digests, hasKeys: true, log });
    const { uploads } = await store.layer.listMultipartUploads({
      bucket: 'bucket',
      prefix: '',
      delimiter: '',
      afterKey: '',
      afterUploadId: '',
      limit: 10,
    });
    for (const { key, uploadId } of uploads) {
      const { parts } = await store.layer.listParts({ bucket: 'bucket', key, uploadId, after: 0, limit: 10 });
      const info = await store.layer.completeMultipartUpload({
        bucket: 'bucket',
        key,
        uploadId,
        parts,
        ...(key === 'open-2' && { customerKey }),
      });
      expect(info.checksum).toEqual(parts[0]?.checksum);
    }
    expect(uploads).toHaveLength(3);
  });

  it('go on where a round was stopped', async () => {
    await store.layer.createBucket('bucket', { location: '' });
    for (let at = 0; at < 20; at += 1) await store.store(`pin-${pin(at)}`, Buffer.from(pin(at)), schemes[0], 'CRC32');
    await writeAsBefore(records, store, customerKey);
    const stopping = new AbortController();
    let asked = 0;
    const stopped: DigestKeys = {
      ofBucket(bucket) {
        asked += 1;
        if (asked === 10) stopping.abort();
        return store.digests.ofBucket(bucket);
      },
    };
    const options = { records, hasKeys: true, log };
    await expect(sealOldDigests({ ...options, digests: stopped, signal: stopping.signal })).rejects.toThrow();
    const { sealed = 0, after } = (await readOldDigestsState(records)) ?? {};
    expect(sealed).toBeGreaterThan(5);
    expect(after).toBeDefined();
    expect(await sealOldDigests({ ...options, digests: store.digests })).toMatchObject({ sealed: 20 });
  });

  it('of versions that became noncurrent since are sealed too', async () => {
    await store.layer.createBucket('bucket', { location: '' });
    for (const name of ['one', 'other']) await store.store(name, Buffer.from(pin(1)), schemes[0], 'CRC32');
    const before = await store.layer.headObject('bucket', 'one');
    await writeAsBefore(records, store, customerKey);
    await store.layer.putBucketVersioning('bucket', { status: 'Enabled' });
    for (const name of ['one', 'other']) await store.store(name, Buffer.from(pin(2)), schemes[0], 'CRC32');
    expect(await sealOldDigests({ records, digests: store.digests, hasKeys: true, log })).toMatchObject({ sealed: 2 });
    for await (const item of records.scan(within('v'))) {
      if (item.kind === 'entry') expect(decodeObject(item.value, 'bucket', 'key').etag).toBeInstanceOf(Buffer);
    }
    const { etag, checksum } = await store.layer.headObject('bucket', 'one', { versionId: 'null' });
    expect({ etag, checksum }).toEqual({ etag: before.etag, checksum: before.checksum });
  });

  it('wait while a server of several has no key service, and lose checksums of SSE-C where none has', async () => {
    await store.layer.createBucket('bucket', { location: '' });
    await store.store('key', Buffer.from(pin(1)), schemes[2], 'SHA256');
    const { etag } = await store.layer.headObject('bucket', 'key', { customerKey });
    await writeAsBefore(records, store, customerKey);
    const options = { records, digests: noDigestKeys, log };
    expect(await sealOldDigests({ ...options, hasKeys: true })).toBeUndefined();
    expect(await sealOldDigests({ ...options, hasKeys: false })).toMatchObject({ dropped: 1, failed: 0 });
    const info = await store.layer.headObject('bucket', 'key', { customerKey });
    expect(info.etag).toBe(etag);
    expect(info.checksum).toBeUndefined();
  });
});

describe('a cold listing', () => {
  it(
    'of a thousand encrypted objects asks the key service once, when the server starts',
    { timeout: 300_000 },
    async () => {
      await store.layer.createBucket('bucket', { location: '' });
      const encryption = { scheme: 'SSE-S3' } as const;
      const puts = Array.from({ length: 1_000 }, (_, at) =>
        store.layer.putObject(put('bucket', pin(at), pin(at), { encryption })),
      );
      const etags = (await Promise.all(puts)).map(({ etag }) => etag);
      expect(etags[7]).toBe(createHash('md5').update(pin(7)).digest('hex'));
      store.service.calls.length = 0;
      await store.start();
      const listing = await store.layer.listObjects({
        bucket: 'bucket',
        prefix: '',
        delimiter: '',
        after: '',
        limit: 1_000,
      });
      expect(listing.objects.map(({ etag }) => etag)).toEqual(etags);
      expect(store.service.calls).toEqual(['decrypt default-key']);
      store.service.calls.length = 0;
      await store.layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 1_000 });
      expect(store.service.calls).toEqual([]);
    },
  );
});
