import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { backoffMs, pause } from '../../platform/async/backoff.ts';
import { messageOf } from '../../platform/errors/system-error.ts';
import { redactText } from '../../platform/output/redact-secrets.ts';
import { forEachLimit } from '../../platform/async/concurrency.ts';
import { outboxKeys } from '../objects/events/outbox.ts';
import { commitOnce } from '../store/commits.ts';
import type { Entry, Key, RecordStore } from '../store/record-store.ts';
import { DeliveredEvents } from './delivered-events.ts';
import { DeliveryError } from './delivery-error.ts';
import { encodeState, fullSince, type QueueBounds, type QueueState, readState } from './queue-state.ts';
import type { ProcessorShare } from './processor-share.ts';
import { measureQueue, type QueueSize, readWindow, timeOf } from './read-queue.ts';

/** The consumer of a queue. `Outcome` is what a delivery leaves to be stored. */
export interface Delivery<Outcome = void> {
  /**
   * Delivers one event. It rejects where the event must be delivered again. The events of an object come one after the other.
   */
  deliver(event: Entry): Promise<Outcome>;
  /**
   * Stores what deliveries have left, in the commit that removes their events: `commit` adds the removal to a batch, and resolves with false
   * after a conflict, as this does. Deliveries without it leave nothing.
   */
  settle?(
    outcomes: readonly Outcome[],
    commit: (batch: Parameters<typeof commitOnce>[1]) => Promise<boolean>,
  ): Promise<boolean>;
  /** Reports whether this failure is of one event alone, so that the events of other objects may go on. */
  isOfEvent(error: unknown): boolean;
  /**
   * Names what of its object an event that the target has refused concerns: events of the rest may go on. Undefined, as without it, where all
   * later events of the object wait.
   */
  partOf?(event: Entry): string | undefined;
}

/** Makes the delivery of a target that must not be asked: every event waits, and the state of the queue says why. */
export function heldDelivery(reason: string): Delivery<never> {
  return {
    deliver: () => Promise.reject(new DeliveryError('unavailable', reason)),
    isOfEvent: () => false,
  };
}

interface QueueLabel {
  readonly target: string;
  readonly events: string;
}

interface DeliverQueueOptions<Outcome> {
  readonly records: RecordStore;
  readonly target: string;
  /** The names of the target and its events in the log. The default is the name of the queue. */
  readonly label?: QueueLabel;
  /** Undefined for a target without settings: its events wait. */
  readonly delivery: Delivery<Outcome> | undefined;
  readonly bounds: QueueBounds;
  /** Ends the delivery. */
  readonly signal: AbortSignal;
  readonly random: (size: number) => Buffer;
  readonly log: Pick<StructuredLog, 'info' | 'warn'>;
  readonly clock?: () => number;
  /** Resolves after this time, or as soon as the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Milliseconds between two looks at an empty queue. */
  readonly idleMs?: number;
  /** Milliseconds at most until the next look at a queue whose target refuses events and takes others. */
  readonly maxRejectedMs?: number;
  /** Makes events wait while requests need the processors. Absent for a target on which clients wait. */
  readonly share?: Pick<ProcessorShare, 'before'> | undefined;
}

/** Events that are read at a time. */
const windowSize = 1_000;
/** Objects whose events are delivered at a time. */
const concurrency = 16;
const defaultIdleMs = 250;
/** Milliseconds between two measurements of a short queue. A measurement takes at most a tenth of the time. */
const measureMs = 1_000;
const backoff = { firstMs: 250, maxMs: 10_000, jitter: 0.5 };

/**
 * Delivers a queue until the signal aborts it: at least once, and the events of an object in the order of its revisions. Rejects with the
 * error of the store.
 */
export async function deliverQueue<Outcome>(options: DeliverQueueOptions<Outcome>): Promise<void> {
  const queue = new DeliveredQueue(options);
  await queue.begin();
  await Promise.all([queue.deliverAll(), queue.measureAll()]);
}

class DeliveredQueue<Outcome> {
  readonly #options: DeliverQueueOptions<Outcome>;
  readonly #clock: () => number;
  readonly #wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly #label: QueueLabel;
  #delivered = 0;
  #failures = 0;
  #failure: QueueState['failure'];
  #fullSince: number | undefined;
  #written = '';

  constructor(options: DeliverQueueOptions<Outcome>) {
    this.#options = options;
    this.#label = options.label ?? { target: options.target, events: 'events' };
    this.#clock = options.clock ?? Date.now;
    this.#wait = options.wait ?? pause;
  }

  /** Takes over from the server that delivered before. */
  async begin(): Promise<void> {
    const { records, target } = this.#options;
    this.#fullSince = (await readState(records, target))?.fullSince;
  }

  async deliverAll(): Promise<void> {
    const { records, target, delivery, signal, idleMs = defaultIdleMs, maxRejectedMs } = this.#options;
    if (delivery === undefined) return;
    let from: Key | undefined;
    let failed = 0;
    while (!signal.aborted) {
      const window = await readWindow(records, target, { from, limit: windowSize });
      const { done, isAway } = await this.#deliver(window.groups, delivery);
      const isEmpty = window.groups.length === 0;
      if (done > 0 || isEmpty) failed = 0;
      else failed += 1;
      const maxMs = isAway ? backoff.maxMs : (maxRejectedMs ?? backoff.maxMs);
      if (failed > 0) await this.#wait(Math.min(maxMs, backoffMs(failed, backoff)), signal);
      else if (isEmpty && from === undefined) await this.#wait(idleMs, signal);
      from = window.next;
    }
  }

  /** Returns the count of events that the target accepted, and whether it is away. The records of these events are deleted. */
  async #deliver(
    groups: readonly (readonly Entry[])[],
    delivery: Delivery<Outcome>,
  ): Promise<{ readonly done: number; readonly isAway: boolean }> {
    const { signal, share } = this.#options;
    const delivered = new DeliveredEvents<Outcome>({
      commit: async (batch) => (await this.#commit(batch)).kind === 'committed',
      settle: delivery.settle?.bind(delivery),
      isOfEvent: (error) => delivery.isOfEvent(error),
    });
    let done = 0;
    let isAway = false;
    await forEachLimit(groups, concurrency, async (group) => {
      const refused = new Set<string>();
      for (const event of group) {
        if (refused.size > 0 && refused.has(delivery.partOf?.(event) ?? '')) continue;
        const pause = share?.before(this.#clock() - timeOf(event.key));
        if (pause !== undefined) await pause;
        if (isAway || signal.aborted) return;
        try {
          delivered.add(event.key, await delivery.deliver(event));
        } catch (error) {
          isAway ||= !delivery.isOfEvent(error);
          this.#onFailure(error, isAway);
          const part = isAway ? undefined : delivery.partOf?.(event);
          // Later events of this object wait.
          if (part === undefined) return;
          refused.add(part);
          continue;
        }
        done += 1;
      }
    });
    if (done > 0) this.#onDelivered(done, isAway);
    await delivered.end();
    return { done, isAway };
  }

  #onFailure(error: unknown, isAway: boolean): void {
    const { target, log } = this.#options;
    // Libraries repeat addresses, which may have passwords. Administrators read this text.
    const text = redactText(error instanceof Error ? messageOf(error) : String(error));
    this.#failures += 1;
    if (this.#failure === undefined) {
      log.warn(
        { event: 'notify-away', target, err: error },
        `${this.#label.events} cannot be delivered to ${this.#label.target}: ${text}; they wait`,
      );
    }
    this.#failure = {
      since: this.#failure?.since ?? this.#clock(),
      error: text.slice(0, 500),
      ...(isAway && { away: true }),
    };
  }

  #onDelivered(count: number, isAway: boolean): void {
    const { target, log } = this.#options;
    this.#delivered += count;
    if (this.#failure === undefined || isAway) return;
    this.#failure = undefined;
    log.info({ event: 'notify-back', target }, `${this.#label.target} takes ${this.#label.events} again`);
  }

  async measureAll(): Promise<void> {
    const { records, target, signal } = this.#options;
    while (!signal.aborted) {
      const began = performance.now();
      await this.#save(await measureQueue(records, target, signal));
      await this.#wait(Math.max(measureMs, 9 * (performance.now() - began)), signal);
    }
  }

  async #save(size: QueueSize): Promise<void> {
    const { target, bounds, delivery, log } = this.#options;
    const since = fullSince(this.#fullSince, size, bounds, this.#clock());
    if (since !== undefined && this.#fullSince === undefined) {
      const { target: shown, events } = this.#label;
      log.warn({ event: 'notify-full', target, ...size }, `the queue of ${shown} is full: new ${events} are dropped`);
    }
    this.#fullSince = since;
    const state: QueueState = {
      ...size,
      ...(delivery === undefined && { unknown: true }),
      ...(since !== undefined && { fullSince: since }),
      delivered: this.#delivered,
      failures: this.#failures,
      ...(this.#failure && { failure: this.#failure }),
    };
    const text = JSON.stringify(state);
    if (text === this.#written) return;
    await this.#commit({ put: [{ key: outboxKeys.state(target), value: encodeState(state) }] });
    this.#written = text;
  }

  #commit(batch: Parameters<typeof commitOnce>[1]): ReturnType<typeof commitOnce> {
    return commitOnce(this.#options.records, batch, this.#options.random);
  }
}
