import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { outboxKeys } from '../objects/events/outbox.ts';
import type { ObjectEvent } from '../objects/records/object-event.ts';
import { commitOnce } from '../store/commits.ts';
import type { RecordStore } from '../store/record-store.ts';
import { readState } from './queue-state.ts';
import type { EventHub } from '../objects/context/event-hub.ts';

/** Milliseconds for which a queue is known to take events, and after which dropped events are counted. */
const refreshMs = 1_000;

interface ThreadEventsOptions {
  readonly records: RecordStore;
  readonly random: (size: number) => Buffer;
  /** A monotonic clock in milliseconds. */
  readonly clock?: () => number;
  /** Milliseconds since 1970. */
  readonly wallClock?: () => number;
  readonly log: Pick<StructuredLog, 'warn'>;
}

/** The events of one thread: its listeners, and what it knows of full queues. It reads nothing until a bucket has rules. */
export class ThreadEvents implements EventHub {
  readonly #options: ThreadEventsOptions;
  readonly #clock: () => number;
  readonly #wallClock: () => number;
  /** The last time at which a queue was found to take events. */
  readonly #takenAt = new Map<string, number>();
  readonly #dropped = new Map<string, number>();
  #counting: NodeJS.Timeout | undefined;
  #listener: ((event: ObjectEvent) => void) | undefined;
  isHeard = false;

  constructor(options: ThreadEventsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    this.#wallClock = options.wallClock ?? Date.now;
  }

  /** Sets the listener of this thread's events, or removes it. */
  listen(listener: ((event: ObjectEvent) => void) | undefined): void {
    this.#listener = listener;
    this.isHeard = listener !== undefined;
  }

  hear(event: ObjectEvent): void {
    this.#listener?.(event);
  }

  takes(target: string): boolean {
    const readAt = this.#takenAt.get(target);
    return readAt !== undefined && this.#clock() - readAt < refreshMs;
  }

  /**
   * A queue that became full takes events for as long as a thread may believe that it does. So all threads begin to drop at the same time,
   * and each drop is decided by the state of that moment: the gap has one beginning and one end.
   */
  async isFull(target: string): Promise<boolean> {
    const readAt = this.#clock();
    const since = (await readState(this.#options.records, target))?.fullSince;
    if (since === undefined) {
      this.#takenAt.set(target, readAt);
      return false;
    }
    const age = this.#wallClock() - since;
    // The clock of the server that delivers may be ahead of this one.
    return age >= refreshMs || age < 0;
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
