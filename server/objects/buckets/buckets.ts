import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { decodeKey, within } from '../../store/keys.ts';
import { commitChange, ChangedMeanwhile } from '../operations/commit-change.ts';
import type { Environment } from '../context.ts';
import type { Bucket } from '../object-layer.ts';
import { bucketInfo, decodeBucket, encodeBucket, findBucket, getBucket } from '../records/bucket-record.ts';
import { recordKeys } from '../records/record-keys.ts';
import { commitOnce } from '../../store/commit-once.ts';
import { endUpload, uploadsOfBucket } from '../records/upload-record.ts';

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

/** Returns the buckets ordered by name. */
export async function listBuckets(environment: Environment): Promise<readonly Bucket[]> {
  const buckets: Bucket[] = [];
  for await (const item of environment.records.scan(within('b'))) {
    if (item.kind !== 'entry') continue;
    const name = String(decodeKey(item.key)[1]);
    buckets.push(bucketInfo(name, decodeBucket(item.value, name)));
  }
  return buckets;
}

/** The maximum of unfinished uploads that one commit deletes. Clients must abort more of them first. */
const MOST_UPLOADS = 10_000;

/**
 * Deletes an empty bucket and its unfinished uploads. It marks the bucket, checks that it is empty, and deletes it if the mark is still
 * there. A write that read the bucket before the mark fails to commit; a later write removes the mark (`guardBucket`). Throws
 * `NoSuchBucket` and `BucketNotEmpty`.
 */
export function deleteBucket(environment: Environment, bucket: string): Promise<void> {
  const { records, random } = environment;
  const key = recordKeys.bucket(bucket);
  return commitChange(environment, async () => {
    const { record, revision } = await getBucket(records, bucket);
    const expect = [{ kind: 'revision' as const, key, revision }];
    await refuseUnlessEmpty(environment, bucket);
    if (record.deleting !== true) {
      await commitOnce(records, { expect, put: [{ key, value: encodeBucket({ ...record, deleting: true }) }] }, random);
      // The check counts only after the mark.
      throw new ChangedMeanwhile();
    }
    const uploads = [];
    for await (const upload of uploadsOfBucket(records, bucket)) {
      if (uploads.push(endUpload(upload)) > MOST_UPLOADS) {
        throw new S3Error(
          'BucketNotEmpty',
          `The bucket has more than ${MOST_UPLOADS} unfinished uploads: abort them first.`,
        );
      }
    }
    return {
      batch: {
        expect,
        put: uploads.flatMap((upload) => upload.put),
        delete: [key, ...uploads.flatMap((upload) => upload.delete)],
      },
      result: undefined,
    };
  });
}

async function refuseUnlessEmpty(environment: Environment, bucket: string): Promise<void> {
  for await (const _item of environment.records.scan({ ...within('o', bucket), limit: 1 })) {
    throw new S3Error('BucketNotEmpty', undefined, { details: { BucketName: bucket } });
  }
}
