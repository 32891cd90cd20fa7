import { t } from '../../texts/texts.ts';

/** A page of a list that the server returns from a cursor on. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The cursor of the next page; absent on the last one. */
  readonly next?: string | undefined;
}

interface Slot<Row> {
  readonly cursor: string;
  /** The index of its first row in the list. */
  readonly start: number;
  readonly count: number;
  /** Absent after the page was dropped. */
  rows: readonly Row[] | undefined;
  used: number;
}

/** Pages that stay in memory: a list of a million rows takes no more of it than one of twenty thousand. */
export const keptPages = 20;

/**
 * The rows of a long list. Pages are loaded in order as the user scrolls. Those that were not looked at for the longest time are dropped;
 * only their cursors and counts stay, and they are loaded again when the user scrolls back.
 */
export class PageStore<Row> {
  readonly #load: (cursor: string, signal: AbortSignal) => Promise<Page<Row>>;
  readonly #slots: Slot<Row>[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #loading = new Set<number>();
  readonly #abort = new AbortController();
  #next: string | undefined;
  #error: Error | undefined;
  #reach = 0;
  #uses = 0;
  #version = 0;

  /** @param from the cursor of the first page; empty for the beginning of the list */
  constructor(load: (cursor: string, signal: AbortSignal) => Promise<Page<Row>>, from = '') {
    this.#load = load;
    this.#next = from;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Changes with each change of the rows. */
  readonly version = (): number => this.#version;

  /** The rows that were loaded once. */
  get count(): number {
    const last = this.#slots.at(-1);
    return last === undefined ? 0 : last.start + last.count;
  }

  /** True when the end of the list was reached. */
  get complete(): boolean {
    return this.#next === undefined;
  }

  get loading(): boolean {
    return this.#loading.size > 0;
  }

  get error(): Error | undefined {
    return this.#error;
  }

  /** The last row that the user looked at. */
  get reach(): number {
    return this.#reach;
  }

  /** Reports if the list is loaded up to this row, or cannot be. */
  reaches(index: number): boolean {
    return index < this.count || this.complete || this.#error !== undefined;
  }

  /** Undefined while its page is not in memory. */
  row(index: number): Row | undefined {
    const slot = this.#slots[this.#slotOf(index)];
    if (slot === undefined) return undefined;
    slot.used = ++this.#uses;
    return slot.rows?.[index - slot.start];
  }

  /** All rows in memory. */
  rows(): readonly Row[] {
    return this.#slots.flatMap(({ rows }) => rows ?? []);
  }

  /** Loads the pages of these rows, and the next page where `last` is near the end. */
  ensure(first: number, last: number): void {
    this.#reach = last;
    if (this.#error !== undefined || this.#abort.signal.aborted) return;
    for (let at = this.#slotOf(first); at <= this.#slotOf(last); at += 1) {
      const slot = this.#slots[at];
      if (slot !== undefined && slot.rows === undefined) void this.#reload(at);
    }
    if (this.#next !== undefined && last >= this.count - 50) void this.#append(this.#next);
  }

  /** Loads again after an error. */
  retry(): void {
    this.#error = undefined;
    this.#changed();
    this.ensure(this.count, this.count);
  }

  close(): void {
    this.#abort.abort();
  }

  /** The slot with the row, or the one after the last. */
  #slotOf(index: number): number {
    let [low, high] = [0, this.#slots.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const slot = this.#slots[middle];
      if (slot !== undefined && slot.start + slot.count <= index) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  async #append(cursor: string): Promise<void> {
    const at = this.#slots.length;
    if (this.#loading.has(at)) return;
    await this.#run(at, async () => {
      const { rows, next } = await this.#load(cursor, this.#abort.signal);
      this.#slots.push({ cursor, start: this.count, count: rows.length, rows, used: ++this.#uses });
      this.#next = next;
    });
    if (this.#abort.signal.aborted || this.#error !== undefined) return;
    // A page may have no row that is shown.
    if (this.count === 0 && this.#next !== undefined) void this.#append(this.#next);
  }

  async #reload(at: number): Promise<void> {
    const slot = this.#slots[at];
    if (slot === undefined) return;
    await this.#run(at, async () => {
      const { rows } = await this.#load(slot.cursor, this.#abort.signal);
      // Rows that came meanwhile would move all others: they show after a refresh.
      slot.rows = rows.slice(0, slot.count);
      slot.used = ++this.#uses;
    });
  }

  async #run(at: number, load: () => Promise<void>): Promise<void> {
    if (this.#loading.has(at)) return;
    this.#loading.add(at);
    try {
      await load();
      this.#dropOld();
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.#error = error instanceof Error ? error : new Error(t.objects.theRowsCannotBeShown);
    } finally {
      this.#loading.delete(at);
      this.#changed();
    }
  }

  #dropOld(): void {
    const kept = this.#slots.filter(({ rows }) => rows !== undefined);
    if (kept.length <= keptPages) return;
    const [oldest] = kept.sort((a, b) => a.used - b.used);
    if (oldest !== undefined) oldest.rows = undefined;
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
