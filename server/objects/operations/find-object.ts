import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Entry, Revision, Key } from '../../store/record-store.ts';
import type { ObjectContext } from '../context.ts';
import { getBucket, noSuchBucket, type StoredBucket } from '../records/bucket-record.ts';
import { decodeObject, type ObjectRecord } from '../records/object-record.ts';
import { recordKeys } from '../records/record-keys.ts';

export interface StoredObject {
  readonly record: ObjectRecord;
  readonly revision: Revision;
}

/** Returns undefined when there is no such object. The bucket is not checked. */
export async function findObject(
  context: ObjectContext,
  bucket: string,
  key: string,
): Promise<StoredObject | undefined> {
  const entry = await context.records.get(recordKeys.object(bucket, key));
  return entry && { record: decodeObject(entry.value, bucket, key), revision: entry.revision };
}

/** Reads the record of an object with one read where it exists. Throws `NoSuchKey` and `NoSuchBucket`. */
export async function getObjectRecord(context: ObjectContext, bucket: string, key: string): Promise<ObjectRecord> {
  const entry = await context.records.get(recordKeys.object(bucket, key));
  return entry === undefined ? noSuchKey(context, bucket, key) : decodeObject(entry.value, bucket, key);
}

/** Reads the record of an object and its inline body at one moment, in one round trip. */
export async function getObjectAndInline(
  context: ObjectContext,
  bucket: string,
  key: string,
): Promise<{ readonly record: ObjectRecord; readonly inline: Entry | undefined }> {
  const [object, inline] = await context.records.getAll([
    recordKeys.object(bucket, key),
    recordKeys.inline(bucket, key),
  ]);
  if (object === undefined) return noSuchKey(context, bucket, key);
  return { record: decodeObject(object.value, bucket, key), inline };
}

async function noSuchKey(context: ObjectContext, bucket: string, key: string): Promise<never> {
  await getBucket(context.records, bucket);
  throw new S3Error('NoSuchKey', undefined, { details: { Key: key } });
}

/** The bucket of a new object, and the object that it replaces. */
export interface Place {
  readonly stored: StoredBucket;
  readonly objectKey: Key;
  readonly current: StoredObject | undefined;
}

/** Reads both at one moment, in one round trip. Throws `NoSuchBucket`. */
export async function readPlace(context: ObjectContext, bucket: string, key: string): Promise<Place> {
  const objectKey = recordKeys.object(bucket, key);
  const [bucketEntry, entry] = await context.records.getAll([recordKeys.bucket(bucket), objectKey]);
  if (bucketEntry === undefined) throw noSuchBucket(bucket);
  return {
    stored: context.buckets.decode(bucketEntry, bucket),
    objectKey,
    current: entry && { record: decodeObject(entry.value, bucket, key), revision: entry.revision },
  };
}
