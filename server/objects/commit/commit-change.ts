import type { ObjectContext } from '../context/context.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { commitOnce } from '../../store/commits.ts';
import type { Batch } from '../../store/record-store.ts';
import type { RuledEvent } from '../records/object-event.ts';
import { AttemptEvents } from '../events/attempt-events.ts';
import { withEvent } from '../events/outbox.ts';
import { backoffMs } from '../../../platform/async/backoff.ts';
import { isStoreError } from '../../store/store-error.ts';
import type { LeftUploads } from '../contract/left-uploads.ts';
import type { PlannedQueues } from '../context/event-hub.ts';

/** The result of an attempt: a batch that is valid if nothing changed meanwhile, or nothing to do. */
export interface Change<T> {
  readonly batch?: Omit<Batch, 'id'>;
  readonly result: T;
  /** Present where it is observed: the commit queues it, and the listeners get it after the commit. A rename has two. */
  readonly event?: RuledEvent | readonly RuledEvent[] | undefined;
  /** Present where the batch ends uploads that another server had left. They are reported after the commit. */
  readonly leftUploads?: LeftUploads | undefined;
}

/** With 12, one of 500 changes of the tags of one object by six clients in four threads gave up. */
const ATTEMPTS = 30;

/**
 * Reads, decides and commits; after a conflict it starts again from the new state. `plan` throws the S3Error of a refusal; what it queues, it
 * queues with the `events` of its attempt. A lost acknowledgement is settled before a retry, so that an operation never takes its own commit
 * for another writer's. Throws `SlowDown` after a bounded number of conflicts.
 */
export async function commitChange<T>(context: ObjectContext, plan: Plan<T>): Promise<T> {
  let unlock: (() => void) | undefined;
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const outcome = await attemptOnce(context, plan);
      if (outcome.kind === 'done') return outcome.result;
      if (outcome.key !== undefined && unlock === undefined) {
        // Many writers of one key would conflict again and again: from the second attempt on, the writers of this thread wait for each
        // other.
        unlock = await context.writeMutexes.acquire(outcome.key.toString('latin1'));
      } else {
        // A random delay keeps writers from conflicting again.
        await sleep(backoffMs(attempt, { firstMs: 2, maxMs: 100, jitter: 1 }, () => (context.random(1)[0] ?? 0) / 255));
      }
    }
  } finally {
    unlock?.();
  }
  throw new S3Error('SlowDown', `${ATTEMPTS} attempts met other changes of the same object; try again.`);
}

/** `key` is the record key that another writer changed, where it is known. */
type Attempt<T> =
  { readonly kind: 'done'; readonly result: T } | { readonly kind: 'conflict'; readonly key: Buffer | undefined };

type Plan<T> = (events: PlannedQueues) => Promise<Change<T>>;

async function attemptOnce<T>(context: ObjectContext, plan: Plan<T>): Promise<Attempt<T>> {
  const { random } = context;
  const attempt = new AttemptEvents(context.events);
  let planned;
  try {
    planned = await attempt.plan(async () => {
      const { batch, result, event, leftUploads } = await plan(attempt);
      const events = event === undefined ? [] : [event].flat();
      const whole = batch && events.reduce((all, one) => withEvent({ events: attempt, random }, all, one), batch);
      return { batch: whole, result, events, leftUploads };
    });
  } catch (error) {
    if (isStoreError(error, 'changed')) return { kind: 'conflict', key: undefined };
    throw error;
  }
  const { batch, result, events, leftUploads } = planned;
  if (batch === undefined) return { kind: 'done', result };
  const outcome = await commitOnce(context.records, batch, random);
  if (outcome.kind !== 'committed') return outcome;
  attempt.onCommitted();
  for (const one of events) context.events.hear(one);
  if (leftUploads !== undefined) context.onUploadsEnded(leftUploads);
  return { kind: 'done', result };
}
