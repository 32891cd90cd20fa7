import type { RemoteTargetHealth } from '../../protocol/admin/remote-target.ts';
import { randomBytes } from 'node:crypto';
import { commitOnce } from '../store/commits.ts';
import { key } from '../store/keys.ts';
import type { RecordStore } from '../store/record-store.ts';
import { proxiedKeys } from './proxying/proxied-counts.ts';
import { decodeRecord, encodeRecord } from '../objects/records/record-format.ts';

/** The counts of a remote target since it was added. Sizes are bytes, times milliseconds since 1970. */
export interface ReplicationStats {
  readonly replicated: Count;
  readonly failed: Count;
  /** Present when the target was asked for a sign of life. */
  readonly health?: RemoteTargetHealth;
  readonly resync?: ResyncState;
}

/** A delivery that counts. */
export interface CountedDelivery {
  readonly kind: 'replicated' | 'failed';
  /** Plaintext bytes. */
  readonly bytes: number;
  /** The id of the resync that queued it. */
  readonly resync: string | undefined;
}

interface Count {
  readonly count: number;
  readonly bytes: number;
}

export interface ResyncState {
  readonly id: string;
  readonly started: number;
  readonly ended?: number;
  /** When an administrator ended it. What was queued until then is still sent, and counted. */
  readonly canceled?: number;
  /** Versions from this time on are not sent. */
  readonly before: number;
  /** The version at which the walk continues; absent at its start and its end. */
  readonly next?: { readonly key: string; readonly versionId?: string };
  readonly walked: boolean;
  readonly queued: number;
  readonly replicated: Count;
  readonly failed: Count;
}

const noStats: ReplicationStats = { replicated: { count: 0, bytes: 0 }, failed: { count: 0, bytes: 0 } };

const statsKey = (target: string) => key('replication-stats', target);

export async function readStats(records: Pick<RecordStore, 'get'>, target: string): Promise<ReplicationStats> {
  const entry = await records.get(statsKey(target));
  return entry === undefined
    ? noStats
    : (decodeRecord(entry.value, 'the state of a remote target') as ReplicationStats);
}

/** The counters of a target. The server that delivers writes them once a second. */
export class TargetStats {
  readonly #records: RecordStore;
  readonly #target: string;
  #stats: ReplicationStats;
  #written: ReplicationStats;
  /** Two writes at a time might store the older counts last. */
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(records: RecordStore, target: string, stats: ReplicationStats) {
    this.#records = records;
    this.#target = target;
    this.#stats = stats;
    this.#written = stats;
  }

  static async open(records: RecordStore, target: string): Promise<TargetStats> {
    return new TargetStats(records, target, await readStats(records, target));
  }

  get current(): ReplicationStats {
    return this.#stats;
  }

  /** Counts a delivery. A kill loses what was counted since the last write. */
  count(delivery: CountedDelivery): void {
    this.#stats = withDelivery(this.#stats, delivery);
  }

  setHealth(health: RemoteTargetHealth): void {
    this.#stats = { ...this.#stats, health };
  }

  setResync(resync: ResyncState): void {
    this.#stats = { ...this.#stats, resync };
  }

  write(): Promise<void> {
    const done = this.#writing.then(() => this.#save());
    this.#writing = done.catch(() => undefined);
    return done;
  }

  async #save(): Promise<void> {
    const stats = this.#stats;
    if (stats === this.#written) return;
    await commitOnce(
      this.#records,
      { put: [{ key: statsKey(this.#target), value: encodeRecord(stats) }] },
      randomBytes,
    );
    this.#written = stats;
  }
}

function withDelivery(stats: ReplicationStats, { kind, bytes, resync }: CountedDelivery): ReplicationStats {
  const running = stats.resync;
  return {
    ...stats,
    [kind]: plus(stats[kind], bytes),
    ...(resync !== undefined &&
      running?.id === resync && { resync: { ...running, [kind]: plus(running[kind], bytes) } }),
  };
}

function plus({ count, bytes }: Count, more: number): Count {
  return { count: count + 1, bytes: bytes + more };
}

export async function removeStats(records: RecordStore, target: string): Promise<void> {
  await commitOnce(records, { delete: [statsKey(target), ...proxiedKeys(target)] }, randomBytes);
}
