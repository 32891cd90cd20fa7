import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CustomerKey } from '../../server/encryption/customer-key.ts';
import { type DigestKeys, digestKeys, noDigestKeys } from '../../server/encryption/digest-keys.ts';
import { keyServiceKeys } from '../../server/encryption/key-service-keys.ts';
import type { KeySource } from '../../server/encryption/key-source.ts';
import { sealedRecords } from '../../server/encryption/sealed-records.ts';
import { FakeKeyService } from '../../server/encryption/testing.ts';
import { readOldDigestsState, sealOldDigests } from '../../server/maintenance/seal-old-digests.ts';
import { takeSnapshot } from '../../server/maintenance/snapshot.ts';
import { verifyStores } from '../../server/maintenance/verify-stores.ts';
import type { Checksum, ObjectLayer, RequestedEncryption } from '../../server/objects/object-layer.ts';
import { createObjectLayer } from '../../server/objects/objects.ts';
import { put } from '../../server/objects/testing.ts';
import { type DataFolder, openDataFolder } from '../../server/store/data-folder.ts';
import { openFilesBlobStore } from '../../server/store/files/files-blob-store.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/lmdb-record-store.ts';
import type { BlobStore } from '../../server/store/blob-store.ts';
import type { RecordStore } from '../../server/store/record-store.ts';
import { temporaryFolder } from '../../server/store/temporary-folder.ts';
import { certain, DigestSearch } from '../harness/find-digests.ts';
import { writeAsBefore } from '../harness/old-records.ts';

/** Objects of low entropy: a nightly run has a thousand. */
const OBJECTS = Number(process.env['COFFER_SEALED_DIGESTS_OBJECTS'] ?? 100);
const algorithms: readonly Checksum['algorithm'][] = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'];
/**
 * Values of 32 bits are found by chance, about one in four searches for a thousand. A store that leaks has a fifteenth of the objects
 * for each algorithm and kind of encryption.
 */
const BY_CHANCE = Math.ceil(OBJECTS / 400);
const customerKey = new CustomerKey(Buffer.alloc(32, 3));
const schemes: readonly RequestedEncryption[] = [
  { scheme: 'SSE-S3' },
  { scheme: 'SSE-KMS' },
  { scheme: 'SSE-C', customerKey },
];
const FIRST = Buffer.alloc(5 * 1024 * 1024, '0815');
const LARGE = Buffer.alloc(200_000, '0816');
const log = { info: () => undefined, error: () => undefined };

let base: Awaited<ReturnType<typeof temporaryFolder>>;
let path: string;
let folder: DataFolder;
let records: RecordStore;
let blobs: BlobStore;
let service: FakeKeyService;
let keys: KeySource;
let digests: DigestKeys;
let layer: ObjectLayer;

/** What a server does when it starts. */
async function start(): Promise<void> {
  keys = keyServiceKeys(service, { defaultKey: 'default-key' });
  const sealed = sealedRecords({ records, keys });
  await sealed.start();
  digests = digestKeys(() => sealed.backendKey());
  layer = createObjectLayer({ records, blobs, keys, digests });
}

beforeEach(async () => {
  base = await temporaryFolder();
  path = join(base.path, 'data');
  folder = await openDataFolder(path);
  records = openLmdbRecordStore({ folder: folder.recordsFolder });
  blobs = openFilesBlobStore(folder.blobsFolder);
  service = new FakeKeyService();
  await start();
});
afterEach(async () => {
  await records.close();
  await folder.close();
  await base.remove();
});

function pin(at: number): string {
  return String(at).padStart(4, '0');
}

/** Objects, a large one, one of parts, and an upload under way, for each kind of encryption; or plain. Answers how they are shown. */
async function fill(kinds: readonly (RequestedEncryption | undefined)[]): Promise<void> {
  await layer.createBucket('bucket', { location: '' });
  for (let at = 0; at < OBJECTS; at += 1) {
    const algorithm = algorithms[at % algorithms.length] ?? 'CRC32';
    await store(`pin-${pin(at)}`, Buffer.from(pin(at)), kinds[at % kinds.length], algorithm);
  }
  for (const [at, encryption] of kinds.entries()) {
    await store(`large-${at}`, LARGE, encryption, 'SHA256');
    await upload(`parts-${at}`, encryption, true);
    await upload(`open-${at}`, encryption, false);
  }
}

async function store(
  name: string,
  bytes: Buffer,
  encryption: RequestedEncryption | undefined,
  compute: Checksum['algorithm'],
) {
  await layer.putObject(put('bucket', name, bytes, { digests: { compute }, ...(encryption && { encryption }) }));
}

async function upload(name: string, encryption: RequestedEncryption | undefined, complete: boolean) {
  const given = encryption?.scheme === 'SSE-C' ? { customerKey } : {};
  const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT' } as const;
  const headers = { metadata: {} };
  const named = { bucket: 'bucket', key: name };
  const asked = { ...named, headers, checksum, ...(encryption && { encryption }) };
  const { uploadId } = await layer.createMultipartUpload(asked);
  const parts = [];
  for (const [index, bytes] of (complete ? [FIRST, Buffer.from(pin(1))] : [Buffer.from(pin(2))]).entries()) {
    const partNumber = index + 1;
    const part = await layer.putPart({ ...put('bucket', name, bytes), uploadId, partNumber, ...given });
    parts.push({ partNumber, etag: part.etag });
  }
  if (complete) await layer.completeMultipartUpload({ ...named, uploadId, parts, ...given });
}

function search(): DigestSearch {
  const contents: [string, Buffer][] = Array.from({ length: OBJECTS }, (_, at) => [pin(at), Buffer.from(pin(at))]);
  const whole = Buffer.concat([FIRST, Buffer.from(pin(1))]);
  return new DigestSearch([...contents, ['the large one', LARGE], ['the first part', FIRST], ['the whole', whole]]);
}

/** What is readable in all files of a folder but large blobs, which are ciphertext of their own. */
async function readable(within: string): Promise<string[]> {
  const needles = search();
  const found = new Set<string>();
  for (const name of await readdir(within, { recursive: true })) {
    const file = join(within, name);
    const about = await stat(file);
    if (!about.isFile() || (name.startsWith('blobs') && about.size > 1_000_000)) continue;
    for (const what of needles.in(await readFile(file))) found.add(what);
  }
  return certain(found, BY_CHANCE);
}

async function shown() {
  const page = await layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 10_000 });
  const infos = [];
  for (const { key } of page.objects) {
    const isCustomers = await layer.headObject('bucket', key).then(
      () => false,
      () => true,
    );
    infos.push(await layer.headObject('bucket', key, undefined, isCustomers ? customerKey : undefined));
  }
  return { listed: page.objects.map((object) => ({ ...object })), infos };
}

describe('digests in a data folder', () => {
  it('are all found where objects are plain', { timeout: 120_000 }, async () => {
    await fill([undefined]);
    const found = await readable(path);
    for (let at = 0; at < OBJECTS; at += 1) expect(found).toContain(`MD5 of ${pin(at)}, hexadecimal`);
    for (const algorithm of algorithms) expect(found.some((what) => what.startsWith(algorithm))).toBe(true);
    expect(found).toContain('CRC64NVME of the first part, base64');
    expect(found).toContain('CRC64NVME of the whole, base64');
    expect(found).toContain(`MD5 of ${pin(2)}, hexadecimal`);
  });

  it('are never found where objects are encrypted, nor in a snapshot', { timeout: 120_000 }, async () => {
    await fill(schemes);
    expect(await readable(path)).toEqual([]);
    const out = join(base.path, 'snapshot');
    await takeSnapshot({ records, folder: path, out });
    expect(await readable(out)).toEqual([]);
  });

  it('that older servers left readable are sealed, and gone from a compact copy', { timeout: 120_000 }, async () => {
    await fill(schemes);
    const before = await shown();
    await writeAsBefore(records, { digests }, customerKey);
    expect((await readable(path)).length).toBeGreaterThan(OBJECTS);
    expect(await shown()).toEqual(before);

    let now = Date.now();
    const round = () => sealOldDigests({ records, digests, hasKeys: true, log, clock: () => now });
    expect(await round()).toMatchObject({ dropped: 0, failed: 0 });
    now += 3_600_000;
    expect(await round()).toMatchObject({ sealed: 0, clean: true });
    expect(await shown()).toEqual(before);

    const out = join(base.path, 'compact');
    await takeSnapshot({ records, folder: path, out });
    expect(await readable(out)).toEqual([]);
    const verified = verifyStores({ records, blobs, now, bodies: true });
    expect(await Array.fromAsync(verified)).toEqual([]);
  });

  it('of uploads that an older server began can be completed', { timeout: 120_000 }, async () => {
    await layer.createBucket('bucket', { location: '' });
    for (const [at, encryption] of schemes.entries()) await upload(`open-${at}`, encryption, false);
    await writeAsBefore(records, { digests }, customerKey);
    await sealOldDigests({ records, digests, hasKeys: true, log });
    const { uploads } = await layer.listMultipartUploads({
      bucket: 'bucket',
      prefix: '',
      delimiter: '',
      afterKey: '',
      afterUploadId: '',
      limit: 10,
    });
    for (const { key, uploadId } of uploads) {
      const { parts } = await layer.listParts({ bucket: 'bucket', key, uploadId, after: 0, limit: 10 });
      const info = await layer.completeMultipartUpload({
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
    await layer.createBucket('bucket', { location: '' });
    for (let at = 0; at < 20; at += 1) await store(`pin-${pin(at)}`, Buffer.from(pin(at)), schemes[0], 'CRC32');
    await writeAsBefore(records, { digests }, customerKey);
    const stopping = new AbortController();
    let asked = 0;
    const stopped: DigestKeys = {
      ofBucket(bucket) {
        asked += 1;
        if (asked === 10) stopping.abort();
        return digests.ofBucket(bucket);
      },
    };
    const options = { records, hasKeys: true, log };
    await expect(sealOldDigests({ ...options, digests: stopped, signal: stopping.signal })).rejects.toThrow();
    const { sealed = 0, after } = (await readOldDigestsState(records)) ?? {};
    expect(sealed).toBeGreaterThan(5);
    expect(after).toBeDefined();
    expect(await sealOldDigests({ ...options, digests })).toMatchObject({ sealed: 20 });
  });

  it('wait while a server of several has no key service, and lose checksums of SSE-C where none has', async () => {
    await layer.createBucket('bucket', { location: '' });
    await store('key', Buffer.from(pin(1)), schemes[2], 'SHA256');
    const { etag } = await layer.headObject('bucket', 'key', undefined, customerKey);
    await writeAsBefore(records, { digests }, customerKey);
    const options = { records, digests: noDigestKeys, log };
    expect(await sealOldDigests({ ...options, hasKeys: true })).toBeUndefined();
    expect(await sealOldDigests({ ...options, hasKeys: false })).toMatchObject({ dropped: 1, failed: 0 });
    const info = await layer.headObject('bucket', 'key', undefined, customerKey);
    expect(info.etag).toBe(etag);
    expect(info.checksum).toBeUndefined();
  });
});

describe('a cold listing', () => {
  it(
    'of a thousand encrypted objects asks the key service once, when the server starts',
    { timeout: 120_000 },
    async () => {
      await layer.createBucket('bucket', { location: '' });
      const encryption = { scheme: 'SSE-S3' } as const;
      const puts = Array.from({ length: 1_000 }, (_, at) =>
        layer.putObject(put('bucket', pin(at), pin(at), { encryption })),
      );
      const etags = (await Promise.all(puts)).map(({ etag }) => etag);
      expect(etags[7]).toBe(createHash('md5').update(pin(7)).digest('hex'));
      service.calls.length = 0;
      await start();
      const listing = await layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 1_000 });
      expect(listing.objects.map(({ etag }) => etag)).toEqual(etags);
      expect(service.calls).toEqual(['decrypt default-key']);
      service.calls.length = 0;
      await layer.listObjects({ bucket: 'bucket', prefix: '', delimiter: '', after: '', limit: 1_000 });
      expect(service.calls).toEqual([]);
    },
  );
});
