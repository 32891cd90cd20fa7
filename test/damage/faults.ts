import { randomBytes } from 'node:crypto';
import { rename, symlink, truncate, writeFile } from 'node:fs/promises';
import { commitOnce } from '../../server/store/commits.ts';
import { decodeObject } from '../../server/objects/records/object-record.ts';
import { decodeManifest } from '../../server/objects/records/body-records.ts';
import { decodeBody, encodeBody, recordKeys, versionOrder } from '../../server/objects/records/record-format.ts';
import { openDataFolder } from '../../server/store/data-folder.ts';
import { openLmdbRecordStore } from '../../server/store/lmdb/record-store.ts';
import type { RecordStore } from '../../server/store/record-store.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { fileOf, overwriteStored, readStored } from '../support/store/stored-body.ts';
import { isPacked } from '../../server/store/packed-id.ts';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { objectRecordKey } from '../../server/objects/records/version-place.ts';

export const faults = ['bit', 'truncation', 'swap', 'symlink', 'older'] as const;
type Fault = (typeof faults)[number];

export const places = ['blob', 'part', 'inline', 'encrypted blob', 'encrypted part', 'encrypted inline'] as const;
type Place = (typeof places)[number];

/** An object, and what happens to its bytes. */
export interface Victim {
  readonly key: string;
  readonly bytes: Buffer;
  readonly fault: Fault;
  readonly place: Place;
  /** A newer version is put on top of it. */
  readonly noncurrent: boolean;
  /** Of the bucket with versions; known when it is stored. */
  versionId?: string | undefined;
}

/** The stored bytes of an object, and how others take their place. */
interface StoredBody {
  readonly bytes: Buffer;
  /** Undefined where the bytes share a file, or are a record. */
  readonly file: string | undefined;
  readonly packed?: boolean;
  readonly replace: (bytes: Buffer) => Promise<void>;
}

/** The stored bytes of each of these objects, of a server that does not run. */
export function storedBytes(folder: string, bucket: string, keys: readonly string[]): Promise<Map<string, Buffer>> {
  return withRecords(folder, async (records, blobs) => {
    const found = new Map<string, Buffer>();
    for (const key of keys) found.set(key, (await bodyOf(records, blobs, bucket, { key, noncurrent: false })).bytes);
    return found;
  });
}

/** Damages each victim in its own way; `earlier` has what was stored before of those that get an older file back. */
export function damage(
  folder: string,
  bucket: string,
  { victims, earlier }: { readonly victims: readonly Victim[]; readonly earlier: ReadonlyMap<string, Buffer> },
  random: SeededRandom,
): Promise<void> {
  return withRecords(folder, async (records, blobs) => {
    const bodies = new Map<Victim, StoredBody>();
    for (const victim of victims) bodies.set(victim, await bodyOf(records, blobs, bucket, victim));
    for (const [index, victim] of victims.entries()) {
      const body = bodies.get(victim);
      const other = bodies.get(victims[(index + 1) % victims.length] ?? victim);
      if (body !== undefined && other !== undefined) {
        await damageOne(victim, { body, other, earlier: earlier.get(victim.key) }, random);
      }
    }
  });
}

async function damageOne(
  { fault }: Victim,
  { body, other, earlier }: { body: StoredBody; other: StoredBody; earlier: Buffer | undefined },
  random: SeededRandom,
): Promise<void> {
  const { bytes, file, packed, replace } = body;
  switch (fault) {
    case 'truncation': {
      const length = random.between(0, bytes.length - 1);
      if (file !== undefined) return truncate(file, length);
      // The file of a packed body goes on after it: what was cut off reads as zeros.
      return replace(
        packed
          ? Buffer.concat([bytes.subarray(0, length), Buffer.alloc(bytes.length - length)])
          : bytes.subarray(0, length),
      );
    }
    case 'swap':
      return replace(other.bytes);
    case 'older':
      return replace(earlier ?? other.bytes);
    case 'symlink':
      if (file !== undefined) {
        // To the right bytes: what a link leads to can be changed by others.
        await rename(file, `${file}-elsewhere`);
        return symlink(`${file}-elsewhere`, file);
      }
      return replace(flipped(bytes, random));
    case 'bit':
      return replace(flipped(bytes, random));
  }
}

function flipped(bytes: Buffer, random: SeededRandom): Buffer {
  const changed = Buffer.from(bytes);
  const at = random.between(0, bytes.length - 1);
  changed[at] = (changed[at] ?? 0) ^ (1 << random.between(0, 7));
  return changed;
}

async function bodyOf(
  records: RecordStore,
  blobs: string,
  bucket: string,
  { key, noncurrent, versionId }: Pick<Victim, 'key' | 'noncurrent' | 'versionId'>,
): Promise<StoredBody> {
  const order = noncurrent ? versionOrder(versionId) : undefined;
  const valueOf = async (recordKey: Buffer): Promise<Buffer> => {
    const entry = await records.get(recordKey);
    if (entry === undefined) throw new Error(`object ${key} is not complete`);
    return entry.value;
  };
  const { id, body } = decodeObject(await valueOf(objectRecordKey({ bucket, key, order })), bucket, key);
  if (body.kind === 'inline') {
    const place = recordKeys.inline(bucket, key, order);
    return {
      bytes: Buffer.from(decodeBody(await valueOf(place), id) ?? []),
      file: undefined,
      async replace(bytes) {
        await commitOnce(records, { put: [{ key: place, value: encodeBody(id, bytes) }] }, randomBytes);
      },
    };
  }
  const manifest = async () =>
    decodeManifest(
      decodeBody(await valueOf(recordKeys.manifest(bucket, key, order)), id) ?? Buffer.alloc(0),
      undefined,
    );
  const blob = body.kind === 'blob' ? body.blob : (await manifest())[0]?.blob;
  if (blob === undefined) throw new Error(`object ${key} has no blob`);
  const bytes = await readStored(blobs, blob);
  // A body that shares its file is damaged in its place.
  if (isPacked(blob))
    return { bytes, file: undefined, packed: true, replace: (other) => overwriteStored(blobs, blob, other) };
  const file = fileOf(blobs, blob).path;
  return { bytes, file, replace: (other) => writeFile(file, other) };
}

async function withRecords<T>(path: string, work: (records: RecordStore, blobs: string) => Promise<T>): Promise<T> {
  const folder = await openDataFolder(path);
  const records = openLmdbRecordStore({ folder: folder.recordsFolder });
  try {
    return await work(records, folder.blobsFolder);
  } finally {
    await records.close();
    await folder.close();
  }
}

/** Writes an object whose bytes are where the place says. */
export async function store(
  client: S3Client,
  { Bucket, Key, Body }: { readonly Bucket: string; readonly Key: string; readonly Body: Buffer },
  place: Place,
): Promise<string | undefined> {
  const sealed = place.startsWith('encrypted') ? { ServerSideEncryption: 'AES256' as const } : {};
  if (!place.endsWith('part')) {
    const { VersionId } = await client.send(new PutObjectCommand({ Bucket, Key, Body, ...sealed }));
    return VersionId;
  }
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...sealed }));
  const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body }));
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  const completed = new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload });
  return (await client.send(completed)).VersionId;
}
