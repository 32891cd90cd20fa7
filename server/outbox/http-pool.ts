import type { Dispatcher, Pool } from 'undici';
import { timeoutText } from '../../platform/text/message-text.ts';

/** Bytes of the header of an answer. It must be given: the package cannot read Node's own limit in a bundle. */
const maxHeaderSize = 16 * 1024;

/**
 * Opens a pool of kept connections by the package `undici`, which is loaded with the first call.
 *
 * The package becomes the client behind `fetch`, too, unless Node has loaded its own copy before. In the bundled programs each call of
 * `fetch` then fails (`UND_ERR_INVALID_ARG`), because of the limit above. So Node's copy is loaded first.
 *
 * @example
 *     const pool = await openPool('https://events.example.com', { connections: 16 });
 */
export async function openPool(origin: string, options: Pool.Options): Promise<Pool> {
  // The first use of `Response` loads Node's copy.
  Response.error();
  const undici = await import('undici');
  return new undici.Pool(origin, { maxHeaderSize, ...options });
}

/** A request whose body is in memory. */
export interface PoolRequest {
  readonly method: Dispatcher.HttpMethod;
  /** With the query, percent-encoded. */
  readonly path: string;
  /** Names in lower case; values have one character for each byte. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PoolAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

interface ExchangeLimits {
  readonly maxAnswerBytes: number;
  /**
   * True where the status alone says what became of the request: what ends an answer after its header, such as the limit of bytes, the time or the
   * connection, only cuts the text.
   */
  readonly cutsText?: boolean;
  /** Milliseconds for the whole exchange, with the wait for a connection. Without it the timeouts of the pool count. */
  readonly timeoutMs?: number;
  /** Milliseconds of the timeouts of the pool. Messages name them. */
  readonly idleMs?: number;
  /** Makes the error of an answer that is late or too long. */
  readonly toError?: (message: string) => Error;
}

/**
 * Sends a request whose body is in memory, and reads a short answer. It uses the callbacks of undici: a request costs 22 µs of processor
 * time, and one of `node:http` with its streams and listeners 55 µs. It does not follow redirects.
 *
 * Resolves with any answer. Rejects with the error of the connection, with the reason of the signal, or with `toError`. A request that
 * ends while it waits for a connection is not sent.
 *
 * @example
 *     const { status } = await exchange(pool, { method: 'HEAD', path: '/', headers: {} }, { maxAnswerBytes: 1_024 });
 */
export function exchange(pool: Pool, request: PoolRequest, limits: ExchangeLimits): Promise<PoolAnswer> {
  const { signal, body = null, ...rest } = request;
  const { maxAnswerBytes, cutsText = false, timeoutMs, toError = (message: string) => new Error(message) } = limits;
  const poolMs = limits.idleMs ?? timeoutMs;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(abortError(signal));
    let abort: ((reason: Error) => void) | undefined;
    let failure: Error | undefined;
    const release = () => {
      clearTimeout(late);
      signal?.removeEventListener('abort', onAbort);
    };
    let [status, size] = [0, 0];
    let headers: PoolAnswer['headers'] = {};
    const chunks: Buffer[] = [];
    const end = () => {
      release();
      resolve({ status, headers, text: size === 0 ? '' : Buffer.concat(chunks).toString() });
    };
    const stop = (error: Error) => {
      release();
      failure ??= error;
      reject(failure);
      abort?.(failure);
    };
    const fail = (error: Error) => {
      if (cutsText && status > 0) end();
      stop(error);
    };
    const onAbort = () => stop(abortError(signal));
    signal?.addEventListener('abort', onAbort, { once: true });
    const late =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => fail(toError(`it did not answer within ${timeoutText(timeoutMs)}`)), timeoutMs).unref();
    pool.dispatch(
      { ...rest, body },
      {
        onRequestStart(controller) {
          // The request waited for a connection.
          if (failure !== undefined) controller.abort(failure);
          else abort = (reason) => controller.abort(reason);
        },
        onResponseStart(_controller, code, fields) {
          status = code;
          headers = fields;
        },
        onResponseData(_controller, chunk) {
          const room = maxAnswerBytes - size;
          size += chunk.length;
          if (size <= maxAnswerBytes) chunks.push(chunk);
          else {
            if (cutsText) chunks.push(chunk.subarray(0, Math.max(0, room)));
            fail(toError(`its answer is longer than ${maxAnswerBytes} bytes`));
          }
        },
        onResponseEnd: end,
        onResponseError(_controller, error) {
          fail(explained(error, poolMs));
        },
      },
    );
    return undefined;
  });
}

/** Replaces the messages of the package that do not say what failed or how long the request waited: "Headers Timeout Error". */
function explained(error: Error, poolMs: number | undefined): Error {
  const message = explanationOf('code' in error ? error.code : undefined, poolMs);
  return message === undefined ? error : new Error(message, { cause: error });
}

/** Returns undefined for an error whose own message says enough. */
function explanationOf(code: unknown, poolMs: number | undefined): string | undefined {
  const time = poolMs === undefined ? 'in time' : `within ${timeoutText(poolMs)}`;
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `it did not take a connection ${time}`;
    case 'UND_ERR_HEADERS_TIMEOUT':
      return `it did not answer ${time}`;
    case 'UND_ERR_BODY_TIMEOUT':
      return `it did not continue its answer ${time}`;
    case 'UND_ERR_HEADERS_OVERFLOW':
      return `the header of its answer is longer than ${maxHeaderSize} bytes`;
    case 'UND_ERR_SOCKET':
      return 'it ended the connection before its answer';
    default:
      return undefined;
  }
}

export function abortError(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('the request was ended');
}
