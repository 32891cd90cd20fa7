import type { SharedMutex } from '../../platform/shared-mutex.ts';
import type { DigestKeys } from '../encryption/digest-keys.ts';
import type { KeySource } from '../encryption/key-source.ts';
import type { BlobStore } from '../store/blob-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { BlockSumsUnderWay } from './bodies/block-sums-of.ts';
import type { Seats } from './hashing/buffer-slots.ts';
import type { KnownKeyUses } from './encryption/key-use.ts';
import type { DecodedBuckets } from './records/bucket-record.ts';
import type { SpaceCheck } from './operations/space-check.ts';

/** Lets those who want the same thing in this thread have it one after the other, in the order in which they asked. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Resolves when it is the caller's turn; the caller then calls what it resolved to, whatever happens, to end its turn. */
  async take(name: string): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#last.get(name);
    this.#last.set(name, promise);
    await before;
    return () => {
      if (this.#last.get(name) === promise) this.#last.delete(name);
      resolve();
    };
  }
}

/** Asked for at once: a call of the system's generator costs 9 µs however few bytes it gives, and each write wants some twice. */
const POOL_BYTES = 4096;

/** Random bytes of `source`, taken many at a time. Each byte is given out once, and nothing of it stays in the pool. */
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
