import type { Batch } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import { recordKeys } from '../records/record-format.ts';
import { partsOf } from '../records/upload-record.ts';

/**
 * Returns the bytes of all parts of an upload, in a bucket with a quota. Every commit of a part adds to a counter, whose revision the
 * commit that ends the upload must expect: a part that is committed meanwhile is not missed.
 */
export async function uploadBytes(
  { records }: Pick<ObjectContext, 'records'>,
  uploadId: string,
): Promise<{ readonly bytes: number; readonly expect: NonNullable<Batch['expect']> }> {
  const key = recordKeys.partCommits(uploadId);
  const entry = await records.get(key);
  let bytes = 0;
  for await (const { record } of partsOf(records, uploadId)) bytes += record.size;
  return { bytes, expect: [entry ? { kind: 'revision', key, revision: entry.revision } : { kind: 'absent', key }] };
}
