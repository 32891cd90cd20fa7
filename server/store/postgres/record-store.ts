import { isStoreError, StoreError } from '../store-error.ts';
import { DatabaseError } from 'pg';
import type { Logger } from '../../../platform/logger.ts';
import { checkBatch } from '../commits.ts';
import { checkKey } from '../keys.ts';
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
import { ConnectionPool } from './connection-pool.ts';
import { describeAddress, parsePostgresAddress, type PostgresAddress } from './address.ts';
import type { PostgresConnection, Row, Statement, Timeouts } from './connection.ts';
import { meaningOf, unavailable, type Attempt, tryAgain } from './errors.ts';
import { getAllStatement, getStatement, entryOf, scanPages } from './reads.ts';
import { checkTables, prepareTables } from './schema.ts';
import { openSession } from './session.ts';
import { GarbageCollection } from './garbage-collection.ts';

export interface PostgresOptions {
  /** `postgres://USER@HOST:PORT/DATABASE?OPTIONS`, without a password. */
  readonly url: string;
  readonly password?: string;
  readonly log: Logger;
  /** The number of connections of this handle, 8 by default. A server has one handle per thread. */
  readonly connections?: number;
  readonly timeouts?: Partial<Timeouts>;
  /** True to migrate no tables and remove no old rows. */
  readonly readOnly?: boolean | undefined;
}

/** The limits of retries of a commit that conflicts with others. */
const COMMIT_ATTEMPTS = 12;
const COMMIT_TIMEOUT = 10_000;
/** After this many optimistic attempts a commit locks its rows first. */
const OPTIMISTIC_ATTEMPTS = 2;
/** Attempts of a read whose connection broke. */
const READ_ATTEMPTS = 4;

/**
 * Opens records in PostgreSQL, CockroachDB or YugabyteDB. Several servers may share them. Throws `ProgramError`,
 * `ProgramError`, or `StoreError` if the database cannot be reached.
 */
export async function openPostgresRecordStore(options: PostgresOptions): Promise<RecordStore> {
  const address = parsePostgresAddress(options.url);
  const where = describeAddress(address);
  const timeouts = { connect: 5000, statement: 10_000, answer: 15_000, ...options.timeouts };
  if (address.tls.kind === 'off' && !isLocal(address)) {
    options.log.warn({ postgres: where }, 'the connection to PostgreSQL is not encrypted: add sslmode=verify-full');
  }
  const store = new PostgresRecordStore(address, options, timeouts);
  try {
    await store.prepare(options.readOnly === true);
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
  readonly #open: () => ReturnType<typeof openSession>;
  /** Every new revision is above this, whatever the clock of the database says. */
  #floor = 0;

  constructor(address: PostgresAddress, options: PostgresOptions, timeouts: Timeouts) {
    const { log, password, connections = 8 } = options;
    this.#where = describeAddress(address);
    this.#open = () => openSession(address, password, timeouts, log);
    this.#pool = new ConnectionPool({
      connections,
      where: this.#where,
      timeout: timeouts.connect,
      open: async () => {
        const { connection } = await this.#open();
        await this.#readFloor(connection);
        return connection;
      },
    });
    this.#garbageCollection = new GarbageCollection({
      run: (use) => this.#pool.exclusively(use),
      log,
      random: Math.random,
    });
  }

  async prepare(readOnly: boolean): Promise<void> {
    const { connection, dialect } = await this.#open().catch((error: unknown) => {
      throw unavailable(error, this.#where);
    });
    try {
      await (readOnly ? checkTables(connection, this.#where) : prepareTables(connection, dialect, this.#where));
    } finally {
      connection.close();
    }
    if (readOnly) return;
    this.#garbageCollection.start();
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
    const request = new CommitRequest(batch);
    return tryAgain(
      { attempts: COMMIT_ATTEMPTS, milliseconds: COMMIT_TIMEOUT, random: Math.random },
      (attempt): Promise<Attempt<Outcome>> =>
        this.#pool.exclusively(async (connection) => {
          const statement = request.statement(attempt > OPTIMISTIC_ATTEMPTS);
          let rows;
          try {
            rows = await connection.run(statement, request.parameters(this.#floor));
          } catch (error) {
            return this.#failedCommit(connection, error);
          }
          return { kind: 'done', result: answered(request, rows) };
        }),
    );
  }

  async outcome(id: CommitId): Promise<'committed' | 'not-committed'> {
    const rows = await this.#withRetries(() =>
      this.#pool.exclusively((connection) => connection.run(outcomeStatement, [Buffer.from(id, 'hex')])),
    );
    return rows[0]?.[0]?.[0] === 1 ? 'committed' : 'not-committed';
  }

  async close(): Promise<void> {
    this.#garbageCollection.stop();
    await this.#pool.close();
  }

  #failedCommit(connection: PostgresConnection, error: unknown): Attempt<Outcome> {
    if (isStoreError(error, 'connection-lost')) return { kind: 'done', result: { kind: 'unknown' } };
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
      case 'full':
        throw unavailable(error, this.#where);
    }
  }

  #read(statement: Statement, values: readonly Buffer[]): Promise<readonly Row[]> {
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

  /** Reads the highest forgotten revision: after a failover the clock of the new primary may be behind it. */
  async #readFloor(connection: PostgresConnection): Promise<void> {
    const [row] = await connection.runText(`select value from coffer_meta where name = 'floor'`);
    this.#floor = Math.max(this.#floor, Number(row?.[0]?.toString() ?? 0));
  }
}

function isLocal(address: PostgresAddress): boolean {
  return ['localhost', '127.0.0.1', '::1'].includes(address.host) || address.host.startsWith('/');
}

function answered(request: CommitRequest, rows: readonly Row[]): Outcome {
  const answer = request.answer(rows);
  if (answer.kind !== 'no-counter') return answer;
  throw new RangeError(`the record ${answer.key.toString('hex')} is not a counter: counters have 8 bytes`);
}
