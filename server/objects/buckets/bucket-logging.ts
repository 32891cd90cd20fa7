import type { BucketLogging } from '../../../protocol/s3/bucket-logging.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import { commitChange } from '../commit/commit-change.ts';
import { checkOwnRecord } from './setting-condition.ts';
import { findBucket, getBucket, guardBucket } from '../records/bucket-record.ts';
import { decodeRecord, encodeRecord, recordKeys } from '../records/record-format.ts';

/** Reads where the access logs of a bucket go. */
export async function getBucketLogging(context: ObjectContext, bucket: string): Promise<BucketLogging | undefined> {
  await getBucket(context.records, bucket);
  const entry = await context.records.get(recordKeys.accessLog(bucket));
  return entry && decode(entry.value, bucket);
}

/**
 * Sets where the access logs of a bucket go; undefined ends them. The record is not that of the bucket: each thread reads all of them.
 * Throws `InvalidTargetBucketForLogging`.
 */
export function putBucketLogging(
  context: ObjectContext,
  bucket: string,
  logging: BucketLogging | undefined,
): Promise<void> {
  return commitChange(context, async () => {
    const guard = guardBucket(bucket, await getBucket(context.records, bucket));
    const key = recordKeys.accessLog(bucket);
    const stored = await context.records.get(key);
    checkOwnRecord(context, bucket, () => stored && decode(stored.value, bucket));
    const expect = [
      ...guard.expect,
      stored === undefined
        ? { kind: 'absent' as const, key }
        : { kind: 'revision' as const, key, revision: stored.revision },
    ];
    if (logging === undefined) return { batch: { expect, delete: [key] }, result: undefined };
    if ((await findBucket(context.records, logging.targetBucket)) === undefined) {
      throw new S3Error('InvalidTargetBucketForLogging', undefined, {
        details: { TargetBucket: logging.targetBucket.slice(0, 100) },
      });
    }
    return { batch: { expect, put: [{ key, value: encodeRecord(logging) }] }, result: undefined };
  });
}

/** Reads the buckets that have access logs, by name. */
export async function readLoggings(records: Pick<RecordStore, 'scan'>): Promise<ReadonlyMap<string, BucketLogging>> {
  const loggings = new Map<string, BucketLogging>();
  for await (const item of records.scan(within('access-log'))) {
    if (item.kind !== 'entry') continue;
    const bucket = String(decodeKey(item.key)[1]);
    loggings.set(bucket, decode(item.value, bucket));
  }
  return loggings;
}

function decode(value: Buffer, bucket: string): BucketLogging {
  return decodeRecord(value, `access log of ${bucket}`) as BucketLogging;
}
