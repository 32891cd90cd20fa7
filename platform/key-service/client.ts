import { createInterface } from 'node:readline';
import type { z } from 'zod';
import {
  apisAnswer,
  decryptAnswer,
  describeKeyAnswer,
  describeSelfAnswer,
  encryptAnswer,
  generateAnswer,
  hmacAnswer,
  parseKeyList,
  rotateAnswer,
  statusAnswer,
  versionAnswer,
  type DescribeKeyAnswer,
  type DescribeSelfAnswer,
  type StatusAnswer,
  type ApisAnswer,
  type VersionAnswer,
} from '../../protocol/key-service/payloads.ts';
import type { KeyServiceErrorCode } from '../../protocol/key-service/errors.ts';
import { type Method, keyServiceLimits } from '../../protocol/key-service/routes.ts';
import type { Logger } from '../output/logger.ts';
import { EndpointRotation, normalizeEndpoint } from './endpoint-rotation.ts';
import { exchange, isNoAnswer, KeyServiceError, openStream } from './exchange.ts';
import { openAgent, type ClientCredentials } from './reloading-agent.ts';
import { retry } from '../async/backoff.ts';
import { isUnknownAuthority } from '../tls/unknown-authority.ts';

export { KeyServiceError } from './exchange.ts';

export interface KeyServiceClientOptions {
  /** One or more of `https://HOST:PORT`. The default port is 7373. */
  readonly endpoints: readonly string[];
  readonly credentials: ClientCredentials;
  /** A file or folder of the authorities for the service's certificate; the system's by default. */
  readonly caFile?: string;
  /** The setting that names `caFile`, for messages; undefined where no setting does. */
  readonly caSetting?: string;
  /** Sent only when set. */
  readonly enclave?: string;
  /** Skips the check of the service's certificate. This is for tests only. */
  readonly insecure?: boolean;
  readonly log: Logger;
  /** The timeout of one attempt in milliseconds, 15 s by default. */
  readonly timeoutMs?: number;
  /**
   * The time in milliseconds for which a call is retried while the service is unavailable: the client cannot connect, or the service
   * answers 503. 10 s by default, which is longer than a restart of a key service.
   */
  readonly retryForMs?: number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

interface GeneratedKey {
  /** 32 bytes. */
  readonly plaintext: Buffer;
  readonly ciphertext: Buffer;
  /** The ID of the key, if the service sends it. */
  readonly version?: string;
}

type ImportAlgorithm = 'AES256-GCM_SHA256' | 'XCHACHA20-POLY1305';

/** The calls of the key service. Every method rejects with a `KeyServiceError`. */
export interface KeyServiceClient {
  /** Rejects with `key-exists` if the name is taken. */
  createKey(name: string): Promise<void>;
  /** Imports the 32 bytes of a key that was made elsewhere. Rejects with `key-exists` if the name is taken. */
  importKey(name: string, bytes: Buffer, algorithm?: ImportAlgorithm): Promise<void>;
  /**
   * Adds a version to a key, which seals from now on; older versions can still open. Returns the ID of the new version. Rejects with
   * `not-supported` if the service of another vendor cannot do it.
   */
  rotateKey(name: string): Promise<string>;
  describeKey(name: string): Promise<DescribeKeyAnswer>;
  /** Lists the names that begin with the prefix, sorted. */
  listKeys(prefix?: string): Promise<string[]>;
  deleteKey(name: string): Promise<void>;
  /** Makes a data key, sealed under the named key and bound to the context. */
  generateKey(name: string, context: Buffer): Promise<GeneratedKey>;
  encryptKey(name: string, plaintext: Buffer, context: Buffer): Promise<{ ciphertext: Buffer; version?: string }>;
  /** Rejects with `not-authentic` if key, ciphertext or context are not those of the sealing. */
  decryptKey(name: string, ciphertext: Buffer, context: Buffer): Promise<Buffer>;
  /** Computes the HMAC-SHA256 of a message. Rejects with `invalid-request` if the key is too old to have an HMAC key. */
  hmac(name: string, message: Buffer): Promise<Buffer>;
  status(): Promise<StatusAnswer>;
  version(): Promise<VersionAnswer>;
  /** Lists the calls of the service. */
  apis(): Promise<ApisAnswer>;
  /** Resolves when the service and its key store answer. */
  ready(): Promise<void>;
  /** Reports whether one endpoint answers, and its key store. It asks once, and waits for at most `ms` milliseconds. Never rejects. */
  answers(endpoint: string, ms: number): Promise<boolean>;
  /** Returns the identity of this client at the service, and its permissions. */
  describeSelf(): Promise<DescribeSelfAnswer>;
  /** Makes any other call of the protocol and returns the text of the response. */
  ask(method: Method, path: string, body?: object): Promise<string>;
  /** Yields the lines of a stream, such as that of `/v1/log/audit`, until it ends or the signal aborts it. */
  stream(path: string, signal?: AbortSignal): AsyncIterable<string>;
  /** Returns the same client without retries: for a check of the service, and for callers that retry by themselves. */
  once(): KeyServiceClient;
  /**
   * Returns the same client, whose calls spend at most `ms` milliseconds waiting for services that do not answer, over all endpoints and
   * attempts: for a server whose own clients wait.
   */
  within(ms: number): KeyServiceClient;
  /** Closes idle connections and stops watching certificate files. Calls in progress finish. */
  close(): void;
}

const setAsideMs = 30_000;
const defaultRetryForMs = 10_000;

/**
 * Opens a client of the key service over mutual TLS. It reuses connections and reads certificates again when their files change. Each call
 * takes the next endpoint, and goes on to another one if the first is unreachable or fails (5xx but 501). While no endpoint is available, a
 * call retries (`retryForMs`).
 *
 * Rejects with a `ProgramError` if the certificate files are wrong, and with an `Error` if an endpoint is not valid.
 *
 * @example
 * const client = await openKeyServiceClient({ endpoints: ['https://keys:7373'], certFile, keyFile, caFile });
 *
 * const { plaintext, ciphertext } = await client.generateKey('main-key', Buffer.from('context'));
 */
export async function openKeyServiceClient(options: KeyServiceClientOptions): Promise<KeyServiceClient> {
  const rotation = new EndpointRotation(options.endpoints, setAsideMs, options.now ?? (() => performance.now()));
  const agent = await openAgent(options);
  const timeoutMs = options.timeoutMs ?? keyServiceLimits.timeoutMs;

  const closed = new AbortController();

  const urlOf = (endpoint: string, path: string): URL => {
    const url = new URL(path, endpoint);
    if (options.enclave !== undefined) url.searchParams.set('enclave', options.enclave);
    return url;
  };

  /** Tries every endpoint once. Calls `onDoubt` if the service may have done a call that failed. */
  async function tryAll<T>({ method, path, body, read, left, onDoubt }: Attempt<T>): Promise<T> {
    let failure: KeyServiceError | undefined;
    const candidates = rotation.candidates();
    for (const [at, endpoint] of candidates.entries()) {
      const url = urlOf(endpoint, path);
      // Each endpoint gets a share of the time, so that one that hangs does not use up all of it.
      const share = left() / (candidates.length - at);
      if (failure !== undefined && share < 1) break;
      try {
        const attemptMs = Math.max(1, Math.floor(Math.min(timeoutMs, share)));
        // An answer that is not of the protocol is a failure of this endpoint.
        const answer = read(await exchange({ url, method, body, agent: agent.current(), timeoutMs: attemptMs }));
        rotation.worked(endpoint);
        return answer;
      } catch (error) {
        const latest =
          error instanceof KeyServiceError && !isNoAnswer(error) ? error : unreachable(endpoint, error, options);
        if (latest.code !== 'unavailable') throw latest;
        if (mayHaveHappened(latest)) onDoubt();
        // The answer of an endpoint on its store tells more than the silence of another one.
        if (failure?.isOfStore !== true || latest.isOfStore) failure = latest;
        rotation.failed(endpoint);
        options.log.debug({ endpoint, err: latest }, 'key service endpoint failed');
      }
    }
    throw failure ?? new KeyServiceError('unavailable', 'no key service endpoint is configured');
  }

  /** A repeated call gets the code `done` if an earlier attempt succeeded and its response was lost. */
  function makeCall(forMs: number, withinMs = Infinity): MakeCall {
    return async ({ method, path, body, done, read }) => {
      let inDoubt = false;
      let spentMs = 0;
      const onDoubt = () => {
        inDoubt = true;
      };
      const called = performance.now();
      const attempt = async () => {
        const began = performance.now();
        const left = () => withinMs - spentMs - (performance.now() - began);
        try {
          return await tryAll({ method, path, body, read, left, onDoubt });
        } finally {
          spentMs += performance.now() - began;
        }
      };
      // An attempt at a closed port takes no time and is repeated, as long as a restart takes. An attempt without a response soon uses up the
      // time. For an answer the caller waits no longer than for a service that does not answer.
      const mayRepeat = (error: unknown) => {
        if (!isTransient(error) || spentMs >= withinMs) return false;
        const wait = waitOf(error) ?? 0;
        return error.status === undefined || performance.now() - called + wait < withinMs;
      };
      try {
        return await retry(attempt, { forMs, isTransient: mayRepeat, waitOf, signal: closed.signal });
      } catch (error) {
        if (inDoubt && error instanceof KeyServiceError && error.code === done?.code) return done.answer;
        throw error;
      }
    };
  }
  async function answers(endpoint: string, ms: number): Promise<boolean> {
    const url = urlOf(normalizeEndpoint(endpoint), '/v1/ready');
    try {
      await exchange({ url, method: 'GET', body: undefined, agent: agent.current(), timeoutMs: ms });
      return true;
    } catch (error) {
      // A service that refuses the call answers.
      return error instanceof KeyServiceError && error.code !== 'unavailable';
    }
  }
  const close = () => {
    closed.abort();
    agent.close();
  };
  async function* stream(path: string, signal?: AbortSignal): AsyncIterable<string> {
    let failure: unknown;
    for (const endpoint of rotation.candidates()) {
      const url = urlOf(endpoint, path);
      try {
        const response = await openStream({ url, agent: agent.current(), timeoutMs, signal });
        yield* createInterface({ input: response });
        return;
      } catch (error) {
        if (signal?.aborted === true) return;
        failure =
          error instanceof KeyServiceError && !isNoAnswer(error) ? error : unreachable(endpoint, error, options);
        rotation.failed(endpoint);
      }
    }
    throw failure;
  }
  const clientOf = (forMs: number, withinMs?: number): KeyServiceClient =>
    callsOf(makeCall(forMs, withinMs), {
      once: () => clientOf(0, withinMs),
      within: (ms) => clientOf(forMs, ms),
      answers,
      close,
      stream,
    });
  return clientOf(options.retryForMs ?? defaultRetryForMs);
}

interface Request<T> {
  readonly method: Method;
  readonly path: string;
  readonly body?: object | undefined;
  /** Parses the text of the response. Throws a `KeyServiceError` where it is not of the protocol. */
  readonly read: (text: string) => T;
}

interface Attempt<T> extends Request<T> {
  /** The milliseconds that the call has left. */
  readonly left: () => number;
  readonly onDoubt: () => void;
}

/** `done` is the error of a repeated call that succeeded before, and the answer for it. */
type MakeCall = <T>(
  request: Request<T> & { readonly done?: { readonly code: KeyServiceErrorCode; readonly answer: T } },
) => Promise<T>;

function pathOf(api: string, name: string): string {
  return `/v1/key/${api}/${encodeURIComponent(name)}`;
}

function callsOf(
  call: MakeCall,
  rest: Pick<KeyServiceClient, 'once' | 'within' | 'answers' | 'close' | 'stream'>,
): KeyServiceClient {
  const get = <T>(path: string, schema: z.ZodType<T>) => call({ method: 'GET', path, read: as(schema) });
  const post = <T>(api: string, name: string, body: object | undefined, schema: z.ZodType<T>) =>
    call({ method: 'POST', path: pathOf(api, name), body, read: as(schema) });

  return {
    ...rest,
    ask: (method, path, body) => call({ method, path, body, read: (text) => text }),
    async createKey(name) {
      const done = { code: 'key-exists', answer: undefined } as const;
      await call({ method: 'POST', path: pathOf('create', name), read: nothing, done });
    },
    async importKey(name, bytes, algorithm = 'AES256-GCM_SHA256') {
      const key = bytes.toString('base64');
      // Each generation reads its own two fields. A repeated call that finds the key cannot know which call made it, so it returns the
      // error.
      const body = { bytes: key, algorithm, key, cipher: algorithm };
      await call({ method: 'POST', path: pathOf('import', name), body, read: nothing });
    },
    async rotateKey(name) {
      return (await post('rotate', name, undefined, rotateAnswer)).version;
    },
    describeKey: (name) => get(pathOf('describe', name), describeKeyAnswer),
    async listKeys(prefix = '') {
      const path = `/v1/key/list/${encodeURIComponent(prefix)}*`;
      const list = await call({ method: 'GET', path, read: (text) => readWith(parseKeyList, text) });
      if (list.continueAt !== undefined) {
        throw new KeyServiceError('not-supported', 'the key service sends its list in pages: ask for a longer prefix', {
          status: 200,
        });
      }
      return [...list.names].sort();
    },
    async deleteKey(name) {
      const done = { code: 'key-not-found', answer: undefined } as const;
      await call({ method: 'DELETE', path: pathOf('delete', name), read: nothing, done });
    },
    async generateKey(name, context) {
      const body = { context: context.toString('base64') };
      const answer = await post('generate', name, body, generateAnswer);
      if (answer.plaintext.length !== 32) {
        throw new KeyServiceError(
          'unavailable',
          `the key service made a data key of ${answer.plaintext.length} bytes, not 32`,
          { status: 200 },
        );
      }
      return withVersion({ plaintext: answer.plaintext, ciphertext: answer.ciphertext }, answer.version);
    },
    async encryptKey(name, plaintext, context) {
      const body = { plaintext: plaintext.toString('base64'), context: context.toString('base64') };
      const answer = await post('encrypt', name, body, encryptAnswer);
      return withVersion({ ciphertext: answer.ciphertext }, answer.version);
    },
    async decryptKey(name, ciphertext, context) {
      const body = { ciphertext: ciphertext.toString('base64'), context: context.toString('base64') };
      return (await post('decrypt', name, body, decryptAnswer)).plaintext;
    },
    async hmac(name, message) {
      return (await post('hmac', name, { message: message.toString('base64') }, hmacAnswer)).hmac;
    },
    status: () => get('/v1/status', statusAnswer),
    version: () => get('/version', versionAnswer),
    apis: () => get('/v1/api', apisAnswer),
    ready: () => call({ method: 'GET', path: '/v1/ready', read: nothing }),
    describeSelf: () => get('/v1/identity/self/describe', describeSelfAnswer),
  };
}

/** These calls have no answer but their status. The page of a gateway is none of them. */
function nothing(text: string): void {
  if (text.trim() !== '') throw notOfProtocol();
}

function as<T>(schema: z.ZodType<T>): (text: string) => T {
  return (text) => readWith((text) => schema.parse(JSON.parse(text)), text);
}

function readWith<T>(parse: (text: string) => T, text: string): T {
  try {
    return parse(text);
  } catch (error) {
    // The response may contain a data key: neither it nor a parser's quotation of it goes into the message.
    throw notOfProtocol(error instanceof SyntaxError ? undefined : error);
  }
}

function notOfProtocol(cause?: unknown): KeyServiceError {
  const message = 'the key service sent an answer that is not of its protocol';
  return new KeyServiceError('unavailable', message, { status: 200, cause });
}

function withVersion<T extends object>(answer: T, version: string | undefined): T & { version?: string } {
  return version === undefined || version === '' ? answer : { ...answer, version };
}

function unreachable(
  endpoint: string,
  error: unknown,
  { caFile, caSetting }: Pick<KeyServiceClientOptions, 'caFile' | 'caSetting'>,
): KeyServiceError {
  const code = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined)?.code : undefined;
  const said = error instanceof Error ? error.message : String(error);
  // Node advises a flag of its own instead.
  const reason = isUnknownAuthority(code ?? '') ? distrust(caFile, caSetting) : said;
  return new KeyServiceError('unavailable', `the key service ${endpoint} cannot be reached: ${reason}`, {
    cause: error,
  });
}

function distrust(caFile: string | undefined, caSetting: string | undefined): string {
  if (caSetting === undefined) return 'no authority that the client trusts issued its certificate';
  const trusted = caFile === undefined ? `the system, since ${caSetting} is not set,` : `${caSetting}=${caFile}`;
  return `no authority of ${trusted} issued its certificate: name by ${caSetting} the one that did`;
}

/**
 * Reports whether the service is unavailable for a moment: it starts, stops, cannot be reached, or a gateway answers for it. A broken key store
 * is not transient, because the service has retried.
 */
function isTransient(error: unknown): error is KeyServiceError {
  if (!(error instanceof KeyServiceError) || error.code !== 'unavailable') return false;
  if (error.status !== undefined) return !error.isOfStore;
  return isNoAnswer(error.cause) && error.cause.noAnswer.isTransient;
}

function waitOf(error: unknown): number | undefined {
  return error instanceof KeyServiceError ? error.retryAfterMs : undefined;
}

/** Reports whether the service may have done a call that failed. A gateway may have passed it on. */
function mayHaveHappened(error: KeyServiceError): boolean {
  if (isNoAnswer(error.cause)) return error.cause.noAnswer.wasSent;
  return error.status !== undefined && !error.isOfStore && (error.status < 300 || error.status >= 500);
}
