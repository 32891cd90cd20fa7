import { guardBucket } from './bucket-guard.ts';
import { commitChange } from './commit-change.ts';
import type { Environment } from './environment.ts';
import { type BucketRecord, encodeBucket, getBucket } from './records/bucket-record.ts';
import { recordKeys } from './records/record-keys.ts';

/** Changes what is kept of a bucket; of two changes at once the later sees the earlier. Throws `NoSuchBucket`. */
export function changeBucket(
  environment: Environment,
  bucket: string,
  change: (record: BucketRecord) => BucketRecord,
): Promise<void> {
  return commitChange(environment, async () => {
    const stored = await getBucket(environment.records, bucket);
    const { deleting: _deleting, ...record } = stored.record;
    const put = [{ key: recordKeys.bucket(bucket), value: encodeBucket(change(record)) }];
    return { batch: { expect: guardBucket(bucket, stored).expect, put }, result: undefined };
  });
}
