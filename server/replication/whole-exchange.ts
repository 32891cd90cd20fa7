import type { Pool } from 'undici';
import { exchange, openPool, type PoolAnswer, type PoolRequest } from '../outbox/http-pool.ts';

interface WholeExchangeOptions {
  /** `https://HOST:PORT`. */
  readonly origin: string;
  readonly connections: number;
  /** Milliseconds for the connection, for the header of the answer, and between two chunks of its body. */
  readonly idleMs: number;
  /** Milliseconds for which an unused connection is kept. */
  readonly keepMs: number;
  readonly maxAnswerBytes: number;
  readonly open?: typeof openPool;
}

/** Sends requests whose bodies are in memory, and reads short answers, over kept connections. */
export class WholeExchange {
  readonly #options: WholeExchangeOptions;
  #pool: Promise<Pool> | undefined;
  #closed: Error | undefined;

  constructor(options: WholeExchangeOptions) {
    this.#options = options;
  }

  /** Resolves with any answer. Rejects with the error of the connection, or of an answer that is late or too long. */
  async send(request: PoolRequest): Promise<PoolAnswer> {
    if (this.#closed !== undefined) throw this.#closed;
    const opening = (this.#pool ??= this.#open());
    const pool = await opening.catch((error: unknown) => {
      // The next request opens it again.
      if (this.#pool === opening) this.#pool = undefined;
      throw error;
    });
    if (this.#closed !== undefined) throw this.#closed;
    return exchange(pool, request, this.#options);
  }

  /** Ends all requests with this error, and refuses new ones. */
  close(reason: Error): void {
    this.#closed ??= reason;
    void this.#pool?.then((pool) => pool.destroy(reason)).catch(() => undefined);
  }

  #open(): Promise<Pool> {
    const { origin, connections, idleMs, keepMs, open = openPool } = this.#options;
    return open(origin, {
      connections,
      allowH2: false,
      keepAliveTimeout: keepMs,
      // The other side may say that it keeps a connection for longer.
      keepAliveMaxTimeout: keepMs,
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
      connect: { timeout: idleMs, allowH2: false },
    });
  }
}
