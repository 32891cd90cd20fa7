import { createHash } from 'node:crypto';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectContext } from '../context.ts';
import type { BucketSetting, SettingCondition } from '../contract/buckets.ts';
import { type BucketRecord, getBucket } from '../records/bucket-record.ts';

/** Returns the ETag of a setting, which a change of the setting changes. A setting that is absent has one too. */
export async function getSettingTag(context: ObjectContext, bucket: string, setting: BucketSetting): Promise<string> {
  return tagOf((await getBucket(context.records, bucket)).record, setting);
}

/** Records keep the order of the fields as they were stored, so that two reads of one setting have one tag. */
function tagOf(record: BucketRecord, setting: BucketSetting): string {
  const text = JSON.stringify(record[setting] ?? null);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Throws `PreconditionFailed` where the setting is not the one that the caller read. The commit expects the record that is checked here. */
export function checkSettingCondition(
  { condition }: Pick<ObjectContext, 'condition'>,
  bucket: string,
  record: BucketRecord,
): void {
  if (condition === undefined) return;
  const { setting, ifMatch, ifAbsent = false } = condition;
  const isThere = record[setting] !== undefined;
  if (ifAbsent && isThere) throw changedMeanwhile(bucket, condition, 'was set since it was read');
  if (ifMatch === undefined || ifMatch.includes(tagOf(record, setting)) || (isThere && ifMatch.includes('*'))) return;
  throw changedMeanwhile(
    bucket,
    condition,
    isThere ? 'was changed since it was read' : 'was removed since it was read',
  );
}

function changedMeanwhile(bucket: string, { setting }: SettingCondition, what: string): S3Error {
  return new S3Error(
    'PreconditionFailed',
    `The setting ${setting} of the bucket ${bucket} ${what}. Nothing was changed: read it again.`,
    { details: { Condition: 'If-Match' } },
  );
}
