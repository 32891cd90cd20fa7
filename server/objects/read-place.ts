import type { Key } from '../store/record-store.ts';
import type { Environment } from './environment.ts';
import type { StoredObject } from './find-object.ts';
import { noSuchBucket, type StoredBucket } from './records/bucket-record.ts';
import { decodeObject } from './records/object-record.ts';
import { recordKeys } from './records/record-keys.ts';

/** Where an object is put: its bucket, and what is under its key until then. */
export interface Place {
  readonly stored: StoredBucket;
  readonly objectKey: Key;
  readonly current: StoredObject | undefined;
}

/** Both as they were at one moment, in one round trip. Throws `NoSuchBucket`. */
export async function readPlace(environment: Environment, bucket: string, key: string): Promise<Place> {
  const objectKey = recordKeys.object(bucket, key);
  const [bucketEntry, entry] = await environment.records.getAll([recordKeys.bucket(bucket), objectKey]);
  if (bucketEntry === undefined) throw noSuchBucket(bucket);
  return {
    stored: environment.buckets.decode(bucketEntry, bucket),
    objectKey,
    current: entry && { record: decodeObject(entry.value, bucket, key), revision: entry.revision },
  };
}
