import type { ObjectEvent } from '../records/object-event.ts';

/** The queues of a commit that is planned. */
export interface PlannedQueues {
  /** Reports whether the queue of a target is full. */
  isFull(target: string): boolean;
  /** Counts an event that a full queue did not take. */
  countDropped(target: string): void;
}

/** The listeners of this thread, and the queues that take no more events. Most servers have neither. */
export interface EventHub {
  /** True while a client of this server listens. */
  readonly isHeard: boolean;
  /** Reports a committed event to the listeners. */
  hear(event: ObjectEvent): void;
  /** Reports whether the queue of a target is known to take events. False says nothing: `isFull` then has to be asked. */
  takes(target: string): boolean;
  /** Reads whether the queue of a target is full now. Without a fresh answer no event may be dropped. */
  isFull(target: string): Promise<boolean>;
  /** Counts an event that a full queue did not take. */
  countDropped(target: string): void;
}

export const noEventHub: EventHub = {
  isHeard: false,
  hear: () => undefined,
  takes: () => true,
  isFull: () => Promise.resolve(false),
  countDropped: () => undefined,
};
