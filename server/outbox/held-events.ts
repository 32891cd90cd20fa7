import { backoffMs } from '../../platform/async/backoff.ts';
import { eventOfHeld, outboxKeys } from '../objects/events/outbox.ts';
import { within } from '../store/keys.ts';
import { type Batch, type Entry, type Key, type RecordStore, scanPages } from '../store/record-store.ts';
import { decodeHeld, encodeHeld } from './held-records.ts';

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

interface HeldEventsOptions {
  readonly records: RecordStore;
  readonly target: string;
  readonly commit: (batch: Omit<Batch, 'id'>) => Promise<unknown>;
  readonly clock: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicClock: () => number;
  /** Milliseconds at most between two attempts for one event. */
  readonly maxMs: number;
  /** True where administrators see the held events: each has a record then. */
  readonly isStored: boolean;
}

const firstMs = 250;
/** Records that one commit writes. */
const writtenAtOnce = 128;

/**
 * The events of a queue that its target has refused, with the time of their next attempts. Each is tried again by itself, and holds up nothing but
 * the later events of its object.
 */
export class HeldEvents {
  readonly #options: HeldEventsOptions;
  readonly #held = new Map<string, HeldEvent>();
  readonly #unwritten = new Set<HeldEvent>();
  #pass = 0;
  /** The revision of the last request for another attempt. */
  #asked: number | undefined;

  constructor(options: HeldEventsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#held.size;
  }

  /** The number of held events, and the first of the refusals. Undefined where no event is held. */
  get summary(): { readonly events: number; readonly since: number; readonly error: string } | undefined {
    let first: HeldEvent | undefined;
    for (const one of this.#held.values()) if (first === undefined || one.since < first.since) first = one;
    return first && { events: this.#held.size, since: first.since, error: first.error };
  }

  /** Takes over what the server that delivered before has held. All of it is due. */
  async begin(): Promise<void> {
    const { records, target, isStored } = this.#options;
    if (!isStored) return;
    this.#asked = (await records.get(outboxKeys.retry(target)))?.revision;
    for await (const entry of this.#stored()) {
      const { since, error, retries = 0 } = decodeHeld(entry);
      const eventKey = eventOfHeld(entry.key);
      const state = { refusals: 1, dueAt: 0, retries, pass: this.#pass };
      this.#held.set(nameOf(eventKey), { key: eventKey, since, error, ...state });
    }
  }

  /** Notes that the queue still has an event, and reports whether the next attempt for it is later. */
  isWaiting({ key }: Entry): boolean {
    const held = this.#held.get(nameOf(key));
    if (held === undefined) return false;
    held.pass = this.#pass;
    return held.dueAt > this.#options.monotonicClock();
  }

  /** Holds an event that the target has refused. */
  refuse({ key }: Entry, error: string): void {
    const { clock, monotonicClock, maxMs, isStored } = this.#options;
    const now = monotonicClock();
    const name = nameOf(key);
    let held = this.#held.get(name);
    if (held === undefined) {
      held = { key, since: clock(), error, refusals: 0, dueAt: now, retries: 0, pass: this.#pass };
      this.#held.set(name, held);
      if (isStored) this.#unwritten.add(held);
    }
    held.refusals += 1;
    held.dueAt = now + backoffMs(held.refusals, { firstMs, maxMs });
  }

  /** Returns the records of events which a commit removes. */
  recordsOf(removed: readonly Key[]): readonly Key[] {
    if (!this.#options.isStored) return [];
    return removed.filter((key) => this.#held.has(nameOf(key))).map(outboxKeys.held);
  }

  /** Forgets events that were removed from the queue. */
  forget(removed: readonly Key[]): void {
    for (const key of removed) {
      const held = this.#held.get(nameOf(key));
      if (held === undefined) continue;
      this.#held.delete(nameOf(key));
      this.#unwritten.delete(held);
    }
  }

  /** Writes the records of the events that were refused for the first time. */
  async write(): Promise<void> {
    const { commit } = this.#options;
    while (this.#unwritten.size > 0) {
      const written = [...this.#unwritten].slice(0, writtenAtOnce);
      for (const held of written) this.#unwritten.delete(held);
      const put = written.map(({ key, since, error }) => ({
        key: outboxKeys.held(key),
        value: encodeHeld({ since, error }),
      }));
      await commit({ put });
    }
  }

  /** Makes those events due for which an administrator asked for another attempt. */
  async readRetries(): Promise<void> {
    const { records, target, isStored } = this.#options;
    if (!isStored || this.#held.size === 0) return;
    const asked = (await records.get(outboxKeys.retry(target)))?.revision;
    if (asked === this.#asked) return;
    for await (const entry of this.#stored()) {
      const held = this.#held.get(nameOf(eventOfHeld(entry.key)));
      if (held === undefined) continue;
      const { retries = 0 } = decodeHeld(entry);
      if (retries > held.retries) held.dueAt = 0;
      held.retries = retries;
    }
    this.#asked = asked;
  }

  /** Ends a pass over the whole queue. What it did not meet was dropped by an administrator, and is returned. */
  async endPass(): Promise<readonly Key[]> {
    const gone = [...this.#held.values()].filter(({ pass }) => pass < this.#pass);
    this.#pass += 1;
    const keys = gone.map(({ key }) => key);
    const stale = this.recordsOf(keys);
    this.forget(keys);
    for (let at = 0; at < stale.length; at += writtenAtOnce)
      await this.#options.commit({ delete: stale.slice(at, at + writtenAtOnce) });
    return keys;
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
