import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { SharedMutex } from '../../platform/shared-mutex.ts';
import type { DigestKeys } from '../encryption/digest-keys.ts';
import type { KeySource } from '../encryption/key-source.ts';
import type { BlobStore } from '../store/blob-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { PendingBlockSums } from './bodies/block-sums-of.ts';
import type { LockClock } from './attributes/object-lock.ts';
import type { BufferSlots } from './hashing/buffer-slots.ts';
import type { KnownKeyUses } from './encryption/decide-encryption.ts';
import type { DecodedBuckets } from './records/bucket-record.ts';
import type { KeyedMutex } from '../../platform/concurrency.ts';

/** The space of each volume that stays free. */
export type Reserve = { readonly bytes: number } | { readonly percent: number };

/** The file system of the bodies and that of the records, which may be another. Undefined where a store does not report its space. */
export interface Volumes {
  readonly bodies: () => Promise<Space | undefined>;
  readonly records: () => Promise<Space | undefined>;
}

interface Space {
  readonly free: number;
  readonly total: number;
}

/**
 * Checks the free space before every write but deletes. Throws `XMinioStorageFull` while less than the reserve is free, or when the
 * body of `announced` bytes would leave less; the caller announces 0 for an inline body. Answers synchronously while the last
 * measurement is fresh.
 */
type SpaceCheck = (announced: number) => Promise<void> | void;

/** The maximum age of a measurement in milliseconds: measuring for each of 20,000 writes a second would be too expensive. */
const MAX_AGE = 1000;

export function spaceCheck(volumes: Volumes, reserve: Reserve | undefined, clock: () => number): SpaceCheck {
  if (reserve === undefined) return () => undefined;
  let measured = -Infinity;
  let bodies: Space | undefined;
  let records: Space | undefined;
  let measuring: Promise<void> | undefined;
  const measure = async () => {
    try {
      [bodies, records] = await Promise.all([volumes.bodies(), volumes.records()]);
      measured = clock();
    } finally {
      measuring = undefined;
    }
  };
  const judge = (announced: number) => {
    if (records !== undefined) refuseBelow(reserve, 'records', records, 0);
    // A write to the records alone may use the space of deleted records, on a full disk too.
    if (bodies !== undefined && (announced > 0 || records === undefined)) {
      refuseBelow(reserve, 'bodies', bodies, announced);
    }
  };
  return (announced) => {
    const now = clock();
    if (now - measured < MAX_AGE && now >= measured) return judge(announced);
    return (measuring ??= measure()).then(() => judge(announced));
  };
}

function refuseBelow(reserve: Reserve, holds: string, space: Space, announced: number): void {
  const kept = 'bytes' in reserve ? reserve.bytes : (space.total * reserve.percent) / 100;
  if (space.free - announced >= kept) return;
  const body = announced > 0 ? `, the body has ${mebibytes(announced)}` : '';
  throw new S3Error(
    'XMinioStorageFull',
    `Only ${mebibytes(space.free)} are free for ${holds}${body}, and ${mebibytes(kept)} are reserved (SVC_STORAGE_RESERVE). Delete objects to go on.`,
  );
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 1_048_576)} MiB`;
}

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
  readonly lockClock: LockClock;
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
  /** Milliseconds of a day of lifecycle rules. */
  readonly lifecycleDayMs: number;
}
