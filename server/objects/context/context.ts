import type { SharedMutex } from '../../shared-memory/shared-mutex.ts';
import type { DigestKeys } from '../../encryption/digest-keys.ts';
import type { KeySource } from '../../encryption/key-source.ts';
import type { BlobStore, BlobId } from '../../store/blob-store.ts';
import type { RecordStore } from '../../store/record-store.ts';
import type { WrittenFormat } from '../../store/written-format.ts';
import type { SettingCondition } from '../contract/buckets.ts';
import type { BufferSlots } from '../hashing/buffer-slots.ts';
import type { DecodedBuckets } from '../records/bucket-record.ts';
import type { DamageEvent } from '../contract/damage-event.ts';
import type { LeftUploads } from '../contract/left-uploads.ts';
import type { QuarantineCheckTimes } from './quarantine-check-times.ts';
import type { KeyedMutex } from '../../../platform/async/concurrency.ts';
import type { Tiers } from '../contract/tiers.ts';
import type { LockClock } from '../contract/lock-clock.ts';
import type { KnownKeyUses } from '../records/key-use.ts';
import type { BlockSums } from '../checksums/block-sums.ts';
import type { EventHub } from './event-hub.ts';

/**
 * Checks the free space before every write but deletes. Throws `XMinioStorageFull` while less than the reserve is free, or when the
 * body of `announced` bytes would leave less; the caller announces 0 for an inline body. Answers synchronously while the last
 * measurement is fresh.
 */
export type SpaceCheck = (announced: number) => Promise<void> | void;

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
  readonly events: EventHub;
  readonly tiers: Tiers;
  /** Called when an object is quarantined or released, and when a second read found whole bytes. */
  readonly onDamage: (event: DamageEvent) => void;
  /** Called after a commit that ended such uploads. */
  readonly onUploadsEnded: (ended: LeftUploads) => void;
  readonly quarantineChecks: QuarantineCheckTimes;
  readonly written: WrittenFormat;
  /** The state that a change of a bucket's setting expects. It is absent for most calls. */
  readonly condition?: SettingCondition;
}

/** Block sums that this thread computes at the moment, by blob: concurrent readers of one body share the work. */
export type PendingBlockSums = Map<BlobId, Promise<BlockSums | undefined>>;
