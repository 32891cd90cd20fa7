import { DatabaseError } from 'pg';
import type { Logger } from '../../../platform/output/logger.ts';
import { freesSpace } from '../commits.ts';
import type { Batch } from '../record-store.ts';
import { readBigint } from './binary-arrays.ts';
import type { PooledConnection } from './connection-pool.ts';
import type { Statement } from './connection.ts';
import { meaningOf } from './errors.ts';

const ROWS = 16;
const ROW_BYTES = 1024 * 1024;
/** While the database is full, batches up to this size are taken: the records by which servers know each other are smaller. */
const SMALL_BATCH_BYTES = 1024;
/** Milliseconds after which the ballast is placed again. An attempt takes the room that deletes need for a moment. */
const PLACE_INTERVAL = 60_000;

const INSUFFICIENT_PRIVILEGE = '42501';
/** The number of the lock of the handle that places the ballast. */
const LOCK = 7_234_501;

const sizeOf: Statement = {
  name: 'coffer_ballast_size',
  text: `select pg_total_relation_size(to_regclass('coffer_ballast'))`,
};

const drop: Statement = { name: 'coffer_drop_ballast', text: 'drop table if exists coffer_ballast' };

/** It is one statement, since the connection may be shared with others. Random bytes are not made smaller. One handle at a time places it. */
const place: Statement = {
  name: 'coffer_place_ballast',
  text: `do $$ begin
    if pg_try_advisory_xact_lock(${LOCK}) then
      create unlogged table if not exists coffer_ballast (bytes bytea not null);
      insert into coffer_ballast
        select (select string_agg(decode(md5(n || random()::text), 'hex'), ''::bytea) from generate_series(1, ${ROW_BYTES / 16}) as n)
        from generate_series(1, ${ROWS} - (select count(*) from coffer_ballast));
    end if;
  end $$`,
};

interface BallastOptions {
  readonly run: <T>(use: (connection: PooledConnection) => Promise<T>) => Promise<T>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'debug'>;
  readonly now?: () => number;
}

/**
 * Reserves room for deletes on the disk of the database. A delete writes new rows before those of the object go, so a full disk could not delete
 * either. The ballast is a table that is dropped when the disk is full. While it is absent, only small batches and those that free space are taken.
 * It is not in the write-ahead log, so that standbys and backups by way of the log do not have it, and a database that ended for want of room empties it.
 *
 * Every handle of every server has one of these objects; they share the table.
 */
export class Ballast {
  readonly #options: BallastOptions;
  readonly #now: () => number;
  #tight = false;
  /** False where the role of the servers may not make tables. */
  #possible = true;
  #placedAt = -Infinity;
  #releasing: Promise<boolean> | undefined;

  constructor(options: BallastOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Reports if the batch must be refused because others need the room that is left. */
  refuses(batch: Batch): boolean {
    if (!this.#tight || freesSpace(batch)) return false;
    const bytes = (batch.put ?? []).reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    return bytes > SMALL_BATCH_BYTES;
  }

  /** Drops the ballast, since a batch has found no room. Resolves to false if there was none. */
  release(connection: PooledConnection): Promise<boolean> {
    this.#tight = true;
    this.#releasing ??= this.#drop(connection).finally(() => {
      this.#releasing = undefined;
    });
    return this.#releasing;
  }

  /** Looks for the ballast, and places it again where there is room. Each round of the garbage collection calls it. */
  async restore(): Promise<void> {
    if (!this.#possible) return;
    const size = await this.#options.run(bytesOf);
    if (size >= ROWS * ROW_BYTES) {
      this.#setTight(false);
      return;
    }
    if (this.#now() - this.#placedAt < PLACE_INTERVAL) return;
    this.#placedAt = this.#now();
    await this.#options.run((connection) => this.#place(connection));
  }

  async #drop(connection: PooledConnection): Promise<boolean> {
    try {
      if ((await bytesOf(connection)) === 0) return false;
      await connection.run(drop);
      this.#placedAt = this.#now();
      this.#options.log.warn('the disk of the database is full: only deletes are accepted until it has room again');
      return true;
    } catch (error) {
      this.#options.log.debug({ err: error }, 'the ballast of the database could not be dropped');
      return false;
    }
  }

  async #place(connection: PooledConnection): Promise<void> {
    try {
      await connection.run(place);
      this.#setTight(false);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (meaningOf(error) === 'full') this.#tight = true;
      else if (error.code === INSUFFICIENT_PRIVILEGE) {
        this.#possible = false;
        this.#setTight(false);
        this.#options.log.info(
          'the role may not make the table coffer_ballast: when the disk of the database is full, deletes fail too',
        );
      } else throw error;
    }
  }

  #setTight(tight: boolean): void {
    if (this.#tight && !tight) this.#options.log.info('the disk of the database has room again');
    this.#tight = tight;
  }
}

/** Returns the size of the table, 0 where there is none. */
async function bytesOf(connection: PooledConnection): Promise<number> {
  const [row] = await connection.run(sizeOf);
  return row?.[0] ? readBigint(row[0]) : 0;
}
