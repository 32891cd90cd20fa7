import { commitChange, replaceObject } from './commit-change.ts';
import { checkDeleteConditions, findObject } from './get-object.ts';
import { comparable } from '../encryption/digests.ts';
import type { ObjectContext } from '../context.ts';
import type { DeleteConditions } from '../object-layer.ts';
import { getBucket } from '../records/bucket-record.ts';

/**
 * Deletes an object, also below the reserve of free space. The commit expects the record that the conditions were checked against:
 * after a concurrent change it reads and checks again.
 */
export function deleteObject(
  context: ObjectContext,
  bucket: string,
  key: string,
  conditions?: DeleteConditions,
): Promise<void> {
  return commitChange(context, async () => {
    const current = await findObject(context, bucket, key);
    if (current === undefined) await getBucket(context.records, bucket);
    checkDeleteConditions(conditions, await comparable(context, bucket, current?.record, conditions));
    if (current !== undefined) {
      return { batch: await replaceObject(context, bucket, key, current, undefined), result: undefined };
    }
    return { result: undefined };
  });
}
