import { StoreError } from '../store-error.ts';
import { DatabaseError } from 'pg';
import { closed } from '../record-store.ts';
import type { PostgresConnection, Row, Statement } from './connection.ts';
import { meaningOf, unavailable, tryAgain } from './errors.ts';

/** What the pool needs of a connection. */
export type PooledConnection = Pick<PostgresConnection, 'alive' | 'load' | 'run' | 'change' | 'close'>;

interface PoolOptions {
  /** Opens a connection: when it is first needed, and again after it was lost. A failure leaves nothing open. */
  readonly open: () => Promise<PooledConnection>;
  readonly connections: number;
  /** The description of the database in errors. */
  readonly where: string;
  /** The maximum time in milliseconds that a commit waits for a connection. */
  readonly timeout: number;
  /** Called with the reason when no more connections can be opened, and with undefined when they can again. */
  readonly onShortage?: (error: Error | undefined) => void;
  /** A monotonic clock in milliseconds. */
  readonly clock?: () => number;
}

/**
 * After a connection could not be opened, the pool makes do with those it has for this many milliseconds. So a database or a pooler that has
 * none left is not asked by each request, and what other programs close is left to them.
 */
const OPEN_AGAIN_MS = 10_000;
/** A connection that no commit needed for this many milliseconds is closed: other programs share `max_connections`. */
const IDLE_MS = 60_000;

/**
 * The connections of one handle. Reads share a few connections and are pipelined, because they are short and take no locks. Each commit
 * has one of the other connections to itself, because it may wait for a lock and for the disk. Where no more can be opened, both share what
 * is open.
 */
export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #clock: () => number;
  readonly #readers: readonly Slot[];
  readonly #writers: readonly Slot[];
  /** The writers without a commit. The last one was used last. */
  #idle: Slot[];
  readonly #waiting: PromiseWithResolvers<Slot>[] = [];
  readonly #trim: NodeJS.Timeout;
  #openAgainAt = -Infinity;
  #short = false;
  #allIdle: PromiseWithResolvers<void> | undefined;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
    const readers = Math.max(1, Math.floor(options.connections / 4));
    this.#readers = Array.from({ length: readers }, () => new Slot(options.open));
    this.#writers = Array.from({ length: Math.max(1, options.connections - readers) }, () => new Slot(options.open));
    this.#idle = [...this.#writers];
    this.#trim = setInterval(() => this.closeIdle(), IDLE_MS / 2).unref();
  }

  /** Runs a statement that only reads. The caller may repeat it after a `StoreError` connection-lost. */
  async read(statement: Statement, values: readonly Buffer[]): Promise<readonly Row[]> {
    const connection = await this.#connected(this.#reader());
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

  /**
   * Runs `use` with a connection of its own, or with a shared one where no more can be opened. `use` must leave no transaction open. Errors of
   * `use` pass through.
   */
  async exclusively<T>(use: (connection: PooledConnection) => Promise<T>): Promise<T> {
    const slot = await this.#turn();
    try {
      return await use(await this.#connected(slot));
    } finally {
      slot.usedAt = this.#clock();
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(slot);
      else next.resolve(slot);
      if (this.#idle.length === this.#writers.length) this.#allIdle?.resolve();
    }
  }

  /** Closes the connections that no commit needed for a minute, but one. */
  closeIdle(): void {
    const before = this.#clock() - IDLE_MS;
    const live = this.#idle.filter((slot) => slot.live !== undefined);
    for (const slot of live.slice(0, -1)) if (slot.usedAt < before) slot.release();
  }

  /** Waits for the commits in flight, and rejects those that still wait for a connection. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#trim);
    for (const waiting of this.#waiting.splice(0)) waiting.reject(closed('record'));
    if (this.#idle.length < this.#writers.length) {
      this.#allIdle ??= Promise.withResolvers();
      await this.#allIdle.promise;
    }
    for (const slot of [...this.#readers, ...this.#writers]) slot.close();
  }

  /** Returns the connection of the slot. Where it cannot be opened, another one that is open. */
  async #connected(slot: Slot): Promise<PooledConnection> {
    const { where, timeout } = this.#options;
    const limits = { attempts: Infinity, milliseconds: timeout / 2, random: Math.random };
    return tryAgain(limits, async () => {
      if (this.#closed) throw closed('record');
      const open = slot.live ?? (this.#clock() < this.#openAgainAt ? this.#leastLoaded() : undefined);
      if (open !== undefined) return { kind: 'done', result: open };
      try {
        const result = await slot.connection();
        if (this.#short) this.#options.onShortage?.(undefined);
        this.#short = false;
        return { kind: 'done', result };
      } catch (error) {
        const failure = unavailable(error, where);
        this.#openAgainAt = this.#clock() + OPEN_AGAIN_MS;
        const other = this.#leastLoaded();
        if (other !== undefined) {
          if (!this.#short) this.#options.onShortage?.(failure);
          this.#short = true;
          return { kind: 'done', result: other };
        }
        if (!isStarting(error)) throw failure;
        return { kind: 'again', error: failure };
      }
    });
  }

  /** Returns the live connection with the fewest statements under way. */
  #leastLoaded(): PooledConnection | undefined {
    const live = [...this.#writers, ...this.#readers].flatMap((slot) => slot.live ?? []);
    return live.reduce<PooledConnection | undefined>(
      (best, other) => (best === undefined || other.load < best.load ? other : best),
      undefined,
    );
  }

  /** Prefers a live connection without a statement. */
  #reader(): Slot {
    const costs = (slot: Slot) => (slot.live === undefined ? 0.5 : slot.live.load);
    return this.#readers.reduce((best, other) => (costs(other) < costs(best) ? other : best));
  }

  async #turn(): Promise<Slot> {
    if (this.#closed) throw closed('record');
    const slot = this.#idle.findLast(({ live }) => live !== undefined) ?? this.#idle.at(-1);
    if (slot !== undefined) {
      this.#idle = this.#idle.filter((other) => other !== slot);
      return slot;
    }
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
  /** When a commit used it last, by the clock of the pool. */
  usedAt = -Infinity;
  readonly #open: () => Promise<PooledConnection>;
  #current: PooledConnection | undefined;
  #opening: Promise<PooledConnection> | undefined;
  #closed = false;

  constructor(open: () => Promise<PooledConnection>) {
    this.#open = open;
  }

  /** The connection, where it is open. */
  get live(): PooledConnection | undefined {
    return this.#current?.alive === true ? this.#current : undefined;
  }

  /** Opens the connection. Concurrent callers wait for the same one. */
  connection(): Promise<PooledConnection> {
    // The opening forgets itself: a caller that did it later could forget the next one, whose connection would have no owner.
    this.#opening ??= this.#opened().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Closes the connection until it is needed again. */
  release(): void {
    this.#current?.close();
    this.#current = undefined;
  }

  close(): void {
    this.#closed = true;
    this.release();
  }

  async #opened(): Promise<PooledConnection> {
    const opened = await this.#open();
    if (!this.#closed) {
      this.#current = opened;
      return opened;
    }
    opened.close();
    throw closed('record');
  }
}
