import { eventOfHeld, outboxKeys } from '../objects/events/outbox.ts';
import { after } from '../store/keys.ts';
import { type Entry, type Key, type RecordStore, scanPages } from '../store/record-store.ts';
import { decodeHeld } from './held-records.ts';

type HeldRecord = ReturnType<typeof decodeHeld>;
type Refusal = Pick<HeldRecord, 'since' | 'error'>;

interface RecordedEventsOptions {
  readonly records: RecordStore;
  /** Milliseconds of a clock that is never set. */
  readonly monotonicClock: () => number;
  /** Milliseconds between the end of the attempts for all events and their next beginning. */
  readonly maxMs: number;
}

/**
 * Held events that are known by their records alone: a target that refuses a million events must not fill the memory. The records of a window of the queue
 * are read with it. Each pass tries the events of one window again, and the next pass those of the next one, so that new events wait for few attempts. A pass
 * tries all windows where the target took all that the last pass tried, until it refuses one.
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
  #first: Refusal | undefined;
  /** The first refusal of the windows that this pass has ended. */
  #firstMet: Refusal | undefined;
  #dueAt = 0;
  /** The windows that end before this key were tried. Undefined at the beginning of the queue. */
  #triedTo: Key | undefined;
  /** True where this pass has tried its window. */
  #hasTried = false;
  /** True where this pass tries the windows that follow too: the target took the events that the last pass tried. */
  #triesAll = false;
  /** True where the target has taken a held event since the attempts for all events began. */
  #isDueAgain = false;
  /** Events that the target took and refused in this pass. */
  #taken = 0;
  #refused = 0;
  /** This pass tries the events for which an administrator asked after this revision. */
  #asked: number | undefined;
  #nextAsked: number | undefined;
  /** The events of the window for which an administrator asked. */
  readonly #windowAsked = new Set<string>();

  constructor(options: RecordedEventsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  /** The first refusal. Undefined where no event is held by its record alone. */
  get first(): Refusal | undefined {
    return this.#count === 0 ? undefined : this.#first;
  }

  /** Counts an event that another server has held. */
  onFound(record: HeldRecord): void {
    this.#count += 1;
    this.#first = firstOf(this.#first, record);
  }

  /** Adds an event of the window, which the target has refused. */
  add(event: Key, record: HeldRecord): void {
    this.#window.set(nameOf(event), record);
    this.#count += 1;
    this.#met += 1;
    this.#first = this.#count === 1 ? record : firstOf(this.#first, record);
  }

  /** Notes that the target has refused an event of the window again. */
  onRefused(): void {
    this.#refused += 1;
  }

  /** Removes an event of the window: the target took it, or it has a time of its own now. */
  remove(event: Key, why: 'taken' | 'timed'): void {
    if (!this.#window.delete(nameOf(event))) return;
    if (why === 'taken') this.#taken += 1;
    this.#count = Math.max(0, this.#count - 1);
    this.#met -= 1;
  }

  /** Returns the record of an event of the window. */
  recordOf(event: Key): HeldRecord | undefined {
    return this.#window.get(nameOf(event));
  }

  isWaiting(event: Key): boolean {
    const name = nameOf(event);
    return !this.#isWindowDue && this.#window.has(name) && !this.#windowAsked.has(name);
  }

  /** Makes all events due, one window in each pass: the target has taken an event that it had refused. */
  makeDue(): void {
    this.#dueAt = 0;
    this.#isDueAgain = this.#triedTo !== undefined;
  }

  /** Lets the next pass try the events for which an administrator asked after this revision. */
  askedAfter(revision: number): void {
    this.#nextAsked = Math.min(this.#nextAsked ?? Infinity, revision);
  }

  beginPass(): void {
    this.#met = 0;
    this.#firstMet = undefined;
    this.#hasTried = false;
    this.#triesAll = this.#taken > 0 && this.#refused === 0;
    this.#taken = 0;
    this.#refused = 0;
    this.#asked = this.#nextAsked;
    this.#nextAsked = undefined;
  }

  /** Reads the records of a part of the queue. */
  async openWindow(events: readonly Entry[]): Promise<void> {
    const { records } = this.#options;
    this.#closeWindow();
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
        if (!names.has(name)) continue;
        const record = decodeHeld(item);
        this.#window.set(name, record);
        if (this.#asked !== undefined && item.revision > this.#asked && record.retries !== undefined)
          this.#windowAsked.add(name);
      }
    }
    this.#met += this.#window.size;
    this.#isWindowDue = this.#triesAll && this.#refused === 0 && this.#window.size > 0 ? true : this.#isNext(last);
    if (!this.#isWindowDue) return;
    this.#hasTried = true;
    this.#triedTo = after(last);
  }

  /** Ends a pass. One over the whole queue has counted all events. */
  endPass(isWhole: boolean): void {
    this.#closeWindow();
    if (isWhole) {
      this.#count = this.#met;
      this.#first = this.#firstMet;
    }
    const now = this.#options.monotonicClock();
    if (this.#hasTried || now < this.#dueAt) return;
    this.#triedTo = undefined;
    this.#dueAt = this.#isDueAgain ? 0 : now + this.#options.maxMs;
    this.#isDueAgain = false;
  }

  #closeWindow(): void {
    for (const record of this.#window.values()) this.#firstMet = firstOf(this.#firstMet, record);
    this.#window.clear();
    this.#windowAsked.clear();
  }

  #isNext(last: Key): boolean {
    if (this.#window.size === 0 || this.#hasTried || this.#options.monotonicClock() < this.#dueAt) return false;
    return this.#triedTo === undefined || Buffer.compare(last, this.#triedTo) >= 0;
  }
}

function firstOf(first: Refusal | undefined, { since, error }: Refusal): Refusal {
  return first === undefined || since < first.since ? { since, error } : first;
}

function nameOf(key: Key): string {
  return key.toString('latin1');
}
