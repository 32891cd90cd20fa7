import { eventOfHeld, outboxKeys } from '../objects/events/outbox.ts';
import { after } from '../store/keys.ts';
import { type Entry, type Key, type RecordStore, scanPages } from '../store/record-store.ts';
import { decodeHeld } from './held-records.ts';

type HeldRecord = ReturnType<typeof decodeHeld>;

interface RecordedEventsOptions {
  readonly records: RecordStore;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicClock: () => number;
  /** Milliseconds between the end of the attempts for all events and their next beginning. */
  readonly maxMs: number;
}

/**
 * Held events that are known by their records alone: a target that refuses a million events must not fill the memory. The records of a window of the queue
 * are read with it. Each pass tries the events of one window again, and the next pass those of the next one, so that new events wait for few attempts.
 */
export class RecordedEvents {
  readonly #options: RecordedEventsOptions;
  /** The records of the window, by the names of their events. */
  readonly #window = new Map<string, HeldRecord>();
  #isWindowDue = false;
  /** The events as the last pass counted them, and those that were refused since. */
  #count = 0;
  /** The events that this pass has met. */
  #met = 0;
  #first: Pick<HeldRecord, 'since' | 'error'> | undefined;
  #dueAt = 0;
  /** The windows that end before this key were tried. Undefined at the beginning of the queue. */
  #triedTo: Key | undefined;
  /** True where this pass has tried its window. */
  #hasTried = false;
  #triesAll = false;
  #isAsked = false;

  constructor(options: RecordedEventsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  /** The first refusal. Undefined where no event is held by its record alone. */
  get first(): Pick<HeldRecord, 'since' | 'error'> | undefined {
    return this.#count === 0 ? undefined : this.#first;
  }

  /** Counts an event that another server has held. */
  onFound(record: HeldRecord): void {
    this.#count += 1;
    this.#note(record);
  }

  /** Adds an event of the window, which the target has refused. */
  add(event: Key, record: HeldRecord): void {
    this.#window.set(nameOf(event), record);
    this.#count += 1;
    this.#met += 1;
    this.#note(record);
  }

  /** Removes an event of the window: it left the queue, or has a time of its own now. */
  remove(event: Key): void {
    if (!this.#window.delete(nameOf(event))) return;
    this.#count = Math.max(0, this.#count - 1);
    this.#met -= 1;
  }

  /** Returns the record of an event of the window. */
  recordOf(event: Key): HeldRecord | undefined {
    return this.#window.get(nameOf(event));
  }

  isWaiting(event: Key): boolean {
    return !this.#isWindowDue && this.#window.has(nameOf(event));
  }

  /** Lets the next pass try all events. */
  makeDue(): void {
    this.#isAsked = true;
  }

  beginPass(): void {
    this.#met = 0;
    this.#hasTried = false;
    this.#triesAll = this.#isAsked;
    this.#isAsked = false;
  }

  /** Reads the records of a part of the queue. */
  async openWindow(events: readonly Entry[]): Promise<void> {
    const { records } = this.#options;
    this.#window.clear();
    this.#isWindowDue = false;
    if (this.#count === 0) return;
    const keys = events.map(({ key }) => key).toSorted((a, b) => Buffer.compare(a, b));
    const [first, last] = [keys[0], keys.at(-1)];
    if (first === undefined || last === undefined) return;
    const names = new Set(keys.map(nameOf));
    const range = { start: outboxKeys.held(first), end: after(outboxKeys.held(last)) };
    for await (const page of scanPages(records, range)) {
      for (const item of page) {
        if (item.kind !== 'entry') continue;
        const name = nameOf(eventOfHeld(item.key));
        if (names.has(name)) this.#window.set(name, decodeHeld(item));
      }
    }
    this.#met += this.#window.size;
    this.#isWindowDue = this.#triesAll || this.#isNext(last);
    if (!this.#isWindowDue) return;
    this.#hasTried = true;
    this.#triedTo = after(last);
  }

  endPass(): void {
    this.#count = this.#met;
    const now = this.#options.monotonicClock();
    if (!this.#triesAll && (this.#hasTried || now < this.#dueAt)) return;
    this.#triedTo = undefined;
    this.#dueAt = now + this.#options.maxMs;
  }

  #isNext(last: Key): boolean {
    if (this.#window.size === 0 || this.#hasTried || this.#options.monotonicClock() < this.#dueAt) return false;
    return this.#triedTo === undefined || Buffer.compare(last, this.#triedTo) >= 0;
  }

  #note({ since, error }: HeldRecord): void {
    if (this.#count === 1 || this.#first === undefined || since < this.#first.since) this.#first = { since, error };
  }
}

function nameOf(key: Key): string {
  return key.toString('latin1');
}
