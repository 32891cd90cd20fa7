import type { Logger } from '../../../platform/logger.ts';
import { StoreUnavailable } from '../record-store.ts';
import { describeAddress, type PostgresAddress } from './address.ts';
import { PostgresConnection, type Timeouts } from './connection.ts';

/** Which of those who speak PostgreSQL's language this one is. */
export type Dialect = 'postgresql' | 'yugabytedb' | 'cockroachdb';

/** What a session says of its server. */
export interface ServerFacts {
  readonly version: string;
  readonly readOnly: boolean;
  /** Absent where the server has no such setting. */
  readonly fsync?: string;
  readonly fullPageWrites?: string;
  readonly synchronousCommit?: string;
}

/** Throws for a server that cannot keep what it answers; says how the session must differ from the server's defaults. */
export function judge(facts: ServerFacts, address: PostgresAddress): { readonly turnOnSynchronousCommit: boolean } {
  const where = describeAddress(address);
  if (facts.readOnly) {
    throw new StoreUnavailable('unreachable', `${where} is read-only: it is a standby, or set so; name the primary`);
  }
  for (const [name, value] of [
    ['fsync', facts.fsync],
    ['full_page_writes', facts.fullPageWrites],
  ] as const) {
    if (value === 'off' && !address.trustFsyncOff) {
      throw new StoreUnavailable(
        'unreachable',
        `${where} runs with ${name}=off: a power cut would take back what it answered. Turn it on, or add ` +
          'trust_fsync_off=true to the address where storage below the server makes it durable',
      );
    }
  }
  return { turnOnSynchronousCommit: facts.synchronousCommit === 'off' };
}

export function dialectOf(version: string): Dialect {
  if (version.startsWith('CockroachDB')) return 'cockroachdb';
  return version.includes('-YB-') ? 'yugabytedb' : 'postgresql';
}

/**
 * A connection whose session is as the store needs it. Each setting is the session's own: neither the role's nor the database's
 * defaults matter.
 */
export async function openSession(
  address: PostgresAddress,
  password: string | undefined,
  timeouts: Timeouts,
  log: Logger,
): Promise<{ readonly connection: PostgresConnection; readonly dialect: Dialect }> {
  const connection = await PostgresConnection.open(address, password, timeouts);
  try {
    const facts = await ask(connection, timeouts);
    const dialect = dialectOf(facts.version);
    if (judge(facts, address).turnOnSynchronousCommit) {
      log.warn(
        { postgres: describeAddress(address) },
        'PostgreSQL has synchronous_commit=off, which answers before it is durable: it is on for the sessions of this store',
      );
      await connection.runText('set synchronous_commit = on');
    }
    if (dialect !== 'cockroachdb') await connection.runText(SETTINGS);
    return { connection, dialect };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * The locks that the commit takes are all it needs (CockroachDB stays at its own level, where it needs none). The statements are
 * few, always the same and always by key. Planning the commit costs more than running it, so its one plan is kept; and a plan made
 * while the table was empty must not read all of it when it is not. Compiling never pays for a few rows.
 */
const SETTINGS =
  "set default_transaction_isolation = 'read committed'; " +
  'set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set jit = off';

async function ask(connection: PostgresConnection, timeouts: Timeouts): Promise<ServerFacts> {
  const [row] = await connection.runText(
    `select version(), current_setting('transaction_read_only', true), current_setting('fsync', true),
       current_setting('full_page_writes', true), current_setting('synchronous_commit', true),
       set_config('statement_timeout', '${timeouts.statement}ms', false)`,
  );
  const [version, readOnly, fsync, fullPageWrites, synchronousCommit] = (row ?? []).map((column) =>
    column === null ? undefined : column.toString(),
  );
  return {
    version: version ?? '',
    readOnly: readOnly === 'on',
    ...(fsync !== undefined && { fsync }),
    ...(fullPageWrites !== undefined && { fullPageWrites }),
    ...(synchronousCommit !== undefined && { synchronousCommit }),
  };
}
