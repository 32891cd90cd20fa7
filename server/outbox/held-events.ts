import { backoffMs } from '../../platform/async/backoff.ts';
import { eventOfHeld, outboxKeys } from '../objects/events/outbox.ts';
import { within } from '../store/keys.ts';
import { type Batch, type Entry, type Key, type RecordStore, scanPages } from '../store/record-store.ts';
import { decodeHeld, encodeHeld } from './held-records.ts';
import { RecordedEvents } from './recorded-events.ts';

/** An event that the target has refused. */
interface HeldEvent {
  readonly key: Key;
  readonly since: number;
  readonly error: string;
  refusals: number;
  /** The time of the next attempt, in milliseconds of the monotonic clock. */
  dueAt: number;
  /** How often an administrator asked for another attempt, as far as it was read. */
  retries: number;
  /** The last pass over the queue that met it. */
  pass: number;
}

/** Milliseconds before the next attempt for a refused event: at first, and at most. */
export interface RetryTimes {
  readonly firstMs: number;
  readonly maxMs: number;
}

interface HeldEventsOptions {
  readonly records: RecordStore;
  readonly target: string;
  readonly commit: (batch: Omit<Batch, 'id'>) => Promise<unknown>;
  readonly clock: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicClock: () => number;
  readonly retry: RetryTimes;
  /** Events that have a time of their own. The others are known by their records alone. */
  readonly maxTimed: number;
}

/** Records that one commit writes. */
const writtenAtOnce = 128;

/**
 * The events of a queue that its target has refused, with the time of their next attempts. Each is tried again by itself, and holds up nothing but
 * the later events of its object. Each has a record, which administrators see. However many they are, the memory is that of `maxTimed` events and of a
 * window of the queue.
 */
export class HeldEvents {
  readonly #options: HeldEventsOptions;
  readonly #held = new Map<string, HeldEvent>();
  readonly #recorded: RecordedEvents;
  readonly #unwritten = new Map<string, Pick<HeldEvent, 'key' | 'since' | 'error'>>();
  #pass = 0;
  /** The revision of the last request for another attempt. */
  #asked: number | undefined;

  constructor(options: HeldEventsOptions) {
    this.#options = options;
    const { records, monotonicClock, retry } = options;
    this.#recorded = new RecordedEvents({ records, monotonicClock, maxMs: retry.maxMs });
  }

  get size(): number {
    return this.#held.size + this.#recorded.count;
  }

  /** The number of held events, and the first of the refusals. Undefined where no event is held. */
  get summary(): { readonly events: number; readonly since: number; readonly error: string } | undefined {
    let first: Pick<HeldEvent, 'since' | 'error'> | undefined = this.#recorded.first;
    for (const one of this.#held.values()) if (first === undefined || one.since < first.since) first = one;
    return first && { events: this.size, since: first.since, error: first.error };
  }

  /** Takes over what the server that delivered before has held. All of it is due. */
  async begin(): Promise<void> {
    const { records, target, maxTimed } = this.#options;
    this.#asked = (await records.get(outboxKeys.retry(target)))?.revision;
    for await (const entry of this.#stored()) {
      const record = decodeHeld(entry);
      if (this.#held.size >= maxTimed) {
        this.#recorded.onFound(record);
        continue;
      }
      const { since, error, retries = 0 } = record;
      const eventKey = eventOfHeld(entry.key);
      const state = { refusals: 1, dueAt: 0, retries, pass: this.#pass };
      this.#held.set(nameOf(eventKey), { key: eventKey, since, error, ...state });
    }
  }

  /** Begins a part of the pass: its events are asked for next. */
  async openWindow(events: readonly Entry[]): Promise<void> {
    const others = this.#recorded.count === 0 ? [] : events.filter(({ key }) => !this.#held.has(nameOf(key)));
    await this.#recorded.openWindow(others);
  }

  has({ key }: Entry): boolean {
    return this.#held.has(nameOf(key)) || this.#recorded.recordOf(key) !== undefined;
  }

  /** Notes that the queue still has an event, and reports whether the next attempt for it is later. */
  isWaiting({ key }: Entry): boolean {
    const held = this.#held.get(nameOf(key));
    if (held === undefined) return this.#recorded.isWaiting(key);
    held.pass = this.#pass;
    return held.dueAt > this.#options.monotonicClock();
  }

  /** Holds an event that the target has refused. */
  refuse({ key }: Entry, error: string): void {
    const { clock, monotonicClock, retry, maxTimed } = this.#options;
    const now = monotonicClock();
    const name = nameOf(key);
    let held = this.#held.get(name);
    if (held === undefined) {
      const record = this.#recorded.recordOf(key);
      const { since, error: first, retries = 0 } = record ?? { since: clock(), error };
      if (record === undefined) this.#unwritten.set(name, { key, since, error });
      else this.#recorded.onRefused();
      if (this.#held.size >= maxTimed) {
        if (record === undefined) this.#recorded.add(key, { since, error });
        return;
      }
      this.#recorded.remove(key, 'timed');
      held = { key, since, error: first, refusals: 0, dueAt: now, retries, pass: this.#pass };
      this.#held.set(name, held);
    }
    held.refusals += 1;
    held.dueAt = now + backoffMs(held.refusals, retry);
  }

  /** Returns the records of events which a commit removes. */
  recordsOf(removed: readonly Key[]): readonly Key[] {
    return removed.filter((key) => this.has({ key } as Entry)).map(outboxKeys.held);
  }

  /** Forgets events that the target has taken. Those without a time of their own are due then, window by window: it may take them too. */
  onTaken(taken: readonly Key[]): void {
    if (taken.some((key) => this.has({ key } as Entry))) this.#recorded.makeDue();
    this.#forget(taken);
  }

  #forget(removed: readonly Key[]): void {
    for (const key of removed) {
      this.#held.delete(nameOf(key));
      this.#unwritten.delete(nameOf(key));
      this.#recorded.remove(key, 'taken');
    }
  }

  /** Writes the records of the events that were refused for the first time. */
  async write(): Promise<void> {
    const { commit } = this.#options;
    while (this.#unwritten.size > 0) {
      const written = [...this.#unwritten].slice(0, writtenAtOnce);
      for (const [name] of written) this.#unwritten.delete(name);
      const put = written.map(([, { key, since, error }]) => ({
        key: outboxKeys.held(key),
        value: encodeHeld({ since, error }),
      }));
      await commit({ put });
    }
  }

  /** Makes those events due for which an administrator asked for another attempt. */
  async readRetries(): Promise<void> {
    const { records, target } = this.#options;
    if (this.size === 0) return;
    const asked = (await records.get(outboxKeys.retry(target)))?.revision;
    if (asked === this.#asked) return;
    for await (const entry of this.#stored()) {
      const held = this.#held.get(nameOf(eventOfHeld(entry.key)));
      if (held === undefined) continue;
      const { retries = 0 } = decodeHeld(entry);
      if (retries > held.retries) held.dueAt = 0;
      held.retries = retries;
    }
    this.#recorded.askedAfter(this.#asked ?? 0);
    this.#asked = asked;
  }

  /** Begins a pass over the whole queue. */
  beginPass(): void {
    this.#recorded.beginPass();
  }

  /** Ends a pass. What a pass over the whole queue did not meet was dropped by an administrator, and is forgotten. */
  async endPass(isWhole: boolean): Promise<void> {
    const missed = [...this.#held.values()].filter(({ pass }) => isWhole && pass < this.#pass);
    const gone = missed.map(({ key }) => key);
    this.#pass += 1;
    const stale = this.recordsOf(gone);
    this.#forget(gone);
    this.#recorded.endPass(isWhole);
    for (let at = 0; at < stale.length; at += writtenAtOnce)
      await this.#options.commit({ delete: stale.slice(at, at + writtenAtOnce) });
  }

  async *#stored(): AsyncGenerator<Entry> {
    const { records, target } = this.#options;
    for await (const page of scanPages(records, within('outbox-held', target)))
      for (const item of page) if (item.kind === 'entry') yield item;
  }
}

function nameOf(key: Key): string {
  return key.toString('latin1');
}
