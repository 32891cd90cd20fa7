import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectInfo, ObjectLayer } from '../objects/contract/object-layer.ts';
import { replicationQueue } from '../objects/replication/queue-replication.ts';
import { readState } from '../outbox/queue-state.ts';
import type { RecordStore } from '../store/record-store.ts';
import type { RemoteTargets } from './remote-targets.ts';

interface SynchronousReplicationOptions {
  readonly targets: Pick<RemoteTargets, 'ofBucket'>;
  readonly records: Pick<RecordStore, 'get'>;
  readonly objects: Pick<ObjectLayer, 'headObject'>;
  /** Milliseconds of a monotonic clock. If a clock were set back, an answer would wait for longer. */
  readonly clock?: () => number;
  /** Ends all waits: the server stops, and answers what it has done. */
  readonly stopping?: AbortSignal | undefined;
  /** Milliseconds for which an answer waits at most. */
  readonly maxWaitMs?: number;
  /** Answers of this thread that wait at the same time. */
  readonly maxWaiting?: number;
}

/** A version that was just written. */
type Written = Pick<ObjectInfo, 'bucket' | 'key' | 'versionId' | 'replication'>;

/** Milliseconds for which the targets of a bucket are remembered. */
const targetsMs = 1_000;
const maxBuckets = 1_000;
/** Milliseconds between two looks at a version: few at first, since a delivery is mostly short. */
const lookMs = { first: 2, max: 50 };
/** Milliseconds between two looks at the state of a queue. */
const stateMs = 500;

/**
 * Lets the answer to a write wait until the targets that ask for it have the version, or have refused it. The delivery is that of the queue,
 * which was written with the version: so a wait that ends early loses nothing, and the status of the version says PENDING.
 */
export class SynchronousReplication {
  readonly #options: SynchronousReplicationOptions;
  readonly #targets = new Map<string, { readonly until: number; readonly ids: ReadonlySet<string> }>();
  #waiting = 0;

  constructor(options: SynchronousReplicationOptions) {
    this.#options = options;
  }

  /** Resolves when the answer may be sent. It never rejects: the write is done. */
  async wait(written: Written): Promise<void> {
    const { maxWaiting = 256, stopping } = this.#options;
    if (written.replication?.status !== 'PENDING' || this.#waiting >= maxWaiting || stopping?.aborted === true) return;
    this.#waiting += 1;
    try {
      const ids = await this.#synchronous(written.bucket);
      const waiting = (written.replication.waiting ?? []).filter((id) => ids.has(id));
      if (waiting.length > 0) await this.#untilAttempted(written, waiting);
    } catch {
      // The store failed, the version is gone, or the server stops.
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Returns the ids of the targets of a bucket for which answers wait. */
  async #synchronous(bucket: string): Promise<ReadonlySet<string>> {
    const now = this.#now();
    const known = this.#targets.get(bucket);
    if (known !== undefined && known.until > now) return known.ids;
    const stored = await this.#options.targets.ofBucket(bucket);
    const ids = new Set(stored.filter(({ target }) => target.sync === true).map(({ id }) => id));
    if (this.#targets.size >= maxBuckets) this.#targets.clear();
    this.#targets.set(bucket, { until: now + targetsMs, ids });
    return ids;
  }

  async #untilAttempted({ bucket, key, versionId }: Written, ids: readonly string[]): Promise<void> {
    const { objects, stopping, maxWaitMs = 30_000 } = this.#options;
    const began = this.#now();
    let present = await this.#withoutAway(ids);
    let lookedAt = began;
    for (let pause = lookMs.first; present.length > 0; pause = Math.min(2 * pause, lookMs.max)) {
      await sleep(pause, undefined, stopping && { signal: stopping });
      const { replication } = await objects.headObject(bucket, key, versionId === undefined ? {} : { versionId });
      if (replication?.status !== 'PENDING' || !present.some((id) => replication.waiting?.includes(id))) return;
      const now = this.#now();
      if (now - began >= maxWaitMs) return;
      if (now - lookedAt < stateMs) continue;
      present = await this.#withoutAway(present);
      lookedAt = now;
    }
  }

  /** Leaves out targets that do not answer: the queue delivers when they are back. */
  async #withoutAway(ids: readonly string[]): Promise<readonly string[]> {
    const present: string[] = [];
    for (const id of ids) {
      const state = await readState(this.#options.records, replicationQueue(id));
      if (state?.failure?.away !== true) present.push(id);
    }
    return present;
  }

  #now(): number {
    return this.#options.clock?.() ?? performance.now();
  }
}
