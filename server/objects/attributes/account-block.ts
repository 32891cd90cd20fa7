import type { PublicAccessBlock } from '../../../protocol/s3/access/public-access-block.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { ObjectContext } from '../context/context.ts';
import { commitChange } from '../commit/commit-change.ts';
import type { BucketRecord } from '../records/bucket-record.ts';
import { decodeRecord, encodeRecord, recordKeys } from '../records/record-format.ts';

const key = recordKeys.accountBlock;

export function getAccountPublicAccessBlock({ records }: Pick<ObjectContext, 'records'>) {
  return readAccountBlock(records);
}

/** Reads the public access block of the account; undefined without one. */
export async function readAccountBlock(records: Pick<RecordStore, 'get'>): Promise<PublicAccessBlock | undefined> {
  const entry = await records.get(key);
  return entry && (decodeRecord(entry.value, 'the public access block of the account') as PublicAccessBlock);
}

/** Without `block` it removes the block. */
export function putAccountPublicAccessBlock(
  context: ObjectContext,
  block: PublicAccessBlock | undefined,
): Promise<void> {
  return commitChange(context, async () => {
    const entry = await context.records.get(key);
    if (entry === undefined && block === undefined) return { result: undefined };
    const expect =
      entry === undefined
        ? ({ kind: 'absent', key } as const)
        : ({ kind: 'revision', key, revision: entry.revision } as const);
    const change = block === undefined ? { delete: [key] } : { put: [{ key, value: encodeRecord(block) }] };
    return { batch: { expect: [expect], ...change }, result: undefined };
  });
}

/**
 * Joins the public access blocks of a bucket and of the account: the stricter setting of both counts.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
 */
export function joinedBlock(
  { publicAccessBlock }: Pick<BucketRecord, 'publicAccessBlock'>,
  account: PublicAccessBlock | undefined,
): PublicAccessBlock | undefined {
  if (publicAccessBlock === undefined || account === undefined) return publicAccessBlock ?? account;
  return {
    blockPublicAcls: publicAccessBlock.blockPublicAcls || account.blockPublicAcls,
    ignorePublicAcls: publicAccessBlock.ignorePublicAcls || account.ignorePublicAcls,
    blockPublicPolicy: publicAccessBlock.blockPublicPolicy || account.blockPublicPolicy,
    restrictPublicBuckets: publicAccessBlock.restrictPublicBuckets || account.restrictPublicBuckets,
  };
}
