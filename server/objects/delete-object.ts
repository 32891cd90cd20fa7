import { commitChange } from './commit-change.ts';
import type { Environment } from './environment.ts';
import { findObject } from './find-object.ts';
import { getBucket } from './records/bucket-record.ts';
import { supersedeObject } from './supersede-object.ts';

/** Works below the reserve of free space too. */
export function deleteObject(environment: Environment, bucket: string, key: string): Promise<void> {
  return commitChange(environment, async () => {
    const current = await findObject(environment, bucket, key);
    if (current !== undefined) {
      return { batch: await supersedeObject(environment, bucket, key, current, undefined), result: undefined };
    }
    await getBucket(environment.records, bucket);
    return { result: undefined };
  });
}
