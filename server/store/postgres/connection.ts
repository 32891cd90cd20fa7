import { EventEmitter } from 'node:events';
import { Connection, Client, type ClientConfig, DatabaseError, type QueryArrayConfig } from 'pg';
import { type PostgresAddress } from '../../../platform/store-address/postgres-address.ts';
import { tlsOptions } from './tls-options.ts';
import { cancelStatements } from './cancel.ts';
import { SignIn } from './authentication.ts';
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

const noPassword =
  'it asks for a password, and none is given: set SVC_STORE_RECORDS_PASSWORD, or SVC_STORE_RECORDS_PASSWORD_FILE';

/** Returns columns as bytes. The caller knows their types. */
const bytesAsTheyAre = { getTypeParser: () => (value: unknown) => value };

/** A statement without a complete answer. */
interface Sent {
  readonly at: number;
  /** The message of a warning in its answer. */
  warning?: string;
}

/** The code of a notice that is not a warning: successful completion. */
const PLAIN_NOTICE = '00000';

/**
 * One session. Statements may be sent before the previous one has a result (pg's pipeline mode); each is its own transaction. After
 * `timeouts.answer` without a response the connection is closed, since a half-open one would block its callers for hours. The server is
 * asked to cancel the statement, because one that waits for a standby would hold its place in `max_connections` until the standby is back.
 */
export class PostgresConnection {
  readonly #client: Client;
  readonly #wire: BinaryRowsConnection;
  readonly #timeouts: Timeouts;
  readonly #sent: Sent[] = [];
  readonly #watch: NodeJS.Timeout;
  #alive = true;

  private constructor(client: Client, wire: BinaryRowsConnection, address: PostgresAddress, timeouts: Timeouts) {
    this.#client = client;
    this.#wire = wire;
    this.#timeouts = timeouts;
    client.on('error', () => this.#end());
    client.on('end', () => this.#end());
    client.on('notice', ({ code, message }) => {
      const [current] = this.#sent;
      if (current !== undefined && code !== PLAIN_NOTICE) current.warning = message ?? 'a warning';
    });
    // Answers arrive in the order of the statements, and each ends with this message. A promise would settle after the next answer was read.
    wire.on('readyForQuery', () => this.#sent.shift());
    this.#watch = setInterval(() => {
      const oldest = this.#sent[0];
      if (oldest === undefined || performance.now() - oldest.at <= timeouts.answer) return;
      void cancelStatements(address, client, timeouts.connect);
      this.destroy();
    }, WATCH_INTERVAL);
    this.#watch.unref();
  }

  static async open(
    address: PostgresAddress,
    password: string | undefined,
    timeouts: Timeouts,
  ): Promise<PostgresConnection> {
    const ssl = tlsOptions(address.tls);
    const { keepAliveMs, authentication, options } = address;
    const keepAlive = { keepAlive: keepAliveMs !== undefined, keepAliveInitialDelayMillis: keepAliveMs ?? 0 };
    const connection = new BinaryRowsConnection({ ssl, ...keepAlive });
    const config: ClientConfig & {
      readonly connection: BinaryRowsConnection;
      readonly enableChannelBinding: boolean;
    } = {
      host: address.host,
      port: address.port,
      user: address.user,
      database: address.database,
      // With a function, pg does not look for a password in the environment or in the user's files.
      password: () => {
        signIn.check();
        if (password === undefined || password === '') throw new Error(noPassword);
        return password;
      },
      application_name: address.applicationName,
      ...(options !== undefined && { options }),
      enableChannelBinding: ssl !== false && authentication.channelBinding !== 'disable',
      ssl,
      connection,
      connectionTimeoutMillis: timeouts.connect,
      pipeline: true,
      types: bytesAsTheyAre,
    };
    const client = new Client(config);
    const signIn = new SignIn(connection, authentication);
    const opened = new PostgresConnection(client, connection, address, timeouts);
    try {
      await client.connect();
      signIn.check();
    } catch (error) {
      opened.destroy();
      throw error;
    }
    return opened;
  }

  /** The id of the process that the server named at the sign-in. */
  get processId(): number | null {
    return (this.#client as unknown as { readonly processID: number | null }).processID;
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
    this.#sent.push({ at: performance.now() });
    return (await this.#answered(this.#client.query<Row & unknown[]>(query))).rows;
  }

  /**
   * Runs a statement that changes rows, as `run` does. It throws `StoreError` connection-lost, too, where the answer has a warning: PostgreSQL
   * says by a warning that the wait for the synchronous standbys was cancelled. The change is then in this server alone, and a failover loses it.
   */
  async change(statement: Statement, values: readonly Buffer[]): Promise<readonly Row[]> {
    const query: BinaryQuery = { ...statement, values: [...values], binary: true, rowMode: 'array' };
    const sent: Sent = { at: performance.now() };
    this.#sent.push(sent);
    const { rows } = await this.#answered(this.#client.query<Row & unknown[]>(query));
    if (sent.warning !== undefined) throw new StoreError('connection-lost', `the database warns: ${sent.warning}`);
    return rows;
  }

  /** Runs a text of several statements. Returns the rows of the last one, as bytes of text. */
  async runText(text: string): Promise<readonly Row[]> {
    this.#sent.push({ at: performance.now() });
    const result: unknown = await this.#answered(this.#client.query({ text, rowMode: 'array' }));
    const last: unknown = Array.isArray(result) ? result.at(-1) : result;
    return (last as { rows: readonly Row[] }).rows;
  }

  /** Ends the session after the statements that were sent. A server that does not end it in time loses the connection. */
  close(): void {
    this.#end();
    const late = setTimeout(() => this.destroy(), this.#timeouts.answer);
    late.unref();
    void this.#client
      .end()
      .catch(() => undefined)
      .finally(() => clearTimeout(late));
  }

  /** Ends the connection at once. */
  destroy(): void {
    this.#end();
    void this.#client.end().catch(() => undefined);
    this.#wire.stream.destroy();
  }

  async #answered<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof DatabaseError) throw error;
      this.#end();
      throw new StoreError('connection-lost', error instanceof Error ? error.message : String(error));
    }
  }

  #end(): void {
    this.#alive = false;
    clearInterval(this.#watch);
  }
}
