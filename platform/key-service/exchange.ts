import { CodedError } from '../../protocol/coded-error.ts';
import { type KeyServiceErrorCode, codeOfAnswer, isStoreFailure } from '../../protocol/key-service/errors.ts';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest, type Agent } from 'node:https';
import { errorAnswer } from '../../protocol/key-service/payloads.ts';
import { retryAfterMs } from '../http/retry-after.ts';
import { type Method, timeoutHeader } from '../../protocol/key-service/routes.ts';

/** Why no answer came to an attempt. */
interface NoAnswer {
  /** The service may have received the call. If false, it certainly has not. */
  readonly wasSent: boolean;
  /** Another attempt may succeed. This is false if the two sides do not trust each other. */
  readonly isTransient: boolean;
  /** A kept connection ended before any byte of the response. */
  readonly isDeadConnection?: boolean;
}

/**
 * A call of the key service failed, or a data key cannot be used. The message of a call is the service's own, or says why no response
 * came. It is not a `ResponseError`: storage of objects decides by it whether a key is missing or the service is away, and the failure of
 * another program must never look like that. `wrong-key`: the key service has another key of the name than the one that sealed data.
 */
export class KeyServiceError extends CodedError<KeyServiceErrorCode | 'not-configured' | 'wrong-key'> {
  override readonly name = 'KeyServiceError';
  /** The HTTP status; undefined if no response came. */
  readonly status: number | undefined;
  /** Set by an attempt to which no answer came. */
  readonly noAnswer: NoAnswer | undefined;
  /** The service says that the key store behind it fails. */
  readonly isOfStore: boolean;
  /** Milliseconds after which the caller may ask again, where the answer says so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: KeyServiceErrorCode | 'not-configured' | 'wrong-key',
    message: string,
    options?: KeyServiceErrorOptions,
  ) {
    super(code, message, options);
    this.status = options?.status;
    this.noAnswer = options?.noAnswer;
    this.isOfStore = options?.isOfStore === true;
    this.retryAfterMs = options?.retryAfterMs;
  }
}

interface KeyServiceErrorOptions extends ErrorOptions {
  readonly status?: number | undefined;
  readonly noAnswer?: NoAnswer | undefined;
  readonly isOfStore?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
}

/**
 * Says what is away, for an error with the code `unavailable`: the key service, or the store behind it. The cause of the store stays in the
 * log of the key service.
 */
export function describeOutage(error: { readonly status?: unknown; readonly isOfStore?: unknown }): string {
  const { status, isOfStore } = error;
  if (typeof status !== 'number') return 'The key service does not answer; try again.';
  return isOfStore === true
    ? 'The key service answers, but the key store behind it (a vault, for instance) fails; try again.'
    : `The key service, or a gateway before it, answers with an error (status ${status}); try again.`;
}

function noAnswerError(message: string, noAnswer: NoAnswer, cause?: unknown): KeyServiceError {
  return new KeyServiceError('unavailable', message, {
    noAnswer,
    ...(cause === undefined ? {} : { cause }),
  });
}

export function isNoAnswer(error: unknown): error is KeyServiceError & { readonly noAnswer: NoAnswer } {
  return error instanceof KeyServiceError && error.noAnswer !== undefined;
}

interface Exchange {
  readonly url: URL;
  readonly method: Method;
  readonly body: object | undefined;
  readonly agent: Agent;
  /** The timeout for the whole response in milliseconds. */
  readonly timeoutMs: number;
}

const maxAnswerBytes = 4 * 1024 * 1024;

/** The timeout for a new connection in milliseconds. Packets to a pod that is gone get no reply. */
const connectTimeoutMs = 3000;

/** After a restart of the service all kept connections are dead. A call meets each of them once at most. */
const maxDeadConnections = 64;

const transientCodes: ReadonlySet<string> = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH EAI_AGAIN ENOTFOUND'.split(' '),
);

/**
 * Makes one call and returns the text of the response. It retries on connections that the service closed in the meantime, so that calls
 * after a restart of the service do not fail. Rejects with a `KeyServiceError`, which has `noAnswer` if no response comes.
 */
export async function exchange(call: Exchange): Promise<string> {
  for (let dead = 0; ; dead++) {
    try {
      return await exchangeOnce(call);
    } catch (error) {
      if (!(isNoAnswer(error) && error.noAnswer.isDeadConnection === true) || dead === maxDeadConnections) throw error;
    }
  }
}

function exchangeOnce({ url, method, body, agent, timeoutMs }: Exchange): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    [timeoutHeader]: timeoutMs,
    ...(payload !== undefined && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(payload),
    }),
  };
  let connected = false;
  let isKept = false;
  const request = httpsRequest(url, { method, agent, headers, signal: AbortSignal.timeout(timeoutMs) });
  request.on('socket', (socket) => {
    // Node does not set `reusedSocket` for a call that waited for a busy connection.
    isKept = socket.bytesRead > 0;
    connected = isKept;
    if (isKept) return;
    // The timeout of the call covers slower connections.
    const slow = setTimeout(
      () =>
        request.destroy(
          noAnswerError(`no connection within ${connectTimeoutMs} ms`, { wasSent: false, isTransient: true }),
        ),
      connectTimeoutMs,
    );
    socket.once('secureConnect', () => {
      connected = true;
      clearTimeout(slow);
    });
    request.once('close', () => clearTimeout(slow));
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    if (isNoAnswer(error)) reject(error);
    else if (isKept && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) {
      const dead = { wasSent: true, isTransient: true, isDeadConnection: true };
      reject(noAnswerError('the connection was closed before an answer came', dead, error));
    } else if (error.name === 'TimeoutError' || error.name === 'AbortError') {
      reject(noAnswerError(`no answer within ${timeoutMs} ms`, { wasSent: connected, isTransient: false }, error));
    } else {
      const isTransient = transientCodes.has(error.code ?? '');
      reject(noAnswerError(error.message, { wasSent: connected, isTransient }, error));
    }
  });
  request.on('response', (response) => {
    readAnswer(response).then(resolve, reject);
  });
  request.end(payload);
  return promise;
}

/** Reads the text of a response. Rejects with a `KeyServiceError` if the service refuses. */
async function readAnswer(response: IncomingMessage): Promise<string> {
  const text = await readText(response);
  const status = response.statusCode ?? 0;
  if (status === 200) return text;
  const own = messageOf(text);
  const line = text.trim().slice(0, 200);
  throw new KeyServiceError(codeOfAnswer(status, own), own ?? (line === '' ? `status ${status}` : line), {
    status,
    isOfStore: isStoreFailure(status, own),
    retryAfterMs: retryAfterMs(response.headers['retry-after'], Date.now()),
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxAnswerBytes) {
        const message = `the answer is larger than ${maxAnswerBytes} bytes`;
        throw new KeyServiceError('unavailable', message, { status: response.statusCode });
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof KeyServiceError) throw error;
    const message = `the connection ended in the middle of an answer: ${(error as Error).message}`;
    throw noAnswerError(message, { wasSent: true, isTransient: true }, error);
  }
  return Buffer.concat(chunks).toString();
}

/** Returns the message of an error of the protocol; undefined for the answer of another program. */
function messageOf(text: string): string | undefined {
  try {
    const { message, error } = errorAnswer.parse(JSON.parse(text));
    return message ?? error;
  } catch {
    return undefined;
  }
}

interface StreamCall {
  readonly url: URL;
  readonly agent: Agent;
  /** The timeout in milliseconds for the begin of the response. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a response that has no end. Rejects with a `KeyServiceError`, which has `noAnswer` if no response comes. A later failure ends the
 * stream.
 */
export function openStream({ url, agent, timeoutMs, signal }: StreamCall): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = httpsRequest(url, { method: 'GET', agent, ...(signal === undefined ? {} : { signal }) });
  const slow = setTimeout(
    () => request.destroy(noAnswerError(`no answer within ${timeoutMs} ms`, { wasSent: false, isTransient: true })),
    timeoutMs,
  );
  request.on('error', (error) => {
    clearTimeout(slow);
    reject(isNoAnswer(error) ? error : noAnswerError(error.message, { wasSent: false, isTransient: false }, error));
  });
  request.on('response', (response) => {
    clearTimeout(slow);
    if (response.statusCode === 200) resolve(response);
    else readAnswer(response).then(() => reject(new Error('not reached: the status is not 200')), reject);
  });
  request.end();
  return promise;
}
