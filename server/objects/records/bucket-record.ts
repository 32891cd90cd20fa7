import type { RecordStore, Revision } from '../../store/record-store.ts';
import type { Bucket, BucketEncryption } from '../object-layer.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { decodeRecord, encodeRecord } from './record-format.ts';
import { recordKeys } from './record-keys.ts';

export interface BucketRecord {
  readonly created: number;
  readonly location: string;
  readonly encryption?: BucketEncryption;
  /** The policy as it was put: JSON text, valid when it was taken. */
  readonly policy?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /**
   * Set while a deletion makes sure that the bucket is empty. Whoever puts something into the bucket takes the mark away in the same
   * commit, so the deletion's last commit fails; a mark left by a process that died bars nobody.
   */
  readonly deleting?: true;
}

export interface StoredBucket {
  readonly record: BucketRecord;
  readonly revision: Revision;
}

export async function findBucket(records: Pick<RecordStore, 'get'>, bucket: string): Promise<StoredBucket | undefined> {
  const entry = await records.get(recordKeys.bucket(bucket));
  return entry && { record: decodeBucket(entry.value, bucket), revision: entry.revision };
}

/** Throws `NoSuchBucket`. */
export async function getBucket(records: RecordStore, bucket: string): Promise<StoredBucket> {
  const found = await findBucket(records, bucket);
  if (found === undefined) throw noSuchBucket(bucket);
  return found;
}

export function noSuchBucket(bucket: string): S3Error {
  return new S3Error('NoSuchBucket', undefined, { details: { BucketName: bucket } });
}

export function decodeBucket(value: Buffer, bucket: string): BucketRecord {
  return decodeRecord(value, `bucket ${bucket}`) as BucketRecord;
}

export function encodeBucket(record: BucketRecord): Buffer {
  return encodeRecord(record);
}

export function bucketInfo(name: string, record: BucketRecord): Bucket {
  return { name, created: new Date(record.created), location: record.location };
}
