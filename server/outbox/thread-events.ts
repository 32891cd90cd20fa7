import { outboxKeys } from '../objects/events/outbox.ts';
import type { EventHub, ObjectEvent } from '../objects/events/object-event.ts';
import { commitOnce } from '../store/commits.ts';
import type { RecordStore } from '../store/record-store.ts';
import { readState } from './queue-state.ts';

/** Milliseconds after which the state of a queue is read again, and dropped events are counted. */
const refreshMs = 1_000;

interface ThreadEventsOptions {
  readonly records: RecordStore;
  readonly random: (size: number) => Buffer;
  /** A monotonic clock in milliseconds. */
  readonly clock?: () => number;
  readonly log: { warn(fields: object, message: string): void };
}

/** The events of one thread: its listeners, and what it knows of full queues. It reads nothing until a bucket has rules. */
export class ThreadEvents implements EventHub {
  readonly #options: ThreadEventsOptions;
  readonly #clock: () => number;
  readonly #queues = new Map<string, { full: boolean; readAt: number }>();
  readonly #dropped = new Map<string, number>();
  #counting: NodeJS.Timeout | undefined;
  #listener: ((event: ObjectEvent) => void) | undefined;
  isHeard = false;

  constructor(options: ThreadEventsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  /** Sets the listener of this thread's events, or removes it. */
  listen(listener: ((event: ObjectEvent) => void) | undefined): void {
    this.#listener = listener;
    this.isHeard = listener !== undefined;
  }

  hear(event: ObjectEvent): void {
    this.#listener?.(event);
  }

  isFull(target: string): boolean {
    const now = this.#clock();
    const known = this.#queues.get(target) ?? { full: false, readAt: -Infinity };
    if (now - known.readAt >= refreshMs) {
      known.readAt = now;
      this.#queues.set(target, known);
      void this.#refresh(target, known);
    }
    return known.full;
  }

  async #refresh(target: string, known: { full: boolean }): Promise<void> {
    try {
      known.full = (await readState(this.#options.records, target))?.fullSince !== undefined;
    } catch {
      // The commit that asks fails with the error of the store.
    }
  }

  countDropped(target: string): void {
    this.#dropped.set(target, (this.#dropped.get(target) ?? 0) + 1);
    this.#counting ??= setTimeout(() => void this.flush(), refreshMs).unref();
  }

  /** Adds the dropped events to the counters in the store. */
  async flush(): Promise<void> {
    clearTimeout(this.#counting);
    this.#counting = undefined;
    const counts = [...this.#dropped];
    if (counts.length === 0) return;
    this.#dropped.clear();
    const { records, random, log } = this.#options;
    const add = counts.map(([target, count]) => ({ key: outboxKeys.dropped(target), delta: BigInt(count) }));
    try {
      await commitOnce(records, { add }, random);
    } catch (error) {
      log.warn(
        { event: 'notify-dropped', err: error, counts: Object.fromEntries(counts) },
        'dropped events were not counted',
      );
    }
  }
}
