import type { BlobId, BlobStore } from '../../../server/store/blob-store.ts';
import { placeOf } from '../../../server/store/packed-id.ts';
import { commitOnce } from '../../../server/store/commits.ts';
import { within } from '../../../server/store/keys.ts';
import type { Key, RecordStore } from '../../../server/store/record-store.ts';
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { tagOf } from '../../../server/objects/checksums/block-sums.ts';
import { decodeObject, encodeObject, type ObjectRecord } from '../../../server/objects/records/object-record.ts';
import { decodeManifest } from '../../../server/objects/records/body-records.ts';
import { decodeBody, recordKeys } from '../../../server/objects/records/record-format.ts';
import { partsOf } from '../../../server/objects/records/upload-record.ts';
import { entries } from '../../../server/maintenance/verify/object-records.ts';
import { chunks, put, randomBody, readAll, testLayer, type TestLayer } from '../objects/test-layer.ts';

/** Larger than what lives in records; some packages of ciphertext. */
export const LARGE = 300_000;

interface Stores {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
}

interface FilledLayer extends TestLayer {
  /** Of the upload of `open`, which is not complete. */
  readonly uploadId: string;
}

/** Fills stores with one object of every kind, an upload with a part, and a blob on its way out. */
export async function filledLayer(options: Parameters<typeof testLayer>[0] = {}): Promise<FilledLayer> {
  const test = testLayer(options);
  const { layer } = test;
  await layer.createBucket('bucket', { location: '' });
  const sealed = { encryption: { scheme: 'SSE-S3' } } as const;
  await layer.putObject(put('bucket', 'small', randomBody(1_000)));
  await layer.putObject(put('bucket', 'small-sealed', randomBody(1_000), sealed));
  await layer.putObject(put('bucket', 'large', randomBody(LARGE)));
  await layer.putObject(put('bucket', 'large-sealed', randomBody(LARGE), sealed));
  await layer.putObject(put('bucket', 'empty', ''));
  const headers = { metadata: {} };
  const { uploadId } = await layer.createMultipartUpload({ bucket: 'bucket', key: 'parts', headers });
  const parts = [];
  for (const [index, size] of [5 * 1024 * 1024, 1_000].entries()) {
    const part = await layer.putPart({ ...put('bucket', 'parts', randomBody(size)), uploadId, partNumber: index + 1 });
    parts.push({ partNumber: index + 1, etag: part.etag });
  }
  await layer.completeMultipartUpload({ bucket: 'bucket', key: 'parts', uploadId, parts });
  const open = await layer.createMultipartUpload({ bucket: 'bucket', key: 'open', headers });
  await layer.putPart({ ...put('bucket', 'open', randomBody(2_000)), uploadId: open.uploadId, partNumber: 1 });
  await layer.putObject(put('bucket', 'replaced', randomBody(LARGE)));
  await layer.putObject(put('bucket', 'replaced', randomBody(LARGE)));
  return { ...test, uploadId: open.uploadId };
}

export async function recordOf({ records }: Pick<Stores, 'records'>, key: string): Promise<ObjectRecord> {
  const entry = await records.get(recordKeys.object('bucket', key));
  if (entry === undefined) throw new Error(`no object ${key}`);
  return decodeObject(entry.value, 'bucket', key);
}

export async function blobOf(test: Pick<Stores, 'records'>, key: string): Promise<BlobId> {
  const { body } = await recordOf(test, key);
  if (body.kind !== 'blob') throw new Error(`${key} has no blob`);
  return body.blob;
}

export async function valueOf({ records }: TestLayer, key: Key): Promise<Buffer> {
  const entry = await records.get(key);
  if (entry === undefined) throw new Error(`no record ${String(key)}`);
  return entry.value;
}

export async function readBlob({ blobs }: Pick<Stores, 'blobs'>, blob: BlobId): Promise<Buffer> {
  const place = placeOf(blob);
  if (place !== undefined) return readAll(blobs.read(blob, { start: 0, end: place.length }));
  for await (const { id, size } of blobs.list()) {
    if (id === blob) return readAll(blobs.read(blob, { start: 0, end: size }));
  }
  throw new Error(`no blob ${blob}`);
}

/** What a disk might do to a blob. */
export async function replaceBlob({ blobs }: TestLayer, blob: BlobId, bytes: Buffer): Promise<void> {
  await blobs.remove(blob);
  await blobs.write(blob, chunks(bytes, 65_536));
}

export async function writeRecord({ records }: Pick<Stores, 'records'>, key: Key, value: Buffer): Promise<void> {
  await commitOnce(records, { put: [{ key, value }] }, randomBytes);
}

export async function deleteRecord({ records }: Pick<Stores, 'records'>, key: Key): Promise<void> {
  await commitOnce(records, { delete: [key] }, randomBytes);
}

/** Writes the record of a plain blob as a server of format 2 did: with a sum of the whole and none of blocks. Resolves with the bytes. */
export async function makeOlder(stores: Stores, key: string, sum: 'crc' | 'gmac' = 'gmac'): Promise<Buffer> {
  const record = await recordOf(stores, key);
  const blob = await blobOf(stores, key);
  const bytes = await readBlob(stores, blob);
  const protection = sum === 'crc' ? { crc: crc32(bytes) } : { gmac: tagOf(bytes).toString('base64') };
  const body = { kind: 'blob' as const, blob, ...protection };
  await writeRecord(stores, recordKeys.object('bucket', key), encodeObject({ ...record, body }));
  await deleteRecord(stores, recordKeys.blockSums(blob));
  return bytes;
}

/** Of the object `parts`, and of the upload of `open`. */
export async function partBlobs(test: FilledLayer): Promise<readonly BlobId[]> {
  const { id, body } = await recordOf(test, 'parts');
  const manifest = decodeBody(await valueOf(test, recordKeys.manifest('bucket', 'parts')), id);
  if (manifest === undefined || body.kind !== 'parts') throw new Error('no parts');
  const uploaded = await Array.fromAsync(partsOf(test.records, test.uploadId, { limit: 10 }));
  return [...decodeManifest(manifest, body.crc), ...uploaded.map(({ record }) => record)].map(({ blob }) => blob);
}

/** The records `c` of all blobs, by their keys. */
export async function allBlockSums(records: RecordStore): Promise<ReadonlyMap<string, string>> {
  const found = await Array.fromAsync(entries(records, within('c')));
  return new Map(found.map(({ key, value }) => [key.toString('hex'), value.toString('hex')]));
}

/** One bit is another. */
export function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
  return changed;
}
