import { createHash } from 'node:crypto';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ObjectContext } from '../context/context.ts';
import type { BucketSetting, SettingCondition } from '../contract/buckets.ts';
import type { BucketRecord } from '../records/bucket-record.ts';

type Conditional = Pick<ObjectContext, 'condition'>;

/** Returns the ETag of the value of a setting. Records keep the order of the fields as they were stored, so that two reads have one tag. */
export function tagOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value ?? null))
    .digest('hex')
    .slice(0, 32);
}

/** Undefined for a setting that is absent, or that has a record of its own. */
export function valueIn(record: BucketRecord, setting: BucketSetting): unknown {
  if (setting === 'logging' || setting === 'inventory') return undefined;
  return setting === 'payer' || setting === 'acceleration' ? record.charges?.[setting] : record[setting];
}

/** Throws `PreconditionFailed` where the setting is not the one that the caller read. The commit expects the record that is checked here. */
export function checkSettingCondition({ condition }: Conditional, bucket: string, record: BucketRecord): void {
  if (condition !== undefined) checkValue(condition, bucket, valueIn(record, condition.setting));
}

/** Checks a setting that has a record of its own, which is read where there is a condition: a damaged one can be replaced without. */
export function checkOwnRecord({ condition }: Conditional, bucket: string, read: () => unknown): void {
  if (condition !== undefined) checkValue(condition, bucket, read());
}

function checkValue(condition: SettingCondition, bucket: string, value: unknown): void {
  const { ifMatch, ifAbsent = false } = condition;
  const isThere = value !== undefined;
  if (ifAbsent && isThere) throw changedMeanwhile(bucket, condition, 'was set since it was read');
  if (ifMatch === undefined || ifMatch.includes(tagOf(value)) || (isThere && ifMatch.includes('*'))) return;
  throw changedMeanwhile(
    bucket,
    condition,
    isThere ? 'was changed since it was read' : 'was removed since it was read',
  );
}

function changedMeanwhile(bucket: string, { setting, id }: SettingCondition, what: string): S3Error {
  return new S3Error(
    'PreconditionFailed',
    `The setting ${setting}${id === undefined ? '' : ` ${id}`} of the bucket ${bucket} ${what}. Nothing was changed: read it again.`,
    { details: { Condition: 'If-Match' } },
  );
}
