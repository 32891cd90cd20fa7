import { commitChange } from './commit-change.ts';
import { checkDeleteConditions } from './conditions.ts';
import { comparable } from '../encryption/digests.ts';
import type { Environment } from '../context.ts';
import { findObject } from './find-object.ts';
import type { DeleteConditions } from '../object-layer.ts';
import { getBucket } from '../records/bucket-record.ts';
import { supersedeObject } from './replace-object.ts';

/**
 * Deletes an object, also below the reserve of free space. The commit expects the record that the conditions were checked against:
 * after a concurrent change it reads and checks again.
 */
export function deleteObject(
  environment: Environment,
  bucket: string,
  key: string,
  conditions?: DeleteConditions,
): Promise<void> {
  return commitChange(environment, async () => {
    const current = await findObject(environment, bucket, key);
    if (current === undefined) await getBucket(environment.records, bucket);
    checkDeleteConditions(conditions, await comparable(environment, bucket, current?.record, conditions));
    if (current !== undefined) {
      return { batch: await supersedeObject(environment, bucket, key, current, undefined), result: undefined };
    }
    return { result: undefined };
  });
}
