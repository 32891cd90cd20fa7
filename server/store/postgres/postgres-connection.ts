import { Client, type ClientConfig, DatabaseError, type QueryArrayConfig } from 'pg';
import { BinaryRowsConnection } from './binary-rows.ts';
import { type PostgresAddress, tlsOptions } from './postgres-address.ts';
import { ConnectionLost } from './postgres-errors.ts';

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
