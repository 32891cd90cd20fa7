import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { changesNothing, ownerId, resolveAcl } from '../../../protocol/s3/acl.ts';
import { withGrants } from './bucket-configuration.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { EventCaller } from '../contract/event-caller.ts';
import { ruledEvent } from '../records/object-event.ts';
import { commitChange } from '../commit/commit-change.ts';
import { ignoringSetting, refusePublic } from '../attributes/object-acl.ts';
import type { ObjectContext } from '../context/context.ts';
import type { Bucket, CreateBucket } from '../contract/object-layer.ts';
import {
  bucketInfo,
  type BucketRecord,
  countsAcls,
  decodeBucket,
  encodeBucket,
  findBucket,
  getBucket,
} from '../records/bucket-record.ts';
import { recordKeys } from '../records/record-format.ts';
import { quotaRecords } from './bucket-quota.ts';
import { commitOnce } from '../../store/commits.ts';
import { endUpload, uploadsOfBucket } from '../records/upload-record.ts';
import { isUnreadable } from '../records/damage.ts';
import { StoreError } from '../../store/store-error.ts';

/** Throws `BucketAlreadyOwnedByYou`. */
export async function createBucket(
  context: ObjectContext,
  bucket: string,
  options: CreateBucket,
  by?: EventCaller,
): Promise<void> {
  await context.checkSpace(0);
  await refusePublic(context, options.acl);
  const key = recordKeys.bucket(bucket);
  const { ownership = 'BucketOwnerEnforced' } = options;
  if (!countsAcls({ ownership }) && options.acl !== undefined && !changesNothing(options.acl)) {
    throw new S3Error(
      'InvalidBucketAclWithObjectOwnership',
      "Bucket cannot have ACLs set with ObjectOwnership's BucketOwnerEnforced setting. Create it with x-amz-object-ownership: " +
        `ObjectWriter, or give access by a bucket policy.${options.acl.kind === 'canned' ? ignoringSetting : ''}`,
    );
  }
  const record: BucketRecord = {
    created: context.clock(),
    location: options.location,
    ownership,
    ...(options.tags && { tags: options.tags }),
    ...(options.objectLock === true && { versioning: { status: 'Enabled' }, objectLock: {} }),
  };
  const value = encodeBucket(options.acl === undefined ? record : withGrants(record, resolveAcl(options.acl, ownerId)));
  await commitChange(context, async () => {
    if ((await findBucket(context.records, bucket)) !== undefined) {
      throw new S3Error('BucketAlreadyOwnedByYou', undefined, { details: { BucketName: bucket } });
    }
    const event = bucketEvent(context, 's3:BucketCreated:*', { bucket, record, by });
    return { batch: { expect: [{ kind: 'absent', key }], put: [{ key, value }] }, result: undefined, event };
  });
}

/** Only listeners hear of buckets: a rule belongs to a bucket that exists. */
function bucketEvent(
  context: ObjectContext,
  name: string,
  {
    bucket,
    record,
    by,
  }: { readonly bucket: string; readonly record: BucketRecord; readonly by: EventCaller | undefined },
) {
  if (!context.events.isHeard) return undefined;
  return { ...ruledEvent(context, { names: [name], bucket, key: '', stored: record, by }), rules: [] };
}

export async function headBucket(context: ObjectContext, bucket: string): Promise<Bucket> {
  return bucketInfo(bucket, (await getBucket(context.records, bucket)).record);
}

/** Returns the buckets ordered by name. */
export async function listBuckets(context: ObjectContext): Promise<readonly Bucket[]> {
  const buckets: Bucket[] = [];
  for await (const item of context.records.scan(within('b'))) {
    if (item.kind !== 'entry') continue;
    const name = String(decodeKey(item.key)[1]);
    buckets.push(listedBucket(name, item.value));
  }
  return buckets;
}

/** A bucket whose record is damaged is listed without its time, so that it hides neither itself nor the others. Its requests fail. */
function listedBucket(name: string, value: Buffer): Bucket {
  try {
    return bucketInfo(name, decodeBucket(value, name));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return { name, created: new Date(0), location: '' };
  }
}

/** The maximum of unfinished uploads that one commit deletes. Clients must abort more of them first. */
const MAX_UPLOADS = 10_000;

/**
 * Deletes an empty bucket and its unfinished uploads. It marks the bucket, checks that it is empty, and deletes it if the mark is still
 * there. A write that read the bucket before the mark fails to commit; a later write removes the mark (`guardBucket`). Throws
 * `NoSuchBucket` and `BucketNotEmpty`.
 */
export function deleteBucket(context: ObjectContext, bucket: string, by?: EventCaller): Promise<void> {
  const { records, random } = context;
  const key = recordKeys.bucket(bucket);
  return commitChange(context, async () => {
    const { record, revision } = await getBucket(records, bucket);
    const expect = [{ kind: 'revision' as const, key, revision }];
    await refuseUnlessEmpty(context, bucket);
    if (record.deleting !== true) {
      await commitOnce(records, { expect, put: [{ key, value: encodeBucket({ ...record, deleting: true }) }] }, random);
      // The check counts only after the mark.
      throw new StoreError('changed', 'the records changed meanwhile');
    }
    const uploads = [];
    for await (const upload of uploadsOfBucket(records, bucket)) {
      if (uploads.push(endUpload(upload)) > MAX_UPLOADS) {
        throw new S3Error(
          'BucketNotEmpty',
          `The bucket has more than ${MAX_UPLOADS} unfinished uploads: abort them first.`,
        );
      }
    }
    const quota = record.quota === undefined ? [] : quotaRecords(bucket, record.quota.counter);
    return {
      batch: {
        expect,
        put: uploads.flatMap((upload) => upload.put),
        delete: [
          key,
          recordKeys.promotions(bucket),
          recordKeys.accessLog(bucket),
          recordKeys.inventory(bucket),
          ...quota,
          ...uploads.flatMap((upload) => upload.delete),
        ],
      },
      result: undefined,
      event: bucketEvent(context, 's3:BucketRemoved:*', { bucket, record, by }),
    };
  });
}

async function refuseUnlessEmpty(context: ObjectContext, bucket: string): Promise<void> {
  for (const table of ['o', 'l', 'v']) {
    for await (const _item of context.records.scan({ ...within(table, bucket), limit: 1 })) {
      throw new S3Error('BucketNotEmpty', undefined, { details: { BucketName: bucket } });
    }
  }
}
