import type { Logger } from '../../../platform/output/logger.ts';
import { DatabaseError } from 'pg';
import type { Primary } from './newest-primary.ts';
import { describeAddress, type PostgresAddress } from '../../../platform/store-address/postgres-address.ts';
import { PostgresConnection, type Timeouts } from './connection.ts';
import { StoreError } from '../store-error.ts';
import { timeoutText } from '../../../platform/text/message-text.ts';

/** The database product. All of them use the protocol of PostgreSQL. */
export type Dialect = 'postgresql' | 'yugabytedb' | 'cockroachdb';

/** The settings that a session reads from its server. */
export interface ServerFacts {
  readonly version: string;
  readonly readOnly: boolean;
  /** The id of the process that serves the session. */
  readonly backend: number;
  /** Absent if the server has no such setting. */
  readonly fsync?: string;
  readonly fullPageWrites?: string;
  readonly synchronousCommit?: string;
}

/** Throws if the server does not make commits durable. Returns the settings that the session must change. */
export function judge(facts: ServerFacts, address: PostgresAddress): { readonly turnOnSynchronousCommit: boolean } {
  const where = describeAddress(address);
  if (facts.readOnly) {
    throw new StoreError('unreachable', `${where} is read-only: it is a standby, or set so; name the primary`);
  }
  for (const [name, value] of [
    ['fsync', facts.fsync],
    ['full_page_writes', facts.fullPageWrites],
  ] as const) {
    if (value === 'off' && !address.trustFsyncOff) {
      throw new StoreError(
        'unreachable',
        `${where} runs with ${name}=off: a power cut would lose acknowledged commits. Turn it on, or add ` +
          'trust_fsync_off=true to the address if the storage of the server is durable by itself',
      );
    }
  }
  return { turnOnSynchronousCommit: facts.synchronousCommit === 'off' };
}

function dialectOf(version: string): Dialect {
  if (version.startsWith('CockroachDB')) return 'cockroachdb';
  return version.includes('-YB-') ? 'yugabytedb' : 'postgresql';
}

/** A connection whose session has the settings of the store. */
export interface Session {
  readonly connection: PostgresConnection;
  readonly dialect: Dialect;
  /** The process of the server that answered. A pooler shows another one to its clients. */
  readonly backend: number;
  readonly behindPooler: boolean;
  /** The number of connections that the server still takes; undefined where it does not say so, and behind a pooler. */
  readonly left: number | undefined;
  /** Absent where the database does not say it. */
  readonly primary?: Primary;
}

/**
 * Opens a connection and sets what the store needs. The settings are those of the session, so the defaults of the role and of the
 * database do not matter. `prepare` is part of the opening: if it fails, or the whole takes longer than twice `timeouts.connect`, the
 * connection is closed.
 *
 * @throws StoreError and pg's `DatabaseError`
 */
export async function openSession(
  address: PostgresAddress,
  password: string | undefined,
  timeouts: Timeouts,
  log: Logger,
  prepare?: (session: Session) => Promise<void>,
): Promise<Session> {
  const connection = await PostgresConnection.open(address, password, timeouts);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    connection.destroy();
  }, timeouts.connect);
  try {
    const facts = await ask(connection, timeouts);
    const dialect = dialectOf(facts.version);
    if (judge(facts, address).turnOnSynchronousCommit) {
      log.warn(
        { postgres: describeAddress(address) },
        'PostgreSQL has synchronous_commit=off, which answers before a commit is durable: the sessions of this store turn it on',
      );
      await connection.runText('set synchronous_commit = on');
    }
    const behindPooler = facts.backend !== connection.processId;
    if (dialect !== 'cockroachdb') await connection.runText(SETTINGS);
    const left = dialect === 'postgresql' && !behindPooler ? await connectionsLeft(connection) : undefined;
    const primary = dialect === 'postgresql' ? await primaryOf(connection) : undefined;
    const session = {
      connection,
      dialect,
      backend: facts.backend,
      behindPooler,
      left,
      ...(primary !== undefined && { primary }),
    };
    await prepare?.(session);
    return session;
  } catch (error) {
    connection.destroy();
    if (!late) throw error;
    throw new StoreError(
      'unreachable',
      `${describeAddress(address)} took the password and then answered no statement within ${timeoutText(timeouts.connect)}: it hangs, ` +
        'or a pooler in front of it has no connection left (raise its pool size, or lower that of other programs)',
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Services that look like PostgreSQL may lack these functions: then the primary is unknown. */
async function primaryOf(connection: PostgresConnection): Promise<Primary | undefined> {
  try {
    const [row] = await connection.runText(
      `select (select system_identifier from pg_control_system()), substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`,
    );
    const [system, timeline] = (row ?? []).map((column) => column?.toString() ?? '');
    return system === undefined || timeline === undefined
      ? undefined
      : { system, timeline: Number.parseInt(timeline, 16) };
  } catch (error) {
    if (error instanceof DatabaseError) return undefined;
    throw error;
  }
}

/** Counts the connections that the server still takes of a role without privileges. */
async function connectionsLeft(connection: PostgresConnection): Promise<number> {
  const [row] = await connection.runText(
    `select current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint
       - coalesce(current_setting('reserved_connections', true), '0')::bigint - (select sum(numbackends) from pg_stat_database)`,
  );
  return Number(row?.[0]?.toString() ?? Infinity);
}

/**
 * READ COMMITTED suffices, because the commit takes its own locks (CockroachDB keeps its own level, where it needs none). The statements
 * are few and always use a key. A generic plan is kept, because planning the commit costs more than running it. Without sequential
 * scans a plan that was made for an empty table stays good. Compiling never pays for a few rows.
 */
const SETTINGS =
  "set default_transaction_isolation = 'read committed'; " +
  'set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set jit = off';

async function ask(connection: PostgresConnection, timeouts: Timeouts): Promise<ServerFacts> {
  const [row] = await connection.runText(
    `select version(), current_setting('transaction_read_only', true), current_setting('fsync', true),
       current_setting('full_page_writes', true), current_setting('synchronous_commit', true),
       set_config('statement_timeout', '${timeouts.statement}ms', false),
       pg_backend_pid()`,
  );
  const [version, readOnly, fsync, fullPageWrites, synchronousCommit, , backend] = (row ?? []).map((column) =>
    column === null ? undefined : column.toString(),
  );
  return {
    version: version ?? '',
    readOnly: readOnly === 'on',
    backend: Number(backend),
    ...(fsync !== undefined && { fsync }),
    ...(fullPageWrites !== undefined && { fullPageWrites }),
    ...(synchronousCommit !== undefined && { synchronousCommit }),
  };
}
