import { hash } from 'node:crypto';
import type { BlobId, SegmentId } from '../../store/blob-store.ts';
import { placeOf } from '../../store/packed-id.ts';
import { tierOf } from '../../store/tiered-id.ts';
import { key, KEY_LIMIT } from '../../store/keys.ts';
import type { Key } from '../../store/record-store.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Order } from './version-order.ts';
import { StoreError } from '../../store/store-error.ts';

/** Records of the object layer: one byte of format version, then JSON. A server refuses the records of a newer one instead of guessing. */
const FORMAT = 1;

export function encodeRecord(record: object, format = FORMAT): Buffer {
  const json = JSON.stringify(record);
  const bytes = Buffer.allocUnsafe(1 + Buffer.byteLength(json));
  bytes[0] = format;
  bytes.write(json, 1);
  return bytes;
}

/**
 * Decodes a record. `what` names it in the message; `newest` is its newest format, where that is not the common one. The shape is
 * trusted: only this server's formats carry its version byte.
 */
export function decodeRecord(value: Buffer, what: string, newest = FORMAT): unknown {
  checkFormat(value, what, newest);
  return parseRecord(value, 1, what);
}

/** Parses the JSON of a record, from byte `start` on. */
export function parseRecord(value: Buffer, start: number, what: string): unknown {
  try {
    return JSON.parse(value.toString('utf8', start));
  } catch (error) {
    throw new StoreError('unreadable-record', `the record of ${what} is damaged`, { cause: error });
  }
}

function checkFormat(value: Buffer, what: string, newest = FORMAT): void {
  if (value[0] === FORMAT) return;
  throw new StoreError(
    'unreadable-record',
    `the record of ${what} has format ${value[0]}, this server knows ${newest}: start the newer server that wrote it`,
  );
}

/**
 * The last part of the keys of a noncurrent version: the bits of its order inverted, so that the newest comes first, or empty for the null
 * version. The records of a current version have no such part.
 */
export type VersionOrder = Buffer;

/** Returns the last part of the keys; undefined is the null version. */
export function versionOrder(order: Order | undefined): VersionOrder {
  const part = Buffer.from(order ?? '', 'hex');
  for (let at = 0; at < part.length; at += 1) part[at] = ~(part[at] ?? 0);
  return part;
}

/** Returns the order of the last part of keys; undefined for the null version. */
export function orderOfPart(part: VersionOrder): Order | undefined {
  // To invert bits twice is to keep them.
  return part.length === 0 ? undefined : versionOrder(part.toString('hex')).toString('hex');
}

/** The record `w` of a version whose id is not its order: one byte of format version, 16 bytes of order, the id. */
const INDEX_FORMAT = 1;
const INDEX_ID = 1 + 16;

export function encodeVersionIndex({
  order,
  versionId,
}: {
  readonly order: Order;
  readonly versionId: string;
}): Buffer {
  return Buffer.concat([Buffer.of(INDEX_FORMAT), Buffer.from(order, 'hex'), Buffer.from(versionId)]);
}

/** Throws `StoreError`. */
export function decodeVersionIndex(value: Buffer, what: string): { readonly order: Order; readonly versionId: string } {
  if (value[0] !== INDEX_FORMAT || value.length <= INDEX_ID) {
    throw new StoreError('unreadable-record', `the index record of ${what} is damaged, or of a newer server`);
  }
  return { order: value.toString('hex', 1, INDEX_ID), versionId: value.toString('utf8', INDEX_ID) };
}

/**
 * The keys of all records of the object layer. Small records are under `b`, `o`, `l` and `v`, which HEAD and listings read; records that
 * may be large have keys of their own. A key has one current version, under `o` or `l`; see docs/decisions/0030-versions.md and
 * docs/decisions/0082-format-4.md.
 */
export const recordKeys = {
  bucket: (bucket: string): Key => key('b', bucket),
  /** The public access block of the account, which counts for all buckets. */
  accountBlock: key('account', 'public-access-block'),
  /** The current version, if it is an object. */
  object: (bucket: string, objectKey: string): Key => key('o', bucket, objectKey),
  /** The current version, if it is a delete marker. */
  marker: (bucket: string, objectKey: string): Key => key('l', bucket, objectKey),
  /** A noncurrent version, an object or a delete marker. */
  version: (bucket: string, objectKey: string, order: VersionOrder): Key => key('v', bucket, objectKey, order),
  /** The order of a version whose id is not its order. */
  versionIndex: (bucket: string, objectKey: string, versionId: string): Key =>
    key('w', bucket, objectKey, hash('sha256', versionId, 'buffer').subarray(0, 16)),
  /** The body of a small object. */
  inline: (bucket: string, objectKey: string, order?: VersionOrder): Key => ofVersion('i', bucket, objectKey, order),
  /** The parts of an object made by multipart upload. */
  manifest: (bucket: string, objectKey: string, order?: VersionOrder): Key => ofVersion('m', bucket, objectKey, order),
  upload: (bucket: string, objectKey: string, uploadId: string): Key => key('u', bucket, objectKey, uploadId),
  part: (uploadId: string, partNumber: number): Key => key('p', uploadId, String(partNumber).padStart(5, '0')),
  /** Parts that an aborted or completed upload left over. */
  leftovers: (uploadId: string): Key => key('q', uploadId),
  /** The quarantine of an object; the object's own record has it too. */
  damage: (bucket: string, objectKey: string, order?: VersionOrder): Key => ofVersion('d', bucket, objectKey, order),
  /** A counter of the objects of a bucket that moved from the noncurrent versions to the current ones. Absent for 0. */
  promotions: (bucket: string): Key => key('promotions', bucket),
  /** The destination of the access logs of a bucket. */
  accessLog: (bucket: string): Key => key('access-log', bucket),
  /** The configurations of inventories of a bucket. */
  inventory: (bucket: string): Key => key('inventory', bucket),
  /** A counter of the bytes of a bucket with a quota. `counter` is of the bucket's record. */
  quotaBytes: (bucket: string, counter: string): Key => key('quota', bucket, counter),
  /** The progress of the first count of a bucket with a quota. */
  quotaCount: (bucket: string, counter: string): Key => key('quota', bucket, counter, 'count'),
  /** A counter of the commits of parts of an upload, in a bucket with a quota. */
  partCommits: (uploadId: string): Key => key('quota-parts', uploadId),
  /** The time until which no blob may be removed, because a snapshot reads the records. */
  hold: (id: string): Key => key('hold', id),
  /** The state of a named key. */
  keyUse: (keyName: string): Key => key('k', 'use', keyName),
  /** The sums of a plain blob's blocks, where they are not in its protection. */
  blockSums: (blob: BlobId): Key => key('c', blob),
  /** The owner of a blob. */
  owner: (blob: BlobId): Key => key('r', blob),
  /** A blob, or a segment, that garbage collection has abandoned: its writer may not commit it any more. */
  tombstone: (blob: BlobId | SegmentId): Key => key('t', placeOf(blob)?.segment ?? blob),
  /** The bytes of a segment that no body uses any more. */
  garbage: (segment: SegmentId): Key => key('g', segment),
  /** A version that may be due to move to a tier at once. `unique` begins with the time. */
  dueTransition: (unique: Buffer): Key => key('transition', unique),
  /** A version whose body a client asked to restore from its tier. */
  askedRestore: (unique: Buffer): Key => key('restore', unique),
  /** A version with a restored copy. `unique` begins with the time at which the copy ends. */
  restored: (unique: Buffer): Key => key('restored', unique),
  /** A blob in the removal queue: nothing refers to it any more. Bodies in tiers have a queue of their own, which a copy of the stores has too. */
  removal: (blob: BlobId): Key => (tierOf(blob) === undefined ? key('x', blob) : key('tier-removal', blob)),
} as const;

function ofVersion(table: string, bucket: string, objectKey: string, order: VersionOrder | undefined): Key {
  return order === undefined ? key(table, bucket, objectKey) : key(table, bucket, objectKey, order);
}

/**
 * The maximum of UTF-8 bytes.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html
 */
const MAX_KEY_BYTES = 1024;
/** The longest record key with an object's name also has an upload id. */
const UPLOAD_ID = '0'.repeat(32);

/** Throws `KeyTooLongError` and `InvalidURI` for a name under which nothing can be stored. */
export function checkObjectKey(bucket: string, key: string): void {
  if (key === '') throw new S3Error('InvalidArgument', 'The key is empty.');
  if (!key.isWellFormed()) throw new S3Error('InvalidURI', 'The key is no valid UTF-8.');
  const size = Buffer.byteLength(key);
  // A zero byte takes two bytes in a record key.
  if (size > MAX_KEY_BYTES || (key.includes('\0') && recordKeys.upload(bucket, key, UPLOAD_ID).length > KEY_LIMIT)) {
    throw new S3Error('KeyTooLongError', undefined, {
      details: { Size: String(size), MaxSizeAllowed: String(MAX_KEY_BYTES) },
    });
  }
}

/**
 * A body record belongs to one object record: one byte of format version, the object's 16-byte id, the bytes. A reader that finds
 * another id has read between two commits, and reads both records again.
 */
const BODY_FORMAT = 1;

const BODY_START = 1 + 16;

export function encodeBody(id: string, bytes: Buffer): Buffer {
  const record = Buffer.allocUnsafe(BODY_START + bytes.length);
  record[0] = BODY_FORMAT;
  record.write(id, 1, 'hex');
  bytes.copy(record, BODY_START);
  return record;
}

/** Returns undefined when the record belongs to another object. */
export function decodeBody(value: Buffer, id: string): Buffer | undefined {
  if (value[0] !== BODY_FORMAT) {
    throw new StoreError(
      'unreadable-record',
      `a body record has format ${value[0]}, this server knows ${BODY_FORMAT}: start the newer server`,
    );
  }
  return value.toString('hex', 1, BODY_START) === id ? value.subarray(BODY_START) : undefined;
}

/** Returns the order part of a key under `v` that begins at this byte. */
export function lastPartOf(recordKey: Buffer, start: number): VersionOrder {
  const parts = recordKey.subarray(start, -2);
  return parts.includes(0) ? unescaped(parts) : Buffer.from(parts);
}

function unescaped(part: Buffer): Buffer {
  const bytes: number[] = [];
  for (let at = 0; at < part.length; at += 1) {
    bytes.push(part[at] ?? 0);
    // A zero byte is written 00 FF.
    if (part[at] === 0) at += 1;
  }
  return Buffer.from(bytes);
}
