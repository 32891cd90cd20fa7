import { isStoreError, StoreError } from '../store-error.ts';
import { DatabaseError } from 'pg';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Logger } from '../../../platform/output/logger.ts';
import { commitChannel } from '../commit-channel.ts';
import { checkBatch, freesSpace } from '../commits.ts';
import { deploymentKey, requireDeployment } from '../deployment.ts';
import { checkKey } from '../keys.ts';
import type { RecordCount } from '../record-counts.ts';
import {
  type Batch,
  type CommitId,
  type Entry,
  type Key,
  type Outcome,
  type RecordStore,
  type ScanItem,
  type ScanRange,
} from '../record-store.ts';
import { byteaArray } from './binary-arrays.ts';
import { CommitRequest, outcomeStatement } from './commit.ts';
import { ConnectionPool, type PooledConnection } from './connection-pool.ts';
import type { DatabaseHost } from '../../../platform/store-address/database-url.ts';
import {
  describeAddress,
  parsePostgresAddress,
  type PostgresAddress,
} from '../../../platform/store-address/postgres-address.ts';
import type { PostgresConnection, Row, Statement, Timeouts } from './connection.ts';
import { meaningOf, unavailable, type Attempt, tryAgain } from './errors.ts';
import { getAllStatement, getStatement, entryOf, scanPages } from './reads.ts';
import { type CountedRecords, countRecords, forgetCounts, readCounted, readCounts } from './read-counts.ts';
import { NewestPrimary } from './newest-primary.ts';
import { WritingHost } from './writing-host.ts';
import { RolePassword } from './password.ts';
import { checkTables, prepareTables } from './schema.ts';
import { openSession, type Session } from './session.ts';
import { leaveConnections, refuseSharedBackend } from './shared-connections.ts';
import { readLoggedValues } from './statement-log.ts';
import { Ballast } from './ballast.ts';
import { GarbageCollection } from './garbage-collection.ts';

export interface PostgresOptions {
  /** `postgres://USER@HOST:PORT/DATABASE?OPTIONS`, without a password. */
  readonly url: string;
  readonly password?: string;
  /** The file that holds the password. It is read again when the database refuses the password. */
  readonly passwordFile?: string;
  readonly log: Logger;
  /** The number of connections of this handle, 8 by default. A server has one handle per thread. */
  readonly connections?: number;
  readonly timeouts?: Partial<Timeouts>;
  /** True to migrate no tables and remove no old rows. */
  readonly readOnly?: boolean | undefined;
  /** Rejects where no new store must be begun, before any table is made. A store may be begun by default. */
  readonly mayBegin?: (() => Promise<void>) | undefined;
  /** Shared by the threads of a server (`newestPrimaryMemory`). */
  readonly newestPrimary?: SharedArrayBuffer | undefined;
  /** Returns the deployment that the records must belong to, once it is known. */
  readonly deployment?: (() => string | undefined) | undefined;
}

/** The limits of retries of a commit that conflicts with others. */
const COMMIT_ATTEMPTS = 12;
const COMMIT_TIMEOUT = 10_000;
/** After this many optimistic attempts a commit locks its rows first. */
const OPTIMISTIC_ATTEMPTS = 2;
/** Milliseconds for an answer about all rows. */
const A_DAY = 86_400_000;
/** Attempts of a read whose connection broke. */
const READ_ATTEMPTS = 4;

/**
 * Opens records in PostgreSQL, CockroachDB or YugabyteDB. Several servers may share them. Throws `ProgramError`,
 * `ProgramError`, or `StoreError` if the database cannot be reached.
 */
export async function openPostgresRecordStore(options: PostgresOptions): Promise<RecordStore> {
  const address = parsePostgresAddress(options.url);
  const where = describeAddress(address);
  const connect = address.connectMs ?? 5000;
  const timeouts = { connect, statement: 10_000, answer: 15_000, ...options.timeouts };
  if (address.tls.kind === 'off' && !address.hosts.every(isLocal)) {
    options.log.warn({ postgres: where }, 'the connection to PostgreSQL is not encrypted: add sslmode=verify-full');
  }
  const store = new PostgresRecordStore(address, options, timeouts);
  try {
    await store.prepare(options.readOnly === true, options.mayBegin ?? (() => Promise.resolve()));
    return store;
  } catch (error) {
    await store.close();
    throw error instanceof DatabaseError || isStoreError(error, 'connection-lost') ? unavailable(error, where) : error;
  }
}

class PostgresRecordStore implements RecordStore {
  readonly #where: string;
  readonly #pool: ConnectionPool;
  readonly #garbageCollection: GarbageCollection;
  readonly #open: (prepare?: (session: Session) => Promise<void>, timeouts?: Partial<Timeouts>) => Promise<Session>;
  /** The sessions of the pool. */
  #sessions: readonly Session[] = [];
  readonly #newest: NewestPrimary;
  readonly #hosts = new WritingHost();
  /** True while `#leaveOldPrimary` looks. */
  #leaving = false;
  /** Absent for databases that spread their rows over disks, and before the tables are prepared. */
  #ballast: Ballast | undefined;
  readonly #log: Logger;
  readonly #deployment: () => string | undefined;
  /** Every new revision is above this, whatever the clock of the database says. */
  #floor = 0;
  /** True if each commit notes how it changes the counts. It was not tried on CockroachDB. */
  #counts = false;

  constructor(address: PostgresAddress, options: PostgresOptions, timeouts: Timeouts) {
    const { log, password, passwordFile, connections = 8 } = options;
    this.#where = describeAddress(address);
    this.#log = log;
    this.#deployment = options.deployment ?? (() => undefined);
    const role = new RolePassword(password, passwordFile);
    this.#newest = new NewestPrimary(options.newestPrimary);
    this.#open = (prepare, more) =>
      this.#hosts.open(address, (host) =>
        role.with((current) => openSession(host, current, { ...timeouts, ...more }, log, prepare)),
      );
    this.#pool = new ConnectionPool({
      connections,
      where: this.#where,
      timeout: timeouts.connect,
      open: () => this.#openServing(),
      onShortage: (error) => {
        if (error === undefined) log.info({ postgres: this.#where }, 'PostgreSQL takes new connections again');
        else log.warn({ postgres: this.#where, err: error }, `serving with fewer connections: ${error.message}`);
      },
    });
    this.#garbageCollection = new GarbageCollection({
      run: (use) => this.#pool.exclusively(use),
      count: () => (this.#counts ? this.#inSession(countRecords) : Promise.resolve(true)),
      log,
      random: Math.random,
      alsoEachRound: () => this.#ballast?.restore(),
    });
  }

  async prepare(readOnly: boolean, mayBegin: () => Promise<void>): Promise<void> {
    const session = await this.#open().catch((error: unknown) => {
      throw unavailable(error, this.#where);
    });
    const { connection, dialect } = session;
    this.#counts = dialect !== 'cockroachdb';
    try {
      if (session.behindPooler) await this.#checkPooler(session);
      const logged = dialect === 'postgresql' ? await readLoggedValues(connection) : undefined;
      if (logged !== undefined && !readOnly) {
        this.#log.warn(
          { postgres: this.#where, event: 'statement-log' },
          `PostgreSQL writes the values of slow or all statements to its log (${logged}), small objects and, without a key service, secret keys among them: ` +
            'run "alter role ROLE set log_parameter_max_length = 0" as a superuser (PostgreSQL 13 or newer)',
        );
      }
      const where = this.#where;
      await (readOnly ? checkTables(connection, where) : prepareTables(connection, { dialect, where, mayBegin }));
    } finally {
      connection.close();
    }
    if (readOnly) return;
    if (dialect === 'postgresql')
      this.#ballast = new Ballast({ run: (use) => this.#pool.exclusively(use), log: this.#log });
    this.#garbageCollection.start();
  }

  /** A second session shows whether the pooler gives each client a connection of its own. */
  async #checkPooler(session: Session): Promise<void> {
    try {
      const second = await this.#open((other) => Promise.resolve(refuseSharedBackend(other, [session], this.#where)));
      second.connection.close();
    } catch (error) {
      // A pool of one connection has none for the second session, which is not a fault of the mode.
      if (error instanceof ProgramError) throw error;
    }
  }

  async get(key: Key): Promise<Entry | undefined> {
    checkKey(key);
    const [row] = await this.#read(getStatement, [key]);
    return row && entryOf(row);
  }

  async getAll(keys: readonly Key[]): Promise<readonly (Entry | undefined)[]> {
    for (const key of keys) checkKey(key);
    const rows = await this.#read(getAllStatement, [byteaArray(keys)]);
    const entries = new Map(rows.map(entryOf).map((entry) => [entry.key.toString('latin1'), entry]));
    return keys.map((key) => entries.get(key.toString('latin1')));
  }

  scan(range: ScanRange): AsyncIterable<ScanItem> {
    return scanPages((statement, values) => this.#read(statement, values), range);
  }

  async commit(batch: Batch): Promise<Outcome> {
    checkBatch(batch);
    if (commitChannel.hasSubscribers) commitChannel.publish(batch);
    if (this.#ballast?.refuses(batch) === true) {
      throw new StoreError('full', `${this.#where} has no space left for records: only deletes are accepted`);
    }
    const request = new CommitRequest(batch);
    this.#newest.closeOld(this.#sessions);
    return tryAgain(
      { attempts: COMMIT_ATTEMPTS, milliseconds: COMMIT_TIMEOUT, random: Math.random },
      (attempt): Promise<Attempt<Outcome>> =>
        this.#pool.exclusively(async (connection) => {
          const options = { counts: this.#counts, queueing: attempt > OPTIMISTIC_ATTEMPTS };
          let rows;
          try {
            rows = await connection.change(request.statement(options), request.parameters(this.#floor, options));
          } catch (error) {
            return this.#failedCommit(connection, error, batch);
          }
          return { kind: 'done', result: answered(request, rows) };
        }),
    );
  }

  async outcome(id: CommitId): Promise<'committed' | 'not-committed'> {
    const rows = await this.#withRetries(() =>
      this.#pool.exclusively((connection) => connection.change(outcomeStatement, [Buffer.from(id, 'hex')])),
    );
    return rows[0]?.[0]?.[0] === 1 ? 'committed' : 'not-committed';
  }

  async counts(): Promise<readonly RecordCount[] | undefined> {
    return this.#counts ? this.#inSession(readCounts) : undefined;
  }

  async counted(): Promise<CountedRecords | { readonly never: string } | undefined> {
    return this.#counts ? this.#inSession(readCounted) : { never: 'CockroachDB' };
  }

  async recount(): Promise<void> {
    if (!this.#counts) return;
    await this.#inSession(async (connection) => {
      await forgetCounts(connection);
      await countRecords(connection);
    });
  }

  /** Reads many rows in a session of its own, whose statements may take their time. */
  async #inSession<T>(read: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const { connection } = await this.#open((session) => this.#admit(session), {
      statement: 0,
      answer: A_DAY,
    }).catch((error: unknown) => {
      throw unavailable(error, this.#where);
    });
    try {
      return await read(connection);
    } catch (error) {
      throw error instanceof DatabaseError || isStoreError(error, 'connection-lost')
        ? unavailable(error, this.#where)
        : error;
    } finally {
      connection.close();
    }
  }

  async close(): Promise<void> {
    this.#garbageCollection.stop();
    await this.#pool.close();
  }

  async #failedCommit(connection: PooledConnection, error: unknown, batch: Batch): Promise<Attempt<Outcome>> {
    if (isStoreError(error, 'connection-lost')) {
      void this.#leaveOldPrimary();
      return { kind: 'done', result: { kind: 'unknown' } };
    }
    if (!(error instanceof DatabaseError)) throw error;
    switch (meaningOf(error)) {
      case 'session-ended':
        connection.close();
        return { kind: 'done', result: { kind: 'unknown' } };
      case 'id-taken':
        // A call of `outcome` has ruled the commit out. The caller gets the same result from `outcome`.
        return { kind: 'done', result: { kind: 'unknown' } };
      case 'again':
      case 'changed-meanwhile':
        return {
          kind: 'again',
          error: new StoreError('unreachable', `a commit to ${this.#where} conflicted with others in every attempt`),
        };
      case 'out-of-range':
        throw new RangeError('a counter would exceed 64 bits');
      case 'refused':
        // The database may have become a standby. The next statement opens a new connection.
        connection.close();
        throw unavailable(error, this.#where);
      case 'full': {
        const failure = unavailable(error, this.#where);
        if (freesSpace(batch) && (await this.#ballast?.release(connection)) === true)
          return { kind: 'again', error: failure };
        throw failure;
      }
    }
  }

  /**
   * Looks if another primary was promoted. An old one that runs on holds each commit back, because the standby it waits for is the new primary,
   * and keeps its sessions.
   */
  async #leaveOldPrimary(): Promise<void> {
    if (this.#leaving) return;
    this.#leaving = true;
    this.#hosts.distrust();
    try {
      const { connection } = await this.#open((session) => this.#admit(session));
      connection.close();
    } catch {
      // The requests say what is wrong.
    } finally {
      this.#leaving = false;
    }
  }

  #read(statement: Statement, values: readonly Buffer[]): Promise<readonly Row[]> {
    this.#newest.closeOld(this.#sessions);
    return this.#withRetries(() => this.#pool.read(statement, values));
  }

  /** Runs a statement that is safe to repeat, with retries. */
  #withRetries(run: () => Promise<readonly Row[]>): Promise<readonly Row[]> {
    const limits = { attempts: READ_ATTEMPTS, milliseconds: COMMIT_TIMEOUT, random: Math.random };
    return tryAgain(limits, async (): Promise<Attempt<readonly Row[]>> => {
      try {
        return { kind: 'done', result: await run() };
      } catch (error) {
        if (isStoreError(error, 'connection-lost')) return { kind: 'again', error: unavailable(error, this.#where) };
        if (!(error instanceof DatabaseError)) throw error;
        const failure = unavailable(error, this.#where);
        const meaning = meaningOf(error);
        if (meaning === 'again' || meaning === 'session-ended') return { kind: 'again', error: failure };
        throw failure;
      }
    });
  }

  /** Opens a connection for requests. A failure closes it: connections without an owner would use up those of the database. */
  async #openServing(): Promise<PostgresConnection> {
    const { connection } = await this.#open(async (session) => {
      this.#sessions = this.#sessions.filter((other) => other.connection.alive);
      refuseSharedBackend(session, this.#sessions, this.#where);
      leaveConnections(session, this.#sessions, this.#where);
      await this.#admit(session);
      this.#sessions = [...this.#sessions, session];
    });
    return connection;
  }

  /**
   * Refuses the records of another deployment, and then an old primary: another deployment must not count as the newest primary. No statement follows
   * the look at the primary, so that a session which is admitted is closed with the others when a newer one is seen.
   */
  async #admit(session: Session): Promise<void> {
    await this.#requireDeployment(session);
    await this.#readFloor(session);
    this.#newest.admit(session, this.#sessions, this.#where);
  }

  /** Each session looks, because the name of a database may lead to another one at any time. */
  async #requireDeployment({ connection }: Session): Promise<void> {
    const deployment = this.#deployment();
    if (deployment === undefined) return;
    const [row] = await connection.runText(
      `select convert_from(value, 'UTF8') from coffer_records where key = decode('${deploymentKey.toString('hex')}', 'hex')`,
    );
    requireDeployment(row?.[0] ?? undefined, deployment, this.#where);
  }

  /**
   * Reads the highest forgotten revision: after a failover the clock of the new primary may be behind it. It refuses tables that PostgreSQL
   * empties after a crash.
   */
  async #readFloor({ connection, dialect }: Session): Promise<void> {
    const [row] = await connection.runText(
      `select (select value from coffer_meta where name = 'floor')${dialect === 'postgresql' ? `, ${UNLOGGED_TABLES}` : ''}`,
    );
    const unlogged = row?.[1]?.toString();
    if (unlogged !== undefined) {
      const what = `the tables ${unlogged} of ${this.#where} are UNLOGGED: a crash of PostgreSQL would empty them`;
      throw new StoreError('unreachable', `${what}. Run "alter table NAME set logged"`);
    }
    this.#floor = Math.max(this.#floor, Number(row?.[0]?.toString() ?? 0));
  }
}

/** The tables of Coffer that are not in the write-ahead log; null where all are. */
const UNLOGGED_TABLES = `(select string_agg(relname, ', ' order by relname) from pg_class
  where relpersistence = 'u' and oid in ('coffer_records'::regclass, 'coffer_deletions'::regclass, 'coffer_commits'::regclass,
    'coffer_meta'::regclass, to_regclass('coffer_counts')))`;

function isLocal({ host }: DatabaseHost): boolean {
  return ['localhost', '127.0.0.1', '::1'].includes(host) || host.startsWith('/');
}

function answered(request: CommitRequest, rows: readonly Row[]): Outcome {
  const answer = request.answer(rows);
  if (answer.kind !== 'no-counter') return answer;
  throw new RangeError(`the record ${answer.key.toString('hex')} is not a counter: counters have 8 bytes`);
}
