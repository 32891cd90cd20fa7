import { randomBytes } from 'node:crypto';
import { commitOnce } from '../../../server/store/commits.ts';
import { deploymentKey, encodeDeployment, NEWEST_FORMAT } from '../../../server/store/deployment.ts';
import type { RecordStore } from '../../../server/store/record-store.ts';

/** Makes new records those of a deployment whose servers write the newest format. */
export async function switchedRecords<T extends RecordStore>(records: T): Promise<T> {
  const value = encodeDeployment({
    format: NEWEST_FORMAT,
    writes: NEWEST_FORMAT,
    deploymentId: '6f0d9a9e-8f3f-4d49-8f0e-0f6f3cf1a111',
    marked: true,
  });
  await commitOnce(records, { put: [{ key: deploymentKey, value }] }, randomBytes);
  return records;
}
