import { decodeCounter } from '../store/commits.ts';
import { decodeKey, within } from '../store/keys.ts';
import type { RecordStore } from '../store/record-store.ts';
import { outboxKeys } from '../objects/events/outbox.ts';
import { decodeRecord, encodeRecord } from '../objects/records/record-format.ts';
import { heldCounts } from './held-records.ts';
import type { QueueSize } from './read-queue.ts';

/** The deliverer's state of the queue of a target. Times are milliseconds since 1970. */
export interface QueueState extends QueueSize {
  /** The server has no settings of the target: nothing is delivered. */
  readonly unknown?: true;
  /** New events are dropped since this time. */
  readonly fullSince?: number;
  /** Events that the target accepted, since the lease holder began. */
  readonly delivered: number;
  /** Attempts that failed, since the lease holder began. */
  readonly failures: number;
  /** Present while nothing gets through. What the target refuses alone is `held`. */
  readonly failure?: {
    readonly since: number;
    readonly error: string;
    /** Absent in states of older servers whose target refused single events alone. */
    readonly away?: true;
  };
  /** The events that the target has refused, while it may take others. The time and the error are those of the first refusal. */
  readonly held?: { readonly events: number; readonly since: number; readonly error: string };
}

/** The bounds of a queue. */
export interface QueueBounds {
  readonly events: number;
  readonly bytes: number;
  /** `park` takes no event until the queue is empty again, `drop` none that finds the queue full. */
  readonly whenFull: 'park' | 'drop';
  /** True where events that wait behind refused ones do not count: the store has what they are about anyway, so that they do not fill it. */
  readonly exceptHeld?: true;
}

/**
 * Decides whether a queue takes events. A parked queue has one gap, from `fullSince` until it is empty again, instead of many. `blocked` events wait
 * behind refused ones: they may stay for ever, and do not count.
 */
export function fullSince(
  before: number | undefined,
  { events, bytes }: QueueSize,
  bounds: QueueBounds,
  now: number,
  blocked = 0,
): number | undefined {
  // The bytes of single events are not known here: those that are blocked are as long as the others.
  const share = bounds.exceptHeld === true && events > 0 ? Math.max(0, events - blocked) / events : 1;
  if (events * share >= bounds.events || bytes * share >= bounds.bytes) return before ?? now;
  return bounds.whenFull === 'park' && events > blocked ? before : undefined;
}

export function encodeState(state: QueueState): Buffer {
  return encodeRecord(state);
}

export async function readState(records: Pick<RecordStore, 'get'>, target: string): Promise<QueueState | undefined> {
  const entry = await records.get(outboxKeys.state(target));
  return entry && (decodeRecord(entry.value, `the queue of ${target}`) as QueueState);
}

/** The state of a queue for administrators. */
interface ShownQueue extends QueueState {
  readonly target: string;
  /** Events that found the queue full. */
  readonly dropped: number;
  /** Refused events that administrators dropped. */
  readonly heldDropped: number;
  /** Attempts for refused events that administrators asked for. */
  readonly heldRetried: number;
}

/** Reads the states of all queues, by the name of the target. */
export async function readQueues(records: RecordStore): Promise<readonly ShownQueue[]> {
  const queues: ShownQueue[] = [];
  for await (const item of records.scan(within('outbox-state'))) {
    if (item.kind !== 'entry') continue;
    const target = String(decodeKey(item.key)[1]);
    const dropped = await records.get(outboxKeys.dropped(target));
    const state = decodeRecord(item.value, `the queue of ${target}`) as QueueState;
    const held = await heldCounts(records, target);
    queues.push({
      ...state,
      target,
      dropped: Number(decodeCounter(dropped?.value)),
      heldDropped: held.dropped,
      heldRetried: held.retried,
    });
  }
  return queues;
}
