import type { SharedMutex } from '../../platform/shared-mutex.ts';
import type { DigestKeys } from '../encryption/digest-keys.ts';
import type { KeySource } from '../encryption/key-source.ts';
import type { BlobStore } from '../store/blob-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { BlockSumsUnderWay } from './block-sums-of.ts';
import type { Seats } from './hashing/seats.ts';
import type { KnownKeyUses } from './key-guard.ts';
import type { DecodedBuckets } from './records/decoded-buckets.ts';
import type { SpaceCheck } from './space-check.ts';
import type { Turns } from './turns.ts';

/** What every operation works with: `ObjectLayerOptions` with nothing left out. */
export interface Environment {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  readonly keys: KeySource;
  readonly digests: DigestKeys;
  readonly clock: () => number;
  readonly random: (size: number) => Buffer;
  readonly inlineLimit: number;
  readonly autoEncryption: boolean;
  readonly checkSpace: SpaceCheck;
  /** Of this thread's writers that met each other, by the key they met at. */
  readonly turns: Turns;
  readonly buckets: DecodedBuckets;
  readonly keyUses: KnownKeyUses;
  readonly blockSumsUnderWay: BlockSumsUnderWay;
  readonly blockSumsMutex: SharedMutex;
  /** Where large bodies are hashed on another thread; undefined where there is none. */
  readonly seats: Seats | undefined;
}
