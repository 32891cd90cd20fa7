import { S3Error } from '../../protocol/s3/s3-error.ts';
import { decodeKey, within } from '../store/keys.ts';
import { commitChange } from './commit-change.ts';
import type { Environment } from './environment.ts';
import type { Bucket } from './object-layer.ts';
import { bucketInfo, decodeBucket, encodeBucket, findBucket, getBucket } from './records/bucket-record.ts';
import { recordKeys } from './records/record-keys.ts';

/** Throws `BucketAlreadyOwnedByYou`. */
export async function createBucket(
  environment: Environment,
  bucket: string,
  options: { readonly location: string },
): Promise<void> {
  await environment.checkSpace(0);
  const key = recordKeys.bucket(bucket);
  const value = encodeBucket({ created: environment.clock(), location: options.location });
  await commitChange(environment, async () => {
    if ((await findBucket(environment.records, bucket)) !== undefined) throw new S3Error('BucketAlreadyOwnedByYou');
    return { batch: { expect: [{ kind: 'absent', key }], put: [{ key, value }] }, result: undefined };
  });
}

export async function headBucket(environment: Environment, bucket: string): Promise<Bucket> {
  return bucketInfo(bucket, (await getBucket(environment.records, bucket)).record);
}

/** In the order of their names. */
export async function listBuckets(environment: Environment): Promise<readonly Bucket[]> {
  const buckets: Bucket[] = [];
  for await (const item of environment.records.scan(within('b'))) {
    if (item.kind !== 'entry') continue;
    const name = String(decodeKey(item.key)[1]);
    buckets.push(bucketInfo(name, decodeBucket(item.value, name)));
  }
  return buckets;
}
