import { eachChunk } from '../../streams/chunks.ts';
import type { SharedMutex } from '../../shared-memory/shared-mutex.ts';
import type { BlobId, BlobStore } from '../../store/blob-store.ts';
import { commitOnce } from '../../store/commits.ts';
import type { RecordStore } from '../../store/record-store.ts';
import {
  matchesStored,
  type BlockSums,
  BlockSumsHasher,
  coversSize,
  checkOf,
  type Sums,
} from '../checksums/block-sums.ts';
import { decodeBlockSums, encodeBlockSums } from '../records/body-records.ts';
import { recordKeys } from '../records/record-format.ts';
import { isUnreadable } from '../records/damage.ts';
import type { PendingBlockSums } from '../context/context.ts';

export interface BlockSumsContext {
  readonly records: Pick<RecordStore, 'get' | 'commit' | 'outcome'>;
  readonly blobs: Pick<BlobStore, 'read'>;
  readonly random: (size: number) => Buffer;
  readonly pendingBlockSums: PendingBlockSums;
  /** Shared by all threads: one thread computes the sums of a blob, and the others find its record. */
  readonly blockSumsMutex: SharedMutex;
}

export interface PlainBlob {
  readonly blob: BlobId;
  readonly size: number;
  readonly protection: Sums;
}

/**
 * Returns the block sums of a blob. A body of an older format has none: its first reader in the process reads the whole body once,
 * compares its old checksum, and saves the sums. Undefined where the blob is damaged.
 */
export async function blockSumsOf(context: BlockSumsContext, plain: PlainBlob): Promise<BlockSums | undefined> {
  const { protection, size } = plain;
  if ('sums' in protection) {
    const sums = { block: protection.block, sums: Buffer.from(protection.sums, 'base64') };
    return coversSize(sums, size) ? sums : undefined;
  }
  return (await recordedBlockSums(context, plain)) ?? (await computedOnce(context, plain));
}

/** Reads the record `c`; undefined where it is missing or wrong. */
async function recordedBlockSums(
  { records }: Pick<BlockSumsContext, 'records'>,
  { blob, size, protection }: PlainBlob,
): Promise<BlockSums | undefined> {
  const entry = await records.get(recordKeys.blockSums(blob));
  if (entry === undefined) return undefined;
  try {
    const sums = decodeBlockSums(entry.value, blob);
    const right = coversSize(sums, size) && (!('root' in protection) || matchesStored(sums, protection));
    return right ? sums : undefined;
  } catch (error) {
    // The caller computes the sums from the blob again.
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

/** Writes the record `c` while the blob has an owner, so that both are removed together. A failure is ignored: the caller has the sums. */
export async function keepBlockSums(
  { records, random }: Pick<BlockSumsContext, 'records' | 'random'>,
  blob: BlobId,
  sums: BlockSums,
): Promise<void> {
  try {
    const owner = await records.get(recordKeys.owner(blob));
    if (owner === undefined) return;
    await commitOnce(
      records,
      {
        expect: [{ kind: 'revision', key: recordKeys.owner(blob), revision: owner.revision }],
        put: [{ key: recordKeys.blockSums(blob), value: encodeBlockSums(sums) }],
      },
      random,
    );
  } catch {
    // The store is read-only or full: the next reader computes the sums again.
  }
}

function computedOnce(context: BlockSumsContext, plain: PlainBlob): Promise<BlockSums | undefined> {
  const { pendingBlockSums, blockSumsMutex } = context;
  const { blob } = plain;
  const known = pendingBlockSums.get(blob);
  if (known !== undefined) return known;
  const computing = blockSumsMutex
    .run(blob, async (progress) => (await recordedBlockSums(context, plain)) ?? compute(context, plain, progress))
    .finally(() => pendingBlockSums.delete(blob));
  pendingBlockSums.set(blob, computing);
  return computing;
}

async function compute(
  context: BlockSumsContext,
  { blob, size, protection }: PlainBlob,
  progress: () => void,
): Promise<BlockSums | undefined> {
  const check = checkOf(protection);
  const sums = new BlockSumsHasher('block' in protection ? protection.block : undefined);
  for await (const chunk of eachChunk(context.blobs.read(blob, { start: 0, end: size, size }))) {
    check.update(chunk);
    sums.update(chunk);
    progress();
  }
  if (!check.holds()) return undefined;
  const computed = sums.digest();
  await keepBlockSums(context, blob, computed);
  return computed;
}
