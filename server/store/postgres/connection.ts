import { EventEmitter } from 'node:events';
import { Connection, Client, type ClientConfig, DatabaseError, type QueryArrayConfig } from 'pg';
import { type PostgresAddress, tlsOptions } from './address.ts';
import { ConnectionLost } from './errors.ts';

const DATA_ROW = 0x44;
/** A letter and the length, which counts itself but not the letter. */
const HEADER = 5;

/** What pg's reader of messages needs of a stream. */
interface MessageSource {
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
}

/** `attachListeners` is pg's own seam between a socket and its reader of messages; its types leave it out. */
const Base = Connection as unknown as new (config: object) => Connection & {
  attachListeners(stream: MessageSource): void;
};

/**
 * A connection whose rows are bytes. pg reads every column as text, so that a `bytea` comes as hexadecimal digits in a string; here
 * rows are taken out before, and all else is left to pg.
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
    // A body of 16 MiB comes in hundreds of chunks: they are put together once.
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

/** Copied once, so that a small row keeps no large chunk alive. */
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

/** Milliseconds. */
export interface Timeouts {
  /** Until a connection is ready for statements. */
  readonly connect: number;
  /** That the server gives a statement. */
  readonly statement: number;
  /** Without an answer, after which a connection is taken for dead; more than `statement`, which the server keeps itself. */
  readonly answer: number;
}

/** Prepared once for each connection, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Row = readonly (Buffer | null)[];

interface BinaryQuery extends QueryArrayConfig<unknown[]> {
  readonly binary: true;
}

/** How long a statement stood when the watch last looked; coarse, so that no statement costs a timer. */
const WATCH_INTERVAL = 250;
const KEEP_ALIVE = 10_000;

/** Columns are bytes; who asked knows their types. */
const bytesAsTheyAre = { getTypeParser: () => (value: unknown) => value };

/**
 * One session. Statements may be sent before the last one was answered (pg's pipeline mode); each is a transaction of its own. What
 * stands still longer than `timeouts.answer` is dead: a half-open connection would otherwise keep its callers for hours.
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
      // A function, so that neither the environment nor a file of the user's is asked for another one.
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

  /** Statements without an answer yet. */
  get load(): number {
    return this.#sent.length;
  }

  /** Throws pg's `DatabaseError` for what the server says, `ConnectionLost` when nobody said anything. */
  async run(statement: Statement, values: readonly Buffer[] = []): Promise<readonly Row[]> {
    const query: BinaryQuery = { ...statement, values: [...values], binary: true, rowMode: 'array' };
    this.#sent.push(performance.now());
    try {
      return (await this.#client.query<Row & unknown[]>(query)).rows;
    } catch (error) {
      if (error instanceof DatabaseError) throw error;
      this.#end();
      throw new ConnectionLost(error instanceof Error ? error.message : String(error));
    } finally {
      // Answers come in the order of the statements.
      this.#sent.shift();
    }
  }

  /** Statements of the connection's own making, several in one text; their last result's rows as bytes of text. */
  async runText(text: string): Promise<readonly Row[]> {
    this.#sent.push(performance.now());
    try {
      const result: unknown = await this.#client.query({ text, rowMode: 'array' });
      const last: unknown = Array.isArray(result) ? result.at(-1) : result;
      return (last as { rows: readonly Row[] }).rows;
    } catch (error) {
      if (error instanceof DatabaseError) throw error;
      this.#end();
      throw new ConnectionLost(error instanceof Error ? error.message : String(error));
    } finally {
      this.#sent.shift();
    }
  }

  close(): void {
    this.#end();
    // Who closes has waited for the answers that matter.
    void this.#client.end().catch(() => undefined);
  }

  #end(): void {
    this.#alive = false;
    clearInterval(this.#watch);
  }
}
