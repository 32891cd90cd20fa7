import { EventEmitter } from 'node:events';
import { Connection, Client, type ClientConfig, DatabaseError, type QueryArrayConfig } from 'pg';
import { type PostgresAddress, tlsOptions } from './address.ts';
import { StoreError } from '../store-error.ts';

const DATA_ROW = 0x44;
/** The header is a letter and a length. The length counts itself but not the letter. */
const HEADER = 5;

/** The part of a stream that pg's message parser uses. */
interface MessageSource {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
}

/** `attachListeners` connects pg's socket and its message parser. The types of pg do not have it. */
const Base = Connection as unknown as new (config: object) => Connection & {
  attachListeners(stream: MessageSource): void;
};

/**
 * A connection whose rows are bytes. pg parses every column as text, so a `bytea` becomes a string of hexadecimal digits. This parses
 * rows itself and passes all other messages to pg.
 */
export class BinaryRowsConnection extends Base {
  #parts: Buffer[] = [];
  #held = 0;
  #needed = HEADER;

  override attachListeners(stream: MessageSource): void {
    const others = new EventEmitter();
    super.attachListeners(others);
    stream.on('data', (chunk: Buffer) => this.#take(chunk, others));
  }

  #take(chunk: Buffer, others: EventEmitter): void {
    this.#parts.push(chunk);
    this.#held += chunk.length;
    // A body of 16 MiB arrives in hundreds of chunks, which are concatenated once.
    if (this.#held < this.#needed) return;
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    let at = 0;
    let othersFrom = 0;
    this.#needed = HEADER;
    while (bytes.length - at >= HEADER) {
      const length = 1 + bytes.readUInt32BE(at + 1);
      if (bytes.length - at < length) {
        this.#needed = length;
        break;
      }
      if (bytes[at] === DATA_ROW) {
        if (othersFrom < at) others.emit('data', bytes.subarray(othersFrom, at));
        this.emit('dataRow', { name: 'dataRow', length, fields: fieldsOf(bytes.subarray(at + HEADER, at + length)) });
        othersFrom = at + length;
      }
      at += length;
    }
    if (othersFrom < at) others.emit('data', bytes.subarray(othersFrom, at));
    this.#parts = at < bytes.length ? [bytes.subarray(at)] : [];
    this.#held = bytes.length - at;
  }
}

/** Copies the row once, so that a small row does not keep a large chunk alive. */
function fieldsOf(message: Buffer): (Buffer | null)[] {
  const row = Buffer.from(message);
  const count = row.readUInt16BE(0);
  const fields: (Buffer | null)[] = [];
  let at = 2;
  for (let index = 0; index < count; index += 1) {
    const length = row.readInt32BE(at);
    at += 4;
    if (length === -1) {
      fields.push(null);
    } else {
      fields.push(row.subarray(at, at + length));
      at += length;
    }
  }
  return fields;
}

/** Timeouts in milliseconds. */
export interface Timeouts {
  /** Until a connection is ready for statements. */
  readonly connect: number;
  /** `statement_timeout` of the server. */
  readonly statement: number;
  /** Without a response, after which the connection counts as dead. It is longer than `statement`. */
  readonly answer: number;
}

/** A statement, prepared once per connection under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Row = readonly (Buffer | null)[];

interface BinaryQuery extends QueryArrayConfig<unknown[]> {
  readonly binary: true;
}

/** Milliseconds between checks of `Timeouts.answer`. One interval per connection avoids a timer per statement. */
const WATCH_INTERVAL = 250;
const KEEP_ALIVE = 10_000;

/** Returns columns as bytes. The caller knows their types. */
const bytesAsTheyAre = { getTypeParser: () => (value: unknown) => value };

/**
 * One session. Statements may be sent before the previous one has a result (pg's pipeline mode); each is its own transaction. After
 * `timeouts.answer` without a response the connection is closed, since a half-open one would block its callers for hours.
 */
export class PostgresConnection {
  readonly #client: Client;
  readonly #sent: number[] = [];
  readonly #watch: NodeJS.Timeout;
  #alive = true;

  private constructor(client: Client, socket: () => { destroy(): unknown }, timeouts: Timeouts) {
    this.#client = client;
    client.on('error', () => this.#end());
    client.on('end', () => this.#end());
    this.#watch = setInterval(() => {
      const oldest = this.#sent[0];
      if (oldest !== undefined && performance.now() - oldest > timeouts.answer) socket().destroy();
    }, WATCH_INTERVAL);
    this.#watch.unref();
  }

  static async open(
    address: PostgresAddress,
    password: string | undefined,
    timeouts: Timeouts,
  ): Promise<PostgresConnection> {
    const ssl = tlsOptions(address.tls);
    const connection = new BinaryRowsConnection({ ssl, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE });
    const config: ClientConfig & { readonly connection: BinaryRowsConnection } = {
      host: address.host,
      port: address.port,
      user: address.user,
      database: address.database,
      // With a function, pg does not look for a password in the environment or in the user's files.
      password: () => password ?? '',
      application_name: address.applicationName,
      ssl,
      connection,
      connectionTimeoutMillis: timeouts.connect,
      pipeline: true,
      types: bytesAsTheyAre,
    };
    const client = new Client(config);
    const opened = new PostgresConnection(client, () => connection.stream, timeouts);
    try {
      await client.connect();
    } catch (error) {
      opened.close();
      throw error;
    }
    return opened;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** The number of statements without a result. */
  get load(): number {
    return this.#sent.length;
  }

  /** Runs a statement. Throws pg's `DatabaseError` for an error of the server, and `StoreError` connection-lost for a broken connection. */
  async run(statement: Statement, values: readonly Buffer[] = []): Promise<readonly Row[]> {
    const query: BinaryQuery = { ...statement, values: [...values], binary: true, rowMode: 'array' };
    this.#sent.push(performance.now());
    try {
      return (await this.#client.query<Row & unknown[]>(query)).rows;
    } catch (error) {
      if (error instanceof DatabaseError) throw error;
      this.#end();
      throw new StoreError('connection-lost', error instanceof Error ? error.message : String(error));
    } finally {
      // Results arrive in the order of the statements.
      this.#sent.shift();
    }
  }

  /** Runs a text of several statements. Returns the rows of the last one, as bytes of text. */
  async runText(text: string): Promise<readonly Row[]> {
    this.#sent.push(performance.now());
    try {
      const result: unknown = await this.#client.query({ text, rowMode: 'array' });
      const last: unknown = Array.isArray(result) ? result.at(-1) : result;
      return (last as { rows: readonly Row[] }).rows;
    } catch (error) {
      if (error instanceof DatabaseError) throw error;
      this.#end();
      throw new StoreError('connection-lost', error instanceof Error ? error.message : String(error));
    } finally {
      this.#sent.shift();
    }
  }

  close(): void {
    this.#end();
    // The caller has waited for the results that it needs.
    void this.#client.end().catch(() => undefined);
  }

  #end(): void {
    this.#alive = false;
    clearInterval(this.#watch);
  }
}
