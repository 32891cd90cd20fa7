import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { Environment } from './environment.ts';
import type { StoredBlob } from './incoming-body.ts';
import { encodeBlockSums } from './records/block-sums-record.ts';
import { encodeRecord } from './records/record-format.ts';
import { recordKeys } from './records/record-keys.ts';
import type { BatchParts } from './supersede-object.ts';

/**
 * Takes a written blob into a commit. The sweeper gives up blobs that stay without an owner for too long, by a tombstone: then the
 * commit fails instead of referring to bytes that are gone.
 */
export async function ownBlob(
  environment: Environment,
  { blob, recordedSums }: StoredBlob,
  owner: string,
): Promise<Pick<BatchParts, 'expect' | 'put'>> {
  const tombstone = recordKeys.tombstone(blob);
  if ((await environment.records.get(tombstone)) !== undefined) {
    throw new S3Error('RequestTimeout', 'The upload took longer than unfinished uploads are kept; start it again.');
  }
  return {
    expect: [{ kind: 'absent', key: tombstone }],
    put: [
      { key: recordKeys.owner(blob), value: encodeRecord({ object: owner }) },
      ...(recordedSums ? [{ key: recordKeys.blockSums(blob), value: encodeBlockSums(recordedSums) }] : []),
    ],
  };
}
