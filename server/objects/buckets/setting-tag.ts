import type { ObjectContext } from '../context/context.ts';
import type { BucketSetting } from '../contract/buckets.ts';
import { getBucket } from '../records/bucket-record.ts';
import { getBucketInventories } from './bucket-inventory.ts';
import { getBucketLogging } from './bucket-logging.ts';
import { tagOf, valueIn } from './setting-condition.ts';

/**
 * Returns the ETag of a setting, which a change of the setting changes. A setting that is absent has one too.
 *
 * @param id - the ID of the configuration, where a bucket has several
 */
export async function getSettingTag(
  context: ObjectContext,
  bucket: string,
  setting: BucketSetting,
  id?: string,
): Promise<string> {
  if (setting === 'logging') return tagOf(await getBucketLogging(context, bucket));
  if (setting === 'inventory') return tagOf((await getBucketInventories(context, bucket)).find((one) => one.id === id));
  return tagOf(valueIn((await getBucket(context.records, bucket)).record, setting));
}
