import { setTimeout as sleep } from 'node:timers/promises';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { commitOnce } from '../../store/commit-once.ts';
import type { Batch } from '../../store/record-store.ts';
import type { ObjectContext } from '../context.ts';
import { StoredDataError } from '../stored-data-error.ts';
import { backoffMs } from '../../../platform/backoff.ts';

/** The result of an attempt: a batch that is valid if nothing changed meanwhile, or nothing to do. */
export interface Change<T> {
  readonly batch?: Omit<Batch, 'id'>;
  readonly result: T;
}

const ATTEMPTS = 12;

/**
 * Reads, decides and commits; after a conflict it starts again from the new state. `plan` throws the S3Error of a refusal. A lost
 * acknowledgement is settled before a retry, so that an operation never takes its own commit for another writer's. Throws `SlowDown`
 * after a bounded number of conflicts.
 */
export async function commitChange<T>(context: ObjectContext, plan: () => Promise<Change<T>>): Promise<T> {
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

async function attemptOnce<T>(context: ObjectContext, plan: () => Promise<Change<T>>): Promise<Attempt<T>> {
  let change;
  try {
    change = await plan();
  } catch (error) {
    if (error instanceof StoredDataError && error.code === 'changed') return { kind: 'conflict', key: undefined };
    throw error;
  }
  const { batch, result } = change;
  if (batch === undefined) return { kind: 'done', result };
  const outcome = await commitOnce(context.records, batch, context.random);
  return outcome.kind === 'committed' ? { kind: 'done', result } : outcome;
}
