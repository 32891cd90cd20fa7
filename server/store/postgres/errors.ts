import { isUnknownAuthority } from '../../../platform/tls/unknown-authority.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError } from 'pg';
import { backoffMs } from '../../../platform/async/backoff.ts';
import { StoreError, isStoreUnavailable } from '../store-error.ts';
import { sessionModeAdvice } from './pooler-advice.ts';

/** The class of a server error, for a statement that is its own transaction. */
type Meaning =
  /** A conflict with other transactions; rolled back. A retry may succeed. */
  | 'again'
  /** A row changed between its read and its lock (`commit.ts` divides by zero then); rolled back. */
  | 'changed-meanwhile'
  /** The id of the commit exists: the commit was ruled out or took effect before; rolled back. */
  | 'id-taken'
  /** The session ended. It is unknown whether the statement took effect. */
  | 'session-ended'
  /** A counter would exceed 64 bits; rolled back. */
  | 'out-of-range'
  | 'full'
  /** The server refuses statements, and the session must be closed. The server may be a standby. */
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

/** Translates an error for callers. The detail, hint and context of the server are left out, because they may quote a row. */
export function unavailable(error: unknown, where: string): StoreError {
  if (isStoreUnavailable(error)) return error;
  if (error instanceof DatabaseError) {
    const said = `${error.message} (${error.code ?? 'no code'})${adviceOf(error)}`;
    return error.code === '53100'
      ? new StoreError('full', `${where} has no space left for records: ${said}`)
      : new StoreError('unreachable', `${where} refuses: ${said}`);
  }
  return new StoreError('unreachable', `${where} cannot be reached: ${causeOf(error)}`);
}

/** Returns the cause of a failure outside of the database, with its cure where the text of the library has none. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error;
  if (error instanceof StoreError) return message;
  const code = 'code' in error ? String(error.code) : '';
  if (message === 'The server does not support SSL connections') {
    return 'it offers no TLS, which sslmode of the address asks for: turn ssl on there (or on the pooler), or name sslmode=disable on a trusted network';
  }
  if (message === 'Connection terminated unexpectedly' || code === 'ECONNRESET' || code === 'EPIPE') {
    return `it closed the connection during the sign-in (${message}): it is ending, it is not PostgreSQL, or a proxy before it reaches no server`;
  }
  if (message === 'timeout expired' || message.startsWith('Connection terminated due to connection timeout')) {
    return 'it did not answer in time: it hangs, or a firewall drops the packets';
  }
  if (isUnknownAuthority(code)) {
    return `its certificate is of an authority that is not known here (${message}): name its file in SVC_STORE_RECORDS_CA_FILE`;
  }
  return message;
}

/** Returns the cure of an error whose text does not name it. */
function adviceOf({ code = '', message }: DatabaseError): string {
  // A prepared statement that is absent, or that another session made.
  if (code === '26000' || code === '42P05') return `: ${sessionModeAdvice}`;
  if (code === '53300') return ': raise max_connections, or let fewer programs connect';
  if (code === '42P01')
    return ': the tables of Coffer are gone or in another schema; restore them, or correct the search_path of the role';
  if (code === '42501' && message.includes('schema'))
    return ': let the role make its tables there (since PostgreSQL 15: alter database NAME owner to ROLE, or grant create on schema public to ROLE)';
  if (code === '42501') return ': grant the rights that docs/guides/postgresql.md lists';
  if (code === '3D000') return ': create it as docs/guides/postgresql.md says, or correct the address';
  if (code === '28000' && message.includes('no encryption'))
    return ': add sslmode=verify-full to the address, or allow it in pg_hba.conf';
  if (code === '28000' && message.includes('pg_hba.conf')) return ': allow it in pg_hba.conf';
  if (code === '08P01' && message.includes('startup parameter'))
    return ': a pooler takes no options; leave them out of the address, and set them by "alter role"';
  if (code === '08P01' && message.includes('max_client_conn')) return ': raise max_client_conn of PgBouncer';
  if (code === '08P01' && message.includes('query_wait_timeout')) return ': raise the pool size of PgBouncer';
  return '';
}

/** The limits of retries. */
interface RetryLimits {
  readonly attempts: number;
  readonly milliseconds: number;
  readonly random: () => number;
}

/** The result of an attempt, or the reason for another one. */
export type Attempt<T> =
  { readonly kind: 'done'; readonly result: T } | { readonly kind: 'again'; readonly error: Error };

/** Repeats an attempt with random, growing pauses, which spread conflicting writers. Throws the last error at the limit. */
export async function tryAgain<T>(limits: RetryLimits, attempt: (number: number) => Promise<Attempt<T>>): Promise<T> {
  const deadline = performance.now() + limits.milliseconds;
  for (let number = 1; ; number += 1) {
    const outcome = await attempt(number);
    if (outcome.kind === 'done') return outcome.result;
    if (number >= limits.attempts || performance.now() > deadline) throw outcome.error;
    await sleep(backoffMs(number, { firstMs: 2, maxMs: 250, jitter: 1 }, limits.random));
  }
}
