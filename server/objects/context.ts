import type { SharedMutex } from '../../platform/shared-mutex.ts';
import type { DigestKeys } from '../encryption/digest-keys.ts';
import type { KeySource } from '../encryption/key-source.ts';
import type { BlobStore } from '../store/blob-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { PendingBlockSums } from './bodies/block-sums-of.ts';
import type { BufferSlots } from './hashing/buffer-slots.ts';
import type { KnownKeyUses } from './encryption/key-use.ts';
import type { DecodedBuckets } from './records/bucket-record.ts';
import type { SpaceCheck } from './operations/space-check.ts';
import type { KeyedMutex } from '../../platform/concurrency.ts';

/** The bytes of one call: a call of the system's generator costs 9 µs for any count of bytes, and each write needs some twice. */
const POOL_BYTES = 4096;

/** Returns random bytes of `source`, which it reads many at a time. Each byte is returned once and then erased from the pool. */
export function pooledRandom(source: (size: number) => Buffer): (size: number) => Buffer {
  let pool: Buffer = Buffer.alloc(0);
  let used = 0;
  return (size) => {
    if (size > POOL_BYTES / 4) return source(size);
    if (used + size > pool.length) {
      pool = source(POOL_BYTES);
      used = 0;
    }
    const taken = Buffer.from(pool.subarray(used, used + size));
    pool.fill(0, used, used + size);
    used += size;
    return taken;
  };
}

/** The dependencies of every operation: `ObjectLayerOptions` with defaults filled in. */
export interface ObjectContext {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  readonly keys: KeySource;
  readonly digests: DigestKeys;
  readonly clock: () => number;
  readonly random: (size: number) => Buffer;
  readonly inlineLimit: number;
  readonly autoEncryption: boolean;
  readonly checkSpace: SpaceCheck;
  /** The mutexes of writers in this thread whose commits conflicted, by record key. */
  readonly writeMutexes: KeyedMutex;
  readonly buckets: DecodedBuckets;
  readonly keyUses: KnownKeyUses;
  readonly pendingBlockSums: PendingBlockSums;
  readonly blockSumsMutex: SharedMutex;
  /** The buffer slots for large bodies, which another thread hashes; undefined where there is no such thread. */
  readonly bufferSlots: BufferSlots | undefined;
}
