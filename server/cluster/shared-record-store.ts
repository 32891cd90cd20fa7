import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Batch,
  type CommitId,
  type Entry,
  type Key,
  type Outcome,
  type RecordStore,
  type ScanItem,
  type ScanRange,
} from '../store/record-store.ts';
import { liveKeys } from './server-registry.ts';
import { StoreError, isStoreError } from '../store/store-error.ts';

/** Milliseconds between checks of the limits, which is their precision. */
const tick = 100;
/** Milliseconds between two reports of one outage, whose reason may change with each probe. */
const toldEvery = 10_000;

interface Outage {
  /** That of the last probe. */
  readonly reason: string;
  readonly since: number;
  /** The last report. */
  readonly told: { readonly reason: string; readonly at: number };
}

interface Waiting {
  readonly until: number;
  readonly limitMs: number;
  readonly giveUp: (limitMs: number) => void;
}

/** Limits the time of many promises with a single timer: thousands of calls a second would each need their own. */
class TimeLimits {
  readonly #clock: () => number;
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  /** @param clock a monotonic clock in milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  get underWay(): number {
    return this.#waiting.size;
  }

  /** Settles like the promise, or rejects with the error if that takes longer than the limit. */
  async within<T>(limitMs: number, promise: Promise<T>, error: (limitMs: number) => Error): Promise<T> {
    const late = Promise.withResolvers<never>();
    const waiting: Waiting = {
      until: this.#clock() + limitMs,
      limitMs,
      giveUp: (limit) => late.reject(error(limit)),
    };
    this.#waiting.add(waiting);
    this.#timer ??= setInterval(() => this.#look(), tick).unref();
    try {
      return await Promise.race([promise, late.promise]);
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = this.#clock();
    for (const waiting of this.#waiting) {
      if (waiting.until > now) continue;
      this.#waiting.delete(waiting);
      waiting.giveUp(waiting.limitMs);
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Limits in milliseconds, and the maximum number of concurrent calls. */
interface SharedStoreLimits {
  /** For one call. */
  readonly answer: number;
  /** For `outcome`: it waits this long for an unavailable store, so that a lost acknowledgement can be resolved, and this long for its answer. */
  readonly settle: number;
  /** Commits without an acknowledgement for this long are a fault of the store. */
  readonly unacknowledged: number;
  /** The time between two probes of the store: while it is unavailable, and while it is available. */
  readonly lookWhileAway: number;
  readonly look: number;
  readonly underWay: number;
}

export const sharedStoreLimits: SharedStoreLimits = {
  answer: 10_000,
  settle: 3_000,
  unacknowledged: 5_000,
  lookWhileAway: 250,
  look: 2_000,
  underWay: 1_000,
};

interface SharedRecordStoreOptions {
  readonly open: () => Promise<RecordStore>;
  /** Asks the store whether it answers, and whether it is the right one. Throws `StoreError`. */
  readonly look?: (store: RecordStore) => Promise<unknown>;
  /** Called with the reason when the store becomes unavailable, and with undefined when it is back. */
  readonly onChange?: (outage: string | undefined) => void;
  readonly limits?: SharedStoreLimits;
  /** A monotonic clock in milliseconds. */
  readonly clock?: () => number;
}

/**
 * The handle of one thread for a record store on another machine. Every call has a timeout. While the store is unavailable, every call
 * fails at once, so that requests do not accumulate, and probes find out when it is back.
 */
export class SharedRecordStore implements RecordStore {
  readonly #options: SharedRecordStoreOptions;
  readonly #limits: SharedStoreLimits;
  readonly #clock: () => number;
  readonly #timed: TimeLimits;
  #store: RecordStore | undefined;
  #outage: Outage | undefined;
  /** When the first of the last commits began that have no acknowledgement. */
  #unacknowledgedSince: number | undefined;
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #back = Promise.withResolvers<void>();
  #closed = false;

  constructor(options: SharedRecordStoreOptions) {
    this.#options = options;
    this.#limits = options.limits ?? sharedStoreLimits;
    this.#clock = options.clock ?? (() => performance.now());
    this.#timed = new TimeLimits(this.#clock);
  }

  /** Throws `StoreError`; may be repeated. */
  async open(): Promise<void> {
    if (this.#store !== undefined) return;
    const store = await this.#options.open();
    if (this.#closed) return store.close();
    this.#store = store;
    this.#lookLater();
  }

  /** Returns why the store is unavailable, and for how many milliseconds. */
  outage(): { readonly reason: string; readonly forMs: number } | undefined {
    const outage = this.#outage;
    return outage && { reason: outage.reason, forMs: this.#clock() - outage.since };
  }

  get(key: Key): Promise<Entry | undefined> {
    return this.#ask((store) => store.get(key));
  }

  getAll(keys: readonly Key[]): Promise<readonly (Entry | undefined)[]> {
    return this.#ask((store) => store.getAll(keys));
  }

  async *scan(range: ScanRange): AsyncIterable<ScanItem> {
    const items = this.#reached().scan(range)[Symbol.asyncIterator]();
    let done = false;
    try {
      for (;;) {
        const next = await this.#ask(() => items.next());
        if (next.done === true) {
          done = true;
          return;
        }
        yield next.value;
      }
    } finally {
      // This is not awaited, because it would hang with the store.
      if (!done) void items.return?.()?.catch(() => undefined);
    }
  }

  async commit(batch: Batch): Promise<Outcome> {
    const store = this.#reached();
    const began = this.#clock();
    try {
      const outcome = await this.#timed.within(this.#limits.answer, store.commit(batch), tooLate);
      this.#unacknowledgedSince = outcome.kind === 'unknown' ? (this.#unacknowledgedSince ?? began) : undefined;
      return outcome;
    } catch (error) {
      if (isAway(error)) this.#unacknowledgedSince ??= began;
      this.#onError(error);
      // The commit may still be in flight. `outcome` resolves that.
      if (isStoreError(error, 'timeout')) return { kind: 'unknown' };
      throw error;
    }
  }

  async outcome(id: CommitId): Promise<'committed' | 'not-committed'> {
    if (this.#outage !== undefined) {
      await this.#timed.within(this.#limits.settle, this.#back.promise, () => this.#away());
    }
    return this.#ask((store) => store.outcome(id), this.#limits.settle);
  }

  /** A database whose synchronous standby is away answers reads and holds commits back. The heartbeat of this server commits every 3 s. */
  check(): Promise<void> {
    const since = this.#unacknowledgedSince;
    if (since === undefined || this.#clock() - since < this.#limits.unacknowledged) return Promise.resolve();
    return Promise.reject(
      new StoreError(
        'unreachable',
        'the database acknowledges no writes; see if its synchronous standbys are connected',
      ),
    );
  }

  // These read all keys, which may take longer than any other call. The engine has a session of its own for them.

  async counts(): ReturnType<NonNullable<RecordStore['counts']>> {
    return this.#reached().counts?.();
  }

  async counted(): ReturnType<NonNullable<RecordStore['counted']>> {
    return this.#reached().counted?.();
  }

  async recount(): Promise<void> {
    await this.#reached().recount?.();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    // This waits for calls in flight, but not for a store that does not answer.
    const late = sleep(this.#limits.settle, undefined, { ref: false });
    await Promise.race([this.#store?.close(), late]);
    this.#timed.close();
  }

  async #ask<T>(question: (store: RecordStore) => Promise<T>, limitMs = this.#limits.answer): Promise<T> {
    const store = this.#reached();
    try {
      return await this.#timed.within(limitMs, question(store), tooLate);
    } catch (error) {
      this.#onError(error);
      throw error;
    }
  }

  #reached(): RecordStore {
    if (this.#store === undefined) throw new StoreError('unreachable', 'the record store is not open yet');
    if (this.#outage !== undefined) throw this.#away();
    if (this.#timed.underWay >= this.#limits.underWay) {
      throw new StoreError('unreachable', `${this.#timed.underWay} calls wait for the record store already`);
    }
    return this.#store;
  }

  #away(): StoreError {
    return new StoreError('unreachable', `the record store cannot be reached: ${this.#outage?.reason ?? ''}`);
  }

  /** Starts a probe after a failure. One lost connection is not an outage: only a failed probe is. */
  #onError(error: unknown): void {
    if (isAway(error)) void this.#look();
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined;
      this.#lookLater();
    });
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    if (this.#store === undefined || this.#closed) return;
    try {
      const { look = (store: RecordStore) => store.get(liveKeys.server('-')) } = this.#options;
      await this.#timed.within(this.#limits.settle, look(this.#store), tooLate);
      this.#nowBack();
    } catch (error) {
      // Any other error is an answer of the store.
      if (isAway(error)) this.#nowAway(error.message);
      else this.#nowBack();
    }
  }

  #nowAway(reason: string): void {
    if (this.#closed) return;
    const now = this.#clock();
    const { since = now, told = { reason: '', at: -Infinity } } = this.#outage ?? {};
    const tells = reason !== told.reason && now - told.at >= toldEvery;
    if (this.#outage === undefined) this.#back = Promise.withResolvers();
    this.#outage = { reason, since, told: tells ? { reason, at: now } : told };
    if (tells) this.#options.onChange?.(reason);
  }

  #nowBack(): void {
    if (this.#outage === undefined) return;
    this.#outage = undefined;
    this.#back.resolve();
    this.#options.onChange?.(undefined);
  }

  #lookLater(): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    const { look, lookWhileAway } = this.#limits;
    this.#timer = setTimeout(() => void this.#look(), this.#outage === undefined ? look : lookWhileAway).unref();
  }
}

function tooLate(limitMs: number): StoreError {
  return new StoreError('timeout', `the record store did not answer within ${limitMs / 1_000} s`);
}

/** Reports if the store could not be asked. */
function isAway(error: unknown): error is StoreError {
  return isStoreError(error, 'unreachable', 'timeout');
}
