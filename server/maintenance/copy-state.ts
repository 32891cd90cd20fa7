import { decodeRecord, encodeRecord } from '../objects/records/record-format.ts';
import { commitOnce } from '../store/commit-once.ts';
import { copyKey } from '../store/deployment/copy-key.ts';
import { deploymentKey, encodeDeployment } from '../store/deployment/deployment-record.ts';
import type { RecordStore } from '../store/record-store.ts';

/** How far a copy came; kept in the target, with what it counts. */
export interface CopyState {
  /** The deployment that is copied: a copy of another one does not go on here. */
  readonly deploymentId: string;
  readonly phase: 'objects' | 'uploads' | 'records' | 'done';
  /** The last key of the phase that was copied, in hexadecimal. */
  readonly after?: string;
  readonly objects: number;
  readonly bytes: number;
}

export async function readCopyState(records: Pick<RecordStore, 'get'>): Promise<CopyState | undefined> {
  const entry = await records.get(copyKey);
  return entry && (decodeRecord(entry.value, 'the copy') as CopyState);
}

export function putCopyState(state: CopyState): { readonly key: Buffer; readonly value: Buffer } {
  return { key: copyKey, value: encodeRecord(state) };
}

/**
 * Ends a copy that was verified: the records say from now on which deployment they are of, also where the source, a data folder of an
 * older server, did not; the blobs must carry its marker already. Servers may start.
 */
export async function finishCopy(
  records: RecordStore,
  deploymentId: string,
  random: (size: number) => Buffer,
): Promise<void> {
  const known = (await records.get(deploymentKey)) !== undefined;
  const record = { key: deploymentKey, value: encodeDeployment({ deploymentId, marked: true }) };
  await commitOnce(records, { put: known ? [] : [record], delete: [copyKey] }, random);
}
