import { StoreError } from '../store-error.ts';
import { DatabaseError } from 'pg';
import { closed } from '../record-store.ts';
import type { PostgresConnection, Row, Statement } from './connection.ts';
import { meaningOf, unavailable, tryAgain } from './errors.ts';

export interface PoolOptions {
  /** Opens a connection: when it is first needed, and again after it was lost. */
  readonly open: () => Promise<PostgresConnection>;
  readonly connections: number;
  /** The description of the database in errors. */
  readonly where: string;
  /** The maximum time in milliseconds that a commit waits for a connection. */
  readonly timeout: number;
}

/**
 * The connections of one handle. Reads share a few connections and are pipelined, because they are short and take no locks. Each commit
 * has one of the other connections to itself, because it may wait for a lock and for the disk.
 */
export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #readers: readonly Slot[];
  readonly #idle: Slot[];
  readonly #writers: readonly Slot[];
  readonly #waiting: PromiseWithResolvers<Slot>[] = [];
  #allIdle: PromiseWithResolvers<void> | undefined;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    const readers = Math.max(1, Math.floor(options.connections / 4));
    this.#readers = Array.from({ length: readers }, () => new Slot(options.open));
    this.#writers = Array.from({ length: Math.max(1, options.connections - readers) }, () => new Slot(options.open));
    this.#idle = [...this.#writers];
  }

  /** Runs a statement that only reads. The caller may repeat it after a `StoreError` connection-lost. */
  async read(statement: Statement, values: readonly Buffer[]): Promise<readonly Row[]> {
    const slot = this.#readers.reduce((best, other) => (other.load < best.load ? other : best));
    const connection = await this.#connected(slot);
    try {
      return await connection.run(statement, values);
    } catch (error) {
      if (error instanceof DatabaseError && meaningOf(error) === 'session-ended') {
        connection.close();
        throw new StoreError('connection-lost', error.message);
      }
      throw error;
    }
  }

  /** Runs `use` with a connection of its own. Errors of `use` pass through. */
  async exclusively<T>(use: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const slot = await this.#turn();
    try {
      return await use(await this.#connected(slot));
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(slot);
      else next.resolve(slot);
      if (this.#idle.length === this.#writers.length) this.#allIdle?.resolve();
    }
  }

  /** Waits for the commits in flight, and rejects those that still wait for a connection. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiting of this.#waiting.splice(0)) waiting.reject(closed('record'));
    if (this.#idle.length < this.#writers.length) {
      this.#allIdle ??= Promise.withResolvers();
      await this.#allIdle.promise;
    }
    for (const slot of [...this.#readers, ...this.#writers]) slot.close();
  }

  async #connected(slot: Slot): Promise<PostgresConnection> {
    const { where, timeout } = this.#options;
    return tryAgain({ attempts: Infinity, milliseconds: timeout / 2, random: Math.random }, async () => {
      if (this.#closed) throw closed('record');
      try {
        return { kind: 'done', result: await slot.connection() };
      } catch (error) {
        const failure = unavailable(error, where);
        if (!isStarting(error)) throw failure;
        return { kind: 'again', error: failure };
      }
    });
  }

  async #turn(): Promise<Slot> {
    if (this.#closed) throw closed('record');
    const slot = this.#idle.pop();
    if (slot !== undefined) return slot;
    const turn = Promise.withResolvers<Slot>();
    this.#waiting.push(turn);
    const timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(turn), 1);
      const { where, timeout } = this.#options;
      turn.reject(new StoreError('unreachable', `${where}: every connection was busy for ${timeout / 1000} seconds`));
    }, this.#options.timeout);
    try {
      return await turn.promise;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Returns true if the server is restarting. Nothing was sent to it yet, so a repetition is safe. */
function isStarting(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === '57P03' || error.code === '53300' || error.code === '57P01';
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}

/** Holds one connection, and opens it again after it was lost. */
class Slot {
  readonly #open: () => Promise<PostgresConnection>;
  #current: PostgresConnection | undefined;
  #opening: Promise<PostgresConnection> | undefined;
  #closed = false;

  constructor(open: () => Promise<PostgresConnection>) {
    this.#open = open;
  }

  get load(): number {
    return this.#current?.load ?? 0;
  }

  /** Returns the connection. Concurrent callers wait for the same one to open. */
  async connection(): Promise<PostgresConnection> {
    if (this.#current?.alive === true) return this.#current;
    this.#opening ??= this.#open();
    try {
      const opened = await this.#opening;
      this.#current = opened;
      if (this.#closed) opened.close();
      return opened;
    } finally {
      this.#opening = undefined;
    }
  }

  close(): void {
    this.#closed = true;
    this.#current?.close();
  }
}
