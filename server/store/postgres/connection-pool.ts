import { DatabaseError } from 'pg';
import { closed, StoreUnavailable } from '../record-store.ts';
import type { PostgresConnection, Row, Statement } from './connection.ts';
import { ConnectionLost, meaningOf, unavailable, tryAgain } from './errors.ts';

export interface PoolOptions {
  /** Opened when first needed, and again after they were lost. */
  readonly open: () => Promise<PostgresConnection>;
  readonly connections: number;
  /** What stands in errors. */
  readonly where: string;
  /** Milliseconds that a commit waits for its turn. */
  readonly patience: number;
}

/**
 * The connections of one handle. Reads share a few, one behind the other without waiting for answers: they are short and wait for
 * nobody. Commits have the others, each alone on its connection while it lasts: it may wait for another's lock and for the disk, and
 * nothing should stand behind it.
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

  /** A statement that changes nothing: sent again on a new connection when the old one died. */
  async read(statement: Statement, values: readonly Buffer[]): Promise<readonly Row[]> {
    const slot = this.#readers.reduce((best, other) => (other.load < best.load ? other : best));
    const connection = await this.#connected(slot);
    try {
      return await connection.run(statement, values);
    } catch (error) {
      if (error instanceof DatabaseError && meaningOf(error) === 'session-ended') {
        connection.close();
        throw new ConnectionLost(error.message);
      }
      throw error;
    }
  }

  /** One connection for one commit. What `use` throws is not judged here. */
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

  /** Waits for the commits on their way; refuses those that still wait for their turn. */
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
    const { where, patience } = this.#options;
    return tryAgain({ attempts: Infinity, milliseconds: patience / 2, random: Math.random }, async () => {
      if (this.#closed) throw closed('record');
      try {
        return { kind: 'done', result: await slot.connection() };
      } catch (error) {
        const told = unavailable(error, where);
        if (!isStarting(error)) throw told;
        return { kind: 'again', error: told };
      }
    });
  }

  async #turn(): Promise<Slot> {
    if (this.#closed) throw closed('record');
    const slot = this.#idle.pop();
    if (slot !== undefined) return slot;
    const turn = Promise.withResolvers<Slot>();
    this.#waiting.push(turn);
    const impatience = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(turn), 1);
      const { where, patience } = this.#options;
      turn.reject(
        new StoreUnavailable('unreachable', `${where}: every connection was busy for ${patience / 1000} seconds`),
      );
    }, this.#options.patience);
    try {
      return await turn.promise;
    } finally {
      clearTimeout(impatience);
    }
  }
}

/** A server that is being restarted is back in a moment: nothing was sent to it yet, so waiting costs only time. */
function isStarting(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === '57P03' || error.code === '53300' || error.code === '57P01';
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}

/** A place for a connection. */
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

  /** Everybody who asks while it is being opened waits for the same one. */
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
