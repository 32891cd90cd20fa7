import { setTimeout as sleep } from 'node:timers/promises';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { commitOnce } from '../../store/commit-once.ts';
import type { Batch } from '../../store/record-store.ts';
import type { Environment } from '../context.ts';

/** What an attempt found: a batch that holds if nothing changed meanwhile, or nothing to do. */
export interface Change<T> {
  readonly batch?: Omit<Batch, 'id'>;
  readonly result: T;
}

/** Thrown by a plan whose reads did not fit together: it is made again. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile';
}

const ATTEMPTS = 12;

/**
 * Reads, decides, commits; on a conflict again, from what is there then. `plan` throws the S3Error when the decision is to refuse.
 * A lost acknowledgement is settled before a retry, so that an operation never meets its own commit as somebody else's.
 * Throws `SlowDown` after a bounded number of conflicts.
 */
export async function commitChange<T>(environment: Environment, plan: () => Promise<Change<T>>): Promise<T> {
  let endTurn: (() => void) | undefined;
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const outcome = await attemptOnce(environment, plan);
      if (outcome.kind === 'done') return outcome.result;
      if (outcome.key !== undefined && endTurn === undefined) {
        // Many writers of one key would otherwise defeat each other again and again; now only other threads are left to meet.
        endTurn = await environment.turns.take(outcome.key.toString('latin1'));
      } else {
        // Spread out, so that those who collided do not collide again.
        await sleep(((environment.random(1)[0] ?? 0) / 255) * Math.min(2 ** attempt, 100));
      }
    }
  } finally {
    endTurn?.();
  }
  throw new S3Error('SlowDown', `${ATTEMPTS} attempts met other changes of the same object; try again.`);
}

/** The key that was changed by somebody else, where it is known. */
type Attempt<T> =
  { readonly kind: 'done'; readonly result: T } | { readonly kind: 'conflict'; readonly key: Buffer | undefined };

async function attemptOnce<T>(environment: Environment, plan: () => Promise<Change<T>>): Promise<Attempt<T>> {
  let change;
  try {
    change = await plan();
  } catch (error) {
    if (error instanceof ChangedMeanwhile) return { kind: 'conflict', key: undefined };
    throw error;
  }
  const { batch, result } = change;
  if (batch === undefined) return { kind: 'done', result };
  const outcome = await commitOnce(environment.records, batch, environment.random);
  return outcome.kind === 'committed' ? { kind: 'done', result } : outcome;
}
