import { DatabaseError } from 'pg';
import type { Logger } from '../../../platform/logger.ts';
import { checkBatch, checkKey } from '../batch.ts';
import {
  type Batch,
  type CommitId,
  type Entry,
  type Key,
  type Outcome,
  type RecordStore,
  type ScanItem,
  type ScanRange,
  StoreUnavailable,
} from '../record-store.ts';
import { byteaArray } from './binary-arrays.ts';
import { CommitRequest, outcomeStatement } from './commit.ts';
import { ConnectionPool } from './connection-pool.ts';
import { describeAddress, parsePostgresAddress, type PostgresAddress } from './address.ts';
import type { PostgresConnection, Row, Statement, Timeouts } from './connection.ts';
import { ConnectionLost, meaningOf, unavailable, type Attempt, tryAgain } from './errors.ts';
import { getAllStatement, getStatement, entryOf, scanPages } from './reads.ts';
import { prepareTables } from './schema.ts';
import { openSession } from './session.ts';
import { Tidy } from './garbage-collection.ts';

export interface PostgresOptions {
  /** `postgres://USER@HOST:PORT/DATABASE?OPTIONS`, without a password. */
  readonly url: string;
  readonly password?: string;
  readonly log: Logger;
  /** Connections of this handle; a server has one handle for each thread. 8 by default. */
  readonly connections?: number;
  readonly timeouts?: Partial<Timeouts>;
}

/** A commit that meets others is tried again so often, and so long (milliseconds). */
const COMMIT_ATTEMPTS = 12;
const COMMIT_PATIENCE = 10_000;
/** After so many tries it queues for its rows. */
const TRIES_BEFORE_QUEUEING = 2;
/** A read whose connection died is sent again. */
const READ_ATTEMPTS = 4;

/**
 * Records in a PostgreSQL, or in one of those that speak its language: CockroachDB and YugabyteDB. Several replicas share it.
 * Throws `InvalidPostgresAddress`, `DatabaseFormatError`, or `StoreUnavailable` when the server cannot be reached.
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
    await store.prepare();
    return store;
  } catch (error) {
    await store.close();
    throw error instanceof DatabaseError || error instanceof ConnectionLost ? unavailable(error, where) : error;
  }
}

class PostgresRecordStore implements RecordStore {
  readonly #where: string;
  readonly #pool: ConnectionPool;
  readonly #tidy: Tidy;
  readonly #open: () => ReturnType<typeof openSession>;
  /** No revision is made that is not above this one, whatever the server's clock says. */
  #floor = 0;

  constructor(address: PostgresAddress, options: PostgresOptions, timeouts: Timeouts) {
    const { log, password, connections = 8 } = options;
    this.#where = describeAddress(address);
    this.#open = () => openSession(address, password, timeouts, log);
    this.#pool = new ConnectionPool({
      connections,
      where: this.#where,
      patience: timeouts.connect,
      open: async () => {
        const { connection } = await this.#open();
        await this.#readFloor(connection);
        return connection;
      },
    });
    this.#tidy = new Tidy({ run: (use) => this.#pool.exclusively(use), log, random: Math.random });
  }

  async prepare(): Promise<void> {
    const { connection, dialect } = await this.#open().catch((error: unknown) => {
      throw unavailable(error, this.#where);
    });
    try {
      await prepareTables(connection, dialect, this.#where);
    } finally {
      connection.close();
    }
    this.#tidy.start();
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
      { attempts: COMMIT_ATTEMPTS, milliseconds: COMMIT_PATIENCE, random: Math.random },
      (attempt): Promise<Attempt<Outcome>> =>
        this.#pool.exclusively(async (connection) => {
          const statement = request.statement(attempt > TRIES_BEFORE_QUEUEING);
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
    const rows = await this.#patiently(() =>
      this.#pool.exclusively((connection) => connection.run(outcomeStatement, [Buffer.from(id, 'hex')])),
    );
    return rows[0]?.[0]?.[0] === 1 ? 'committed' : 'not-committed';
  }

  async close(): Promise<void> {
    this.#tidy.stop();
    await this.#pool.close();
  }

  #failedCommit(connection: PostgresConnection, error: unknown): Attempt<Outcome> {
    if (error instanceof ConnectionLost) return { kind: 'done', result: { kind: 'unknown' } };
    if (!(error instanceof DatabaseError)) throw error;
    switch (meaningOf(error)) {
      case 'session-ended':
        connection.close();
        return { kind: 'done', result: { kind: 'unknown' } };
      case 'id-taken':
        // Ruled out by who asked for its outcome, and so never in effect; `outcome` says so again.
        return { kind: 'done', result: { kind: 'unknown' } };
      case 'again':
      case 'changed-meanwhile':
        return {
          kind: 'again',
          error: new StoreUnavailable(
            'unreachable',
            `a commit met others of the same records in ${this.#where} again and again`,
          ),
        };
      case 'out-of-range':
        throw new RangeError('a counter would leave the 64 bits that it has');
      case 'refused':
        // It may have become a standby: the next statement finds out on a new connection.
        connection.close();
        throw unavailable(error, this.#where);
      case 'full':
        throw unavailable(error, this.#where);
    }
  }

  #read(statement: Statement, values: readonly Buffer[]): Promise<readonly Row[]> {
    return this.#patiently(() => this.#pool.read(statement, values));
  }

  /** For statements that may be run twice. */
  #patiently(run: () => Promise<readonly Row[]>): Promise<readonly Row[]> {
    const patience = { attempts: READ_ATTEMPTS, milliseconds: COMMIT_PATIENCE, random: Math.random };
    return tryAgain(patience, async (): Promise<Attempt<readonly Row[]>> => {
      try {
        return { kind: 'done', result: await run() };
      } catch (error) {
        if (error instanceof ConnectionLost) return { kind: 'again', error: unavailable(error, this.#where) };
        if (!(error instanceof DatabaseError)) throw error;
        const told = unavailable(error, this.#where);
        const meaning = meaningOf(error);
        if (meaning === 'again' || meaning === 'session-ended') return { kind: 'again', error: told };
        throw told;
      }
    });
  }

  /** After a failover the new primary's clock may be behind what the old one's made. */
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
  throw new RangeError(`the record ${answer.key.toString('hex')} is no counter: counters have 8 bytes`);
}
