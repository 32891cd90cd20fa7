import type { StructuredLog } from '../../platform/output/structured-log.ts';
import { backoffMs, pause } from '../../platform/async/backoff.ts';
import { messageOf } from '../../platform/errors/system-error.ts';
import { redactText } from '../../platform/output/redact-secrets.ts';
import { forEachLimit } from '../../platform/async/concurrency.ts';
import { outboxKeys, queuedAt } from '../objects/events/outbox.ts';
import { commitOnce } from '../store/commits.ts';
import type { Entry, Key, RecordStore } from '../store/record-store.ts';
import { DeliveredEvents } from './delivered-events.ts';
import { DeliveryError } from './delivery-error.ts';
import { HeldEvents, type RetryTimes } from './held-events.ts';
import { encodeState, fullSince, type QueueBounds, type QueueState, readState } from './queue-state.ts';
import type { ProcessorShare } from './processor-share.ts';
import { measureQueue, type QueueSize, readBehind, readWindow } from './read-queue.ts';
import { SuspectEvents } from './suspect-events.ts';

/** The consumer of a queue. `Outcome` is what a delivery leaves to be stored. */
export interface Delivery<Outcome = void> {
  /**
   * Delivers one event. It rejects where the event must be delivered again. The events of an object come one after the other. `isHeld`: the event
   * has failed before, and is held for it.
   */
  deliver(event: Entry, isHeld: boolean): Promise<Outcome>;
  /** Reports whether the target was asked for this outcome. An outcome that was found here says nothing of the target. Without it each was asked for. */
  isFromTarget?(outcome: Outcome): boolean;
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
  /** True where the events that are sent at the same time share no connection: none fails since another one ended it. */
  readonly isSeparate?: boolean;
  /**
   * Names what of its object an event that the target has refused concerns: events of the rest may go on. Undefined, as without it, where all
   * later events of the object wait.
   */
  partOf?(event: Entry): string | undefined;
  /** Returns what an event leaves that ends behind a refused event of its part. Undefined, as without it, where the event waits. */
  behindRefused?(event: Entry): Outcome | undefined;
  /**
   * Resolves where the target answers, whatever it does with events, and rejects where it is away. Without it only an event says whether the target is
   * there.
   */
  reach?(): Promise<void>;
  /**
   * The queue calls this for an event that failed again and again while the target took others, although the failure is not `isOfEvent`. Resolves with what the
   * event leaves if it ends so. Undefined, as without it, where the queue holds the event.
   */
  onPoisonEvent?(event: Entry, error: unknown): Promise<Outcome | undefined>;
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
  /** Milliseconds of a clock that is never set. */
  readonly monotonicClock?: () => number;
  /** Resolves after this time, or as soon as the signal aborts. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Milliseconds between two looks at an empty queue. */
  readonly idleMs?: number;
  /** The times of the attempts for an event that the target refuses. */
  readonly retry?: Partial<RetryTimes>;
  /** Refused events whose attempts have times of their own. */
  readonly maxTimed?: number;
  /** Events that are read at a time. */
  readonly windowSize?: number;
  /** Makes events wait while requests need the processors. Absent for a target on which clients wait. */
  readonly share?: Pick<ProcessorShare, 'before'> | undefined;
}

/** Events that are read at a time. */
const defaultWindowSize = 1_000;
/** Windows of one object that are read behind the first one in a pass. The parts that wait take some 8 MB of memory then. */
const maxBehind = 100;
/** Objects whose events are delivered at a time. */
const concurrency = 16;
const defaultIdleMs = 250;
/** Milliseconds between two measurements of a short queue. A measurement takes at most a tenth of the time. */
const measureMs = 1_000;
const backoff = { firstMs: 250, maxMs: 10_000, jitter: 0.5 };
/** Some 10 MB of memory. */
const defaultMaxTimed = 10_000;
/** Milliseconds at most between two looks for events behind those that the target refuses. A look takes at most a tenth of the time. */
const maxIdleMs = 10_000;

/**
 * Delivers a queue until the signal aborts it: at least once, and the events of an object in the order of its revisions. Rejects with the
 * error of the store.
 */
export async function deliverQueue<Outcome>(options: DeliverQueueOptions<Outcome>): Promise<void> {
  const stopping = new AbortController();
  const queue = new DeliveredQueue({ ...options, signal: AbortSignal.any([options.signal, stopping.signal]) });
  await queue.begin();
  const parts = [queue.deliverAll(), queue.measureAll()];
  try {
    await Promise.all(parts);
  } finally {
    // What is left would go on in the time of the next attempt.
    stopping.abort();
    await Promise.allSettled(parts);
  }
}

/** The counts of a pass over the queue, so far. */
interface PassState {
  /** Windows in a row in which the target failed. */
  failed: number;
  /** Events that left the queue. */
  done: number;
  /** Events that wait behind refused ones, these included. */
  blocked: number;
  /** Milliseconds that reading took. */
  lookedMs: number;
  hasWaited: boolean;
  /** False where events of an object were left out that the target may have refused. */
  isWhole: boolean;
}

/** The attempts for the events of a window. */
interface Round<Outcome> {
  readonly delivery: Delivery<Outcome>;
  /** Parts of the object whose earlier events the target has refused. */
  readonly refusedBefore: ReadonlySet<string>;
  readonly delivered: DeliveredEvents<Outcome>;
  /** Attempts that were made. */
  tried: number;
  /** Events that left the queue. */
  done: number;
  /** Events that the target took. */
  taken: number;
  /** Why the target is away: the first failure, since others may follow from it. */
  failure: { readonly error: unknown } | undefined;
  /** True where the target is there although it took nothing: it answered a refusal, or a probe. */
  isAnswered: boolean;
}

class DeliveredQueue<Outcome> {
  readonly #options: DeliverQueueOptions<Outcome>;
  readonly #clock: () => number;
  readonly #monotonicClock: () => number;
  readonly #wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly #label: QueueLabel;
  readonly #held: HeldEvents;
  readonly #suspects = new SuspectEvents();
  #delivered = 0;
  #failures = 0;
  #failure: QueueState['failure'];
  #fullSince: number | undefined;
  /** Events that wait behind refused ones, these included, as the last pass found them. */
  #blocked = 0;
  #written = '';

  constructor(options: DeliverQueueOptions<Outcome>) {
    const { records, target, retry, maxTimed = defaultMaxTimed } = options;
    this.#options = options;
    this.#label = options.label ?? { target, events: 'events' };
    this.#clock = options.clock ?? Date.now;
    this.#monotonicClock = options.monotonicClock ?? (() => performance.now());
    this.#wait = options.wait ?? pause;
    this.#held = new HeldEvents({
      records,
      target,
      commit: (batch) => this.#commit(batch),
      clock: this.#clock,
      monotonicClock: this.#monotonicClock,
      retry: { ...backoff, ...retry },
      maxTimed,
    });
  }

  /** Takes over from the server that delivered before. */
  async begin(): Promise<void> {
    const { records, target } = this.#options;
    this.#fullSince = (await readState(records, target))?.fullSince;
    await this.#held.begin();
  }

  async deliverAll(): Promise<void> {
    const { delivery, signal } = this.#options;
    if (delivery === undefined) return;
    let failed = 0;
    while (!signal.aborted) failed = await this.#pass(delivery, failed);
  }

  /** Reads the whole queue once. Takes and returns the number of windows in a row in which the target failed. */
  async #pass(delivery: Delivery<Outcome>, failedBefore: number): Promise<number> {
    const { records, target, signal, idleMs = defaultIdleMs, windowSize = defaultWindowSize } = this.#options;
    const pass: PassState = { failed: failedBefore, done: 0, blocked: 0, lookedMs: 0, hasWaited: false, isWhole: true };
    await this.#held.readRetries();
    this.#held.beginPass();
    for (let from: Key | undefined, isFirst = true; isFirst || from !== undefined; isFirst = false) {
      if (signal.aborted) return pass.failed;
      const window = await this.#looking(pass, () => readWindow(records, target, { from, limit: windowSize }));
      await this.#deliverWindow(window.groups, delivery, pass);
      for (const group of window.groups) {
        if (group.length < windowSize || group.some((event) => delivery.partOf?.(event) === undefined)) continue;
        if (!(await this.#deliverBehind(group, delivery, pass))) pass.isWhole = false;
      }
      from = window.next;
    }
    this.#blocked = pass.blocked;
    await this.#held.endPass(pass.isWhole);
    if (pass.done === 0 && !pass.hasWaited)
      await this.#wait(Math.max(idleMs, Math.min(9 * pass.lookedMs, maxIdleMs)), signal);
    return pass.failed;
  }

  async #looking<Found>(pass: PassState, look: () => Promise<Found>): Promise<Found> {
    const began = this.#monotonicClock();
    const found = await look();
    pass.lookedMs += this.#monotonicClock() - began;
    return found;
  }

  /** Delivers the events of a window. */
  async #deliverWindow(
    groups: readonly (readonly Entry[])[],
    delivery: Delivery<Outcome>,
    pass: PassState,
    refusedBefore: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    await this.#looking(pass, () => this.#held.openWindow(groups.flat()));
    const ready = groups.filter((group) => !this.#isHeldUp(group, delivery, refusedBefore));
    pass.blocked += groups.flat().length - ready.flat().length;
    const round = await this.#deliver(ready, delivery, pass.failed > 0, refusedBefore);
    pass.done += round.done;
    const asked = round.tried - (round.done - round.taken);
    if (round.failure === undefined) pass.failed = asked > 0 ? 0 : pass.failed;
    else if (round.done > 0) pass.failed = 1;
    else {
      pass.failed += 1;
      pass.hasWaited = true;
      await this.#wait(backoffMs(pass.failed, backoff), this.#options.signal);
    }
  }

  /**
   * Delivers what follows in an object of which the target refuses so much that it fills a window: other parts of the object may go on. The records of
   * `window` are open. Returns whether it has read the object to its end.
   */
  async #deliverBehind(window: readonly Entry[], delivery: Delivery<Outcome>, pass: PassState): Promise<boolean> {
    const { records, target, signal, windowSize = defaultWindowSize } = this.#options;
    const refused = new Set<string>();
    let group = window;
    for (let windows = 0; windows < maxBehind; windows += 1) {
      const [last] = group.slice(-1);
      if (last === undefined || group.length < windowSize) return true;
      if (pass.failed > 0 || signal.aborted) return false;
      for (const event of group) {
        const part = delivery.partOf?.(event);
        if (part === undefined) return false;
        if (this.#held.has(event)) refused.add(part);
        else if (!refused.has(part)) return false;
      }
      group = await this.#looking(pass, () => readBehind(records, target, { last, limit: windowSize }));
      if (group.length > 0) await this.#deliverWindow([group], delivery, pass, refused);
    }
    return false;
  }

  /** Reports whether nothing of an object can be delivered now, since the target has refused its next event, or all of them. */
  #isHeldUp(
    group: readonly Entry[],
    delivery: Delivery<Outcome>,
    refusedBefore: ReadonlySet<string> = new Set(),
  ): boolean {
    if (this.#held.size === 0) return false;
    // Each is looked up, since the end of the pass forgets those that it did not meet.
    const waiting = group.map((event) => this.#held.isWaiting(event));
    const [head] = group;
    if (head !== undefined && waiting[0] === true && delivery.partOf?.(head) === undefined) return true;
    const parts = new Set(refusedBefore);
    return group.every((event, at) => {
      const part = delivery.partOf?.(event) ?? '';
      if (waiting[at] === true) parts.add(part);
      return parts.has(part) && (waiting[at] === true || delivery.behindRefused?.(event) === undefined);
    });
  }

  /** Sends events of several objects. The records of those that the target accepted are deleted. */
  async #deliver(
    groups: readonly (readonly Entry[])[],
    delivery: Delivery<Outcome>,
    isAfterFailure: boolean,
    refusedBefore: ReadonlySet<string>,
  ): Promise<Round<Outcome>> {
    const delivered = new DeliveredEvents<Outcome>({
      commit: (batch) => this.#remove(batch),
      settle: delivery.settle?.bind(delivery),
      isOfEvent: (error) => delivery.isOfEvent(error),
    });
    const round: Round<Outcome> = {
      delivery,
      refusedBefore,
      delivered,
      tried: 0,
      done: 0,
      taken: 0,
      failure: undefined,
      isAnswered: false,
    };
    const isHeld = (event: Entry) => this.#held.size > 0 && this.#held.has(event) && !this.#held.isWaiting(event);
    const { probe, together, alone } = this.#suspects.plan(groups, isAfterFailure, {
      isHeld,
      isHeldUp: (group) => this.#isHeldUp(group, delivery, refusedBefore),
      partOf: delivery.partOf?.bind(delivery),
    });
    try {
      if (probe !== undefined) await this.#deliverObject(probe, round, 'alone');
      await forEachLimit(together, concurrency, (group) => this.#deliverObject(group, round, 'together'));
      const aloneAtOnce = delivery.isSeparate === true ? concurrency : 1;
      await forEachLimit(alone, aloneAtOnce, (group) => this.#deliverObject(group, round, 'alone'));
      this.#delivered += round.done;
      if (round.taken === 0 && round.failure !== undefined) this.#onAway(round.failure.error);
      else if (round.taken > 0 || round.isAnswered) this.#onBack();
      await this.#held.write();
    } finally {
      await delivered.end();
    }
    return round;
  }

  /** Sends the events of an object, one after the other. */
  async #deliverObject(group: readonly Entry[], round: Round<Outcome>, how: 'alone' | 'together'): Promise<void> {
    const { signal, share } = this.#options;
    const { delivery, delivered } = round;
    const refused = new Set(round.refusedBefore);
    for (const event of group) {
      if (refused.size > 0 && refused.has(delivery.partOf?.(event) ?? '')) {
        const outcome = delivery.behindRefused?.(event);
        if (outcome === undefined) continue;
        this.#suspects.forget(event);
        delivered.add(event.key, outcome);
        continue;
      }
      const pause = share?.before(this.#clock() - queuedAt(event.key));
      if (pause !== undefined) await pause;
      if (round.failure !== undefined || signal.aborted) return;
      let isRefused = this.#held.isWaiting(event);
      if (!isRefused) {
        round.tried += 1;
        try {
          const outcome = await delivery.deliver(event, this.#held.has(event));
          delivered.add(event.key, outcome);
          round.done += 1;
          if (delivery.isFromTarget?.(outcome) !== false) round.taken += 1;
          this.#suspects.forget(event);
        } catch (error) {
          const next = await this.#onFailed(event, error, round, how);
          if (next === 'stop') return;
          isRefused = next === 'held';
        }
      }
      if (!isRefused) continue;
      const part = delivery.partOf?.(event);
      // Later events of this object wait.
      if (part === undefined) return;
      refused.add(part);
    }
  }

  /** Holds an event that could not be delivered, ends it, or notes that the target is away: the attempts stop then. */
  async #onFailed(
    event: Entry,
    error: unknown,
    round: Round<Outcome>,
    how: 'alone' | 'together',
  ): Promise<'held' | 'ended' | 'stop'> {
    const { target, log } = this.#options;
    this.#failures += 1;
    const text = textOf(error);
    if (round.delivery.isOfEvent(error)) {
      round.isAnswered ||= isAnswer(error);
    } else if (!(await this.#isPoison(event, error, round, how))) {
      round.failure ??= { error };
      // It has failed before while the target was well: it still waits for its own time.
      if (this.#held.has(event)) this.#held.refuse(event, text);
      return 'stop';
    } else if (!this.#held.has(event)) {
      const outcome = await round.delivery.onPoisonEvent?.(event, error);
      if (outcome !== undefined) {
        round.delivered.add(event.key, outcome);
        round.done += 1;
        this.#suspects.forget(event);
        return 'ended';
      }
    }
    if (this.#held.size === 0) {
      log.warn(
        { event: 'notify-held', target, err: error },
        `${this.#label.target} refuses one of the ${this.#label.events}: ${text}; it is held, and the others go on`,
      );
    }
    this.#held.refuse(event, text);
    this.#suspects.forget(event);
    return 'held';
  }

  /**
   * Reports whether an event is a poison event: the reason of its failure is the event, and not its target. A failure alone is that of the target. An event that is held was found to
   * be the reason before: where it fails again, and the target answers otherwise, it is the reason still.
   */
  async #isPoison(event: Entry, error: unknown, round: Round<Outcome>, how: 'alone' | 'together'): Promise<boolean> {
    const failure = failureOf(round, how);
    if (!this.#held.has(event)) return this.#suspects.onFailed(event, failure);
    if (failure !== 'of-target') return failure === 'of-event';
    const isThere = isAnswer(error) || (await isReached(round.delivery));
    round.isAnswered ||= isThere;
    return isThere;
  }

  async #remove(batch: Parameters<typeof commitOnce>[1]): Promise<boolean> {
    const removed = batch.delete ?? [];
    const outcome = await this.#commit({ ...batch, delete: [...removed, ...this.#held.recordsOf(removed)] });
    if (outcome.kind !== 'committed') return false;
    this.#held.onTaken(removed);
    return true;
  }

  #onAway(error: unknown): void {
    const { target, log } = this.#options;
    const text = textOf(error);
    if (this.#failure === undefined) {
      log.warn(
        { event: 'notify-away', target, err: error },
        `${this.#label.events} cannot be delivered to ${this.#label.target}: ${text}; they wait`,
      );
    }
    this.#failure = { since: this.#failure?.since ?? this.#clock(), error: text, away: true };
  }

  #onBack(): void {
    const { target, log } = this.#options;
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    log.info({ event: 'notify-back', target }, `${this.#label.target} takes ${this.#label.events} again`);
  }

  async measureAll(): Promise<void> {
    const { records, target, signal } = this.#options;
    while (!signal.aborted) {
      const began = this.#monotonicClock();
      await this.#save(await measureQueue(records, target, signal));
      await this.#wait(Math.max(measureMs, 9 * (this.#monotonicClock() - began)), signal);
    }
  }

  async #save(size: QueueSize): Promise<void> {
    const { target, bounds, delivery, log } = this.#options;
    // A pass over the queue has found those that are blocked; before the first one, the records tell of those that are held.
    const blocked = Math.max(this.#blocked, this.#held.size);
    const since = fullSince(this.#fullSince, size, bounds, this.#clock(), blocked);
    if (since !== undefined && this.#fullSince === undefined) {
      const { target: shown, events } = this.#label;
      log.warn({ event: 'notify-full', target, ...size }, `the queue of ${shown} is full: new ${events} are dropped`);
    }
    this.#fullSince = since;
    const held = this.#held.summary;
    const state: QueueState = {
      ...size,
      ...(delivery === undefined && { unknown: true }),
      ...(since !== undefined && { fullSince: since }),
      delivered: this.#delivered,
      failures: this.#failures,
      ...(this.#failure && { failure: this.#failure }),
      ...(held && { held }),
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

/**
 * Says what a failure tells of its event. The first one of a round in which the target took events may be of the event. Others that were sent at the
 * same time fail as well where the target went away.
 */
function failureOf(
  { taken, failure }: Pick<Round<unknown>, 'taken' | 'failure'>,
  how: 'alone' | 'together',
): 'of-target' | 'of-event' | 'of-either' {
  if (how === 'together' || failure !== undefined) return 'of-either';
  return taken > 0 ? 'of-event' : 'of-target';
}

/** Reports whether the target itself has answered to this event. A status from 502 to 504 may be that of a gateway, and one below 500 may be for all events. */
function isAnswer(error: unknown): boolean {
  return error instanceof DeliveryError && (error.code === 'rejected' || error.status === 500);
}

async function isReached(delivery: Pick<Delivery<unknown>, 'reach'>): Promise<boolean> {
  if (delivery.reach === undefined) return false;
  return delivery.reach().then(
    () => true,
    () => false,
  );
}

/** Returns an error for administrators. Libraries repeat addresses, which may have passwords. */
function textOf(error: unknown): string {
  return redactText(error instanceof Error ? messageOf(error) : String(error)).slice(0, 500);
}
