import { commitChange } from '../commit-change.ts';
import type { Environment } from '../environment.ts';
import { recordKeys } from '../records/record-keys.ts';
import { endUpload, getUpload } from '../records/upload-record.ts';

/** Throws `NoSuchUpload`, also when the upload was completed. Works below the reserve of free space too. */
export function abortMultipartUpload(
  environment: Environment,
  bucket: string,
  key: string,
  uploadId: string,
): Promise<void> {
  return commitChange(environment, async () => {
    const { revision } = await getUpload(environment.records, bucket, key, uploadId);
    const recordKey = recordKeys.upload(bucket, key, uploadId);
    const expect = [{ kind: 'revision' as const, key: recordKey, revision }];
    return { batch: { expect, ...endUpload({ recordKey, uploadId }) }, result: undefined };
  });
}
