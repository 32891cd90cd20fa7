import { type Address, Connection } from './connection.ts';
import type { RequestRing } from './request-ring.ts';

export interface Drive {
  readonly address: Address;
  readonly ring: RequestRing;
  readonly connections: number;
  /** Milliseconds after which no request begins. Pending requests are awaited. */
  readonly milliseconds: number;
  /** The ring is repeated; otherwise the drive ends with it. */
  readonly repeat: boolean;
}

export interface Driven {
  readonly operations: number;
  /** From the first request to the last answer. */
  readonly milliseconds: number;
  /** The latency of each operation in microseconds, in the order of completion. */
  readonly latencies: Uint32Array;
  readonly bytesSent: number;
  readonly bytesReceived: number;
  /** Counts of the failures by kind: a status other than 2xx, a wrong length, a broken connection. */
  readonly failures: ReadonlyMap<string, number>;
}

/** Sends the ring's requests over keep-alive connections, each with one pending request. The time of connecting is not measured. */
export async function drive(options: Drive): Promise<Driven> {
  const opened = await Promise.all(
    Array.from({ length: Math.min(options.connections, options.repeat ? Infinity : options.ring.length) }, () =>
      Connection.open(options.address),
    ),
  );
  const run = new Run(options, opened);
  try {
    return await run.done;
  } finally {
    run.close();
  }
}

class Run {
  readonly done: Promise<Driven>;
  readonly #options: Drive;
  readonly #open = new Set<Connection>();
  readonly #failures = new Map<string, number>();
  readonly #start: number;
  readonly #deadline: number;
  #latencies = new Uint32Array(65_536);
  #operations = 0;
  #next = 0;
  #underWay = 0;
  #sent = 0;
  #received = 0;
  #resolve: (driven: Driven) => void = () => {};

  constructor(options: Drive, connections: readonly Connection[]) {
    this.#options = options;
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#start = performance.now();
    this.#deadline = this.#start + options.milliseconds;
    this.#underWay = connections.length;
    for (const connection of connections) this.#begin(connection);
  }

  close(): void {
    for (const connection of this.#open) connection.close();
  }

  /** Sends the first request of a connection, and the next one after each answer. */
  #begin(connection: Connection): void {
    const { ring } = this.#options;
    let index = 0;
    let sentAt = 0;
    this.#open.add(connection);
    const next = (now: number): void => {
      index = this.#take(now);
      if (index < 0) {
        this.#rest();
        return;
      }
      sentAt = now;
      connection.send(ring.bytes, ring.start(index), ring.end(index), ring.tail(index), ring.isHead(index));
    };
    connection.onAnswer = () => {
      const now = performance.now();
      this.#record(connection, index, now - sentAt);
      if (connection.parser.closes) void this.#replace(connection);
      else next(now);
    };
    connection.onFailure = (error) => {
      this.#count(error.message);
      void this.#replace(connection);
    };
    next(performance.now());
  }

  /** Returns the number of the next request; -1 if there is none. */
  #take(now: number): number {
    const { ring, repeat } = this.#options;
    if (now >= this.#deadline || (this.#next >= ring.length && !repeat)) return -1;
    const index = this.#next % ring.length;
    this.#next += 1;
    return index;
  }

  #record(connection: Connection, index: number, milliseconds: number): void {
    const { ring } = this.#options;
    const { status, bodyBytes, declaredLength } = connection.parser;
    if (this.#operations === this.#latencies.length) {
      const larger = new Uint32Array(this.#latencies.length * 2);
      larger.set(this.#latencies);
      this.#latencies = larger;
    }
    this.#latencies[this.#operations] = milliseconds * 1000;
    this.#operations += 1;
    this.#sent += ring.bodyBytes(index);
    this.#received += bodyBytes;
    const expected = ring.answers(index);
    if (status < 200 || status > 299) this.#count(`status ${status}`);
    else if (expected >= 0 && expected !== (ring.isHead(index) ? declaredLength : bodyBytes))
      this.#count('wrong length');
  }

  #count(what: string): void {
    this.#failures.set(what, (this.#failures.get(what) ?? 0) + 1);
  }

  /** A server may close a connection after any answer. The next request opens a new one. */
  async #replace(connection: Connection): Promise<void> {
    this.#open.delete(connection);
    connection.close();
    try {
      this.#begin(await Connection.open(this.#options.address));
    } catch (error) {
      this.#count(`cannot connect: ${error instanceof Error ? error.message : String(error)}`);
      this.#rest();
    }
  }

  #rest(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    this.#resolve({
      operations: this.#operations,
      milliseconds: performance.now() - this.#start,
      latencies: this.#latencies.slice(0, this.#operations),
      bytesSent: this.#sent,
      bytesReceived: this.#received,
      failures: this.#failures,
    });
  }
}
