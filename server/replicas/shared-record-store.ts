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
  StoreUnavailable,
} from '../store/record-store.ts';
import { liveKeys } from './replica-registry.ts';

/** Milliseconds between looks at who waits too long: a limit is kept to about this. */
const tick = 100;

interface Waiting {
  readonly until: number;
  readonly limitMs: number;
  readonly giveUp: (limitMs: number) => void;
}

/** Limits to how long promises are waited for. One timer serves them all: thousands a second would each start and stop their own. */
class TimeLimits {
  readonly #clock: () => number;
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  /** Monotonic milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  get underWay(): number {
    return this.#waiting.size;
  }

  /** As the promise; rejects with the error where it takes longer. */
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

/** Milliseconds, and how many questions may be on their way at once. */
interface SharedStoreLimits {
  /** That one question may take. */
  readonly answer: number;
  /** That a commit whose acknowledgement was lost waits for the store to be back, so that it can be settled. */
  readonly settle: number;
  /** Between two looks at whether the store is there: while it is not, and while all is well. */
  readonly lookWhileAway: number;
  readonly look: number;
  readonly underWay: number;
}

export const sharedStoreLimits: SharedStoreLimits = {
  answer: 10_000,
  settle: 3_000,
  lookWhileAway: 250,
  look: 2_000,
  underWay: 1_000,
};

interface SharedRecordStoreOptions {
  readonly open: () => Promise<RecordStore>;
  /** Told when the store is away, with the reason, and when it is back. */
  readonly onChange?: (outage: string | undefined) => void;
  readonly limits?: SharedStoreLimits;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

/**
 * A record store on another machine as one thread uses it: opened when it can be, and never waited for without end. While it is away
 * every question is refused at once, so that requests do not pile up; questions of its own find out when it is back.
 */
export class SharedRecordStore implements RecordStore {
  readonly #options: SharedRecordStoreOptions;
  readonly #limits: SharedStoreLimits;
  readonly #clock: () => number;
  readonly #timed: TimeLimits;
  #store: RecordStore | undefined;
  #outage: { readonly reason: string; readonly since: number } | undefined;
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

  /** Throws `StoreUnavailable`; may be repeated. */
  async open(): Promise<void> {
    if (this.#store !== undefined) return;
    const store = await this.#options.open();
    if (this.#closed) return store.close();
    this.#store = store;
    this.#lookLater();
  }

  /** Why the store cannot be used, and for how long, in milliseconds. */
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
      // Not waited for: it would hang with the store.
      if (!done) void items.return?.()?.catch(() => undefined);
    }
  }

  async commit(batch: Batch): Promise<Outcome> {
    const store = this.#reached();
    try {
      return await this.#timed.within(this.#limits.answer, store.commit(batch), tooLate);
    } catch (error) {
      this.#noticed(error);
      // It may be on its way still: `outcome` settles that.
      if (error instanceof TooLate) return { kind: 'unknown' };
      throw error;
    }
  }

  async outcome(id: CommitId): Promise<'committed' | 'not-committed'> {
    if (this.#outage !== undefined) {
      await this.#timed.within(this.#limits.settle, this.#back.promise, () => this.#away());
    }
    return this.#ask((store) => store.outcome(id));
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    // What is on its way is waited for, and a store that answers nothing is left alone.
    const late = sleep(this.#limits.settle, undefined, { ref: false });
    await Promise.race([this.#store?.close(), late]);
    this.#timed.close();
  }

  async #ask<T>(question: (store: RecordStore) => Promise<T>): Promise<T> {
    const store = this.#reached();
    try {
      return await this.#timed.within(this.#limits.answer, question(store), tooLate);
    } catch (error) {
      this.#noticed(error);
      throw error;
    }
  }

  #reached(): RecordStore {
    if (this.#store === undefined) throw new StoreUnavailable('unreachable', 'the record store was not reached yet');
    if (this.#outage !== undefined) throw this.#away();
    if (this.#timed.underWay >= this.#limits.underWay) {
      throw new StoreUnavailable('unreachable', `${this.#timed.underWay} questions wait for the record store already`);
    }
    return this.#store;
  }

  #away(): StoreUnavailable {
    return new StoreUnavailable('unreachable', `the record store cannot be reached: ${this.#outage?.reason ?? ''}`);
  }

  /** One lost connection is no outage: only when the store does not answer a question of this object's own is it away. */
  #noticed(error: unknown): void {
    if (error instanceof StoreUnavailable && error.reason === 'unreachable') void this.#look();
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
      await this.#timed.within(this.#limits.settle, this.#store.get(liveKeys.replica('-')), tooLate);
      this.#nowBack();
    } catch (error) {
      // A bad question is an answer, too.
      if (error instanceof StoreUnavailable && error.reason === 'unreachable') this.#nowAway(error.message);
      else this.#nowBack();
    }
  }

  #nowAway(reason: string): void {
    if (this.#outage !== undefined || this.#closed) return;
    this.#outage = { reason, since: this.#clock() };
    this.#back = Promise.withResolvers();
    this.#options.onChange?.(reason);
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

class TooLate extends StoreUnavailable {}

function tooLate(limitMs: number): TooLate {
  return new TooLate('unreachable', `the record store did not answer within ${limitMs / 1_000} s`);
}
