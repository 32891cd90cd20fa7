import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError } from 'pg';
import { StoreUnavailable } from '../record-store.ts';

/** The connection is gone or stands still: whether the statement took effect is not known. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** What an error of the server means for a statement that is a transaction of its own. */
type Meaning =
  /** It met others and was undone: worth another try. */
  | 'again'
  /** A row changed between the look at it and its lock (`commit-statement.ts` divides by zero then); undone. */
  | 'changed-meanwhile'
  /** The commit's id is taken: it was ruled out, or made before; undone. */
  | 'id-taken'
  /** The session has ended, at a moment that is not known. */
  | 'session-ended'
  /** A counter would leave 64 bits; undone. */
  | 'out-of-range'
  | 'full'
  /** The server refuses for now, and the session is of no use (a standby, for example). */
  | 'refused';

/** @see https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function meaningOf(error: DatabaseError): Meaning {
  if (error.severity === 'FATAL' || error.severity === 'PANIC') return 'session-ended';
  switch (error.code) {
    case '40001': // serialization_failure
    case '40P01': // deadlock_detected
    case '55P03': // lock_not_available
      return 'again';
    case '40003': // statement_completion_unknown: CockroachDB's "result is ambiguous"
      return 'session-ended';
    case '22012': // division_by_zero
      return 'changed-meanwhile';
    case '22003': // numeric_value_out_of_range
      return 'out-of-range';
    case '23505': // unique_violation
      return 'id-taken';
    case '53100': // disk_full
      return 'full';
    case undefined:
    default:
      return 'refused';
  }
}

/**
 * What callers see. The server's detail, hint and context stay out of it: they may quote a row.
 */
export function unavailable(error: unknown, where: string): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  if (error instanceof DatabaseError) {
    const said = `${error.message} (${error.code ?? 'no code'})`;
    return error.code === '53100'
      ? new StoreUnavailable('full', `${where} has no space left for records: ${said}`)
      : new StoreUnavailable('unreachable', `${where} refuses: ${said}`);
  }
  const said = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable('unreachable', `${where} cannot be reached: ${said}`);
}

/** Bounded: who still meets others after so many tries, or so many milliseconds, is told so. */
interface Patience {
  readonly attempts: number;
  readonly milliseconds: number;
  readonly random: () => number;
}

/** What an attempt came to: a result, or a reason for another one. */
export type Attempt<T> =
  { readonly kind: 'done'; readonly result: T } | { readonly kind: 'again'; readonly error: Error };

/** Waits between attempts, longer each time and by chance, so that those who met do not meet again. Throws the last error. */
export async function tryAgain<T>(patience: Patience, attempt: (number: number) => Promise<Attempt<T>>): Promise<T> {
  const deadline = performance.now() + patience.milliseconds;
  for (let number = 1; ; number += 1) {
    const outcome = await attempt(number);
    if (outcome.kind === 'done') return outcome.result;
    if (number >= patience.attempts || performance.now() > deadline) throw outcome.error;
    await sleep(patience.random() * Math.min(2 ** number, 250));
  }
}
