import type { BlobId } from '../../store/blob-store.ts';
import { key, KEY_LIMIT } from '../../store/keys.ts';
import type { Key } from '../../store/record-store.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';

/**
 * Which records the object layer keeps. Small ones under `b` and `o`, which are what HEAD and listings read; what may be large has
 * keys of its own.
 */
export const recordKeys = {
  bucket: (bucket: string): Key => key('b', bucket),
  object: (bucket: string, objectKey: string): Key => key('o', bucket, objectKey),
  /** The body of a small object. */
  inline: (bucket: string, objectKey: string): Key => key('i', bucket, objectKey),
  /** The parts of an object made by multipart upload. */
  manifest: (bucket: string, objectKey: string): Key => key('m', bucket, objectKey),
  upload: (bucket: string, objectKey: string, uploadId: string): Key => key('u', bucket, objectKey, uploadId),
  part: (uploadId: string, partNumber: number): Key => key('p', uploadId, String(partNumber).padStart(5, '0')),
  /** Parts that an aborted or completed upload left over. */
  leftovers: (uploadId: string): Key => key('q', uploadId),
  /** That an object is damaged and not served; its own record says it too. */
  damage: (bucket: string, objectKey: string): Key => key('d', bucket, objectKey),
  /** Until when no blob may be removed, because somebody reads what the records were. */
  hold: (id: string): Key => key('hold', id),
  /** Whether a named key is used for new objects. */
  keyUse: (keyName: string): Key => key('k', 'use', keyName),
  /** The sums of a plain blob's blocks, where they are not in its protection. */
  blockSums: (blob: BlobId): Key => key('c', blob),
  /** Who owns a blob. */
  owner: (blob: BlobId): Key => key('r', blob),
  /** A blob given up by the sweeper: its writer may no longer commit it. */
  tombstone: (blob: BlobId): Key => key('t', blob),
  /** A blob that nothing refers to any more, to be removed. */
  removal: (blob: BlobId): Key => key('x', blob),
} as const;

/** Bytes of UTF-8. @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html */
const LONGEST_KEY = 1024;
/** The longest record key that has an object's name in it has an upload's id besides. */
const UPLOAD_ID = '0'.repeat(32);

/** Throws `KeyTooLongError` and `InvalidURI` for a name under which nothing can be stored. */
export function checkObjectKey(bucket: string, key: string): void {
  if (key === '') throw new S3Error('InvalidArgument', 'The key is empty.');
  if (!key.isWellFormed()) throw new S3Error('InvalidURI', 'The key is no valid UTF-8.');
  const size = Buffer.byteLength(key);
  // Zero bytes take two in a record's key.
  if (size > LONGEST_KEY || (key.includes('\0') && recordKeys.upload(bucket, key, UPLOAD_ID).length > KEY_LIMIT)) {
    throw new S3Error('KeyTooLongError', undefined, {
      details: { Size: String(size), MaxSizeAllowed: String(LONGEST_KEY) },
    });
  }
}
