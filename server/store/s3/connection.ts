import { fileErrorReason } from '../../../platform/errors/system-error.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createSecureContext, getCACertificates } from 'node:tls';
import { S3Client } from '@aws-sdk/client-s3';
import { type BlobsAddress } from '../../../platform/store-address/store-address.ts';
import { AccessKeys, refusesKeys } from './access-keys.ts';
import { type S3Failure, s3Failure, untrustedAdvice } from './errors.ts';
import { backoffMs } from '../../../platform/async/backoff.ts';
import { timeoutText } from '../../../platform/text/message-text.ts';
import { StoreError } from '../store-error.ts';

/** Timeouts for calls of another S3, in milliseconds. */
export interface CallTimeouts {
  /** For all attempts of a call together. */
  readonly total: number;
  /** For the response headers of a request without a body. */
  readonly answer: number;
  /** For a request with a body. */
  readonly upload: number;
  /** Between two chunks of a response body. */
  readonly idle: number;
  /** For all attempts to begin a read where nothing listens at the address; the total by default. */
  readonly refused?: number;
  /** The maximum of the first pause between two attempts. It doubles with each attempt. */
  readonly pause: number;
}

/** A restart of that S3 takes less than the total. A longer outage is reported before clients time out and requests accumulate. */
export const defaultTimeouts: CallTimeouts = { total: 15_000, answer: 10_000, upload: 30_000, idle: 10_000, pause: 50 };

const MAX_PAUSE = 2_000;

/** The codes of sockets for an address at which nothing listens. */
const unreachedCodes: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND']);

/** Counts the attempts of one call and waits between them. */
export class Attempts {
  readonly #timeouts: CallTimeouts;
  #began = performance.now();
  #made = 0;

  constructor(timeouts: CallTimeouts) {
    this.#timeouts = timeouts;
  }

  /** Restarts the timeout after progress. */
  progressed(): void {
    this.#began = performance.now();
    this.#made = 0;
  }

  /** Says how often and how long the call was tried: "3 attempts in 15 s". */
  summary(): string {
    const count = this.#made + 1;
    return `${count} ${count === 1 ? 'attempt' : 'attempts'} in ${timeoutText(performance.now() - this.#began)}`;
  }

  /**
   * Waits before another attempt: a random part of a pause that doubles each time, and at least as long as the server asked for. The
   * random part spreads calls that were refused together. Returns false if the timeout leaves no time for another attempt.
   */
  async another(leastMs = 0, totalMs = this.#timeouts.total): Promise<boolean> {
    const delay = backoffMs(this.#made + 1, { firstMs: this.#timeouts.pause, maxMs: MAX_PAUSE, jitter: 1 });
    const wait = Math.max(leastMs, delay);
    if (performance.now() + wait - this.#began > totalMs) return false;
    this.#made += 1;
    await sleep(wait);
    return true;
  }
}

export type S3Address = Omit<Extract<BlobsAddress, { kind: 's3' }>, 'kind'> & {
  /** The name of the place in messages: the blobs' S3 by default. */
  readonly what?: string;
  /** The storage class of new objects: that of the other S3 by default. */
  readonly storageClass?: string;
};

interface CallOptions {
  readonly abortSignal?: AbortSignal;
  readonly requestTimeout: number;
}

/** Calls one bucket of another S3, and repeats calls after temporary failures. */
export class S3Connection {
  readonly address: S3Address;
  readonly timeouts: CallTimeouts;
  readonly #keys: AccessKeys;
  /** The keys with which the client signs. */
  #signing: AccessKeys['current'];
  #client: S3Client;
  // The number of connections is not limited here. The server limits its requests, and reads by slow clients hold their connections.
  readonly #agents: readonly [HttpAgent, HttpsAgent];

  readonly #times = new WeakMap<object, number>();

  /** Throws `ProgramError` if the certificate authorities cannot be read. */
  constructor(address: S3Address, timeouts: CallTimeouts) {
    this.address = address;
    this.timeouts = timeouts;
    this.#agents = [new HttpAgent({ keepAlive: true }), new HttpsAgent({ keepAlive: true, ...authorities(address) })];
    this.#keys = new AccessKeys(address);
    this.#signing = this.#keys.current;
    this.#client = this.#newClient();
  }

  #newClient(): S3Client {
    const { address, timeouts } = this;
    const [httpAgent, httpsAgent] = this.#agents;
    const client = new S3Client({
      ...(address.endpoint === undefined ? {} : { endpoint: address.endpoint, forcePathStyle: true }),
      region: address.region,
      credentials: this.#signing,
      // `call` repeats attempts, because it knows which may be repeated and what a lost response means.
      maxAttempts: 1,
      // Bodies have a Content-MD5, which every S3 checks: docs/decisions/0011-blobs-elsewhere.md.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // It costs a round trip for each part.
      expectContinueHeader: false,
      useFipsEndpoint: false,
      useDualstackEndpoint: false,
      requestHandler: { httpAgent, httpsAgent, connectionTimeout: timeouts.answer, throwOnRequestTimeout: true },
    });
    client.middlewareStack.add(
      (next) => async (args) => {
        const headers = headersOf(args.request);
        // The signature covers the MD5 and so the body. A SHA-256 of the body would be most of the cost of a write.
        if (headers['content-md5'] !== undefined) headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
        return next(args);
      },
      { step: 'build', priority: 'low', name: 'signMd5' },
    );
    client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        const time = Date.parse(headersOf(result.response)['date'] ?? '');
        if (!Number.isNaN(time) && result.output !== undefined) this.#times.set(result.output, time);
        return result;
      },
      { step: 'deserialize', priority: 'high', name: 'rememberTime' },
    );
    client.middlewareStack.add(
      (next) => async (args) => {
        try {
          return await next(args);
        } catch (error) {
          throw error instanceof Error ? Object.assign(error, { $method: methodOf(args.request) }) : error;
        }
      },
      { step: 'finalizeRequest', priority: 'low', name: 'rememberMethod' },
    );
    return client;
  }

  /** Returns the time of a response by the clock of the other server, in milliseconds since 1970. */
  timeOf(answer: object): number {
    return this.#times.get(answer) ?? Date.now();
  }

  close(): void {
    this.#client.destroy();
    for (const agent of this.#agents) agent.destroy();
  }

  /**
   * Makes a call, and repeats it after temporary failures until the timeout. `doing` completes "could not …" in the error's message.
   *
   * Throws `StoreError` with the failure. The message also says where and what to do.
   */
  async call<T>(
    doing: string,
    attempt: (client: S3Client, options: CallOptions) => Promise<T>,
    options: {
      readonly timeout?: number;
      readonly abortSignal?: AbortSignal;
      readonly once?: boolean;
      /** Milliseconds for all attempts; that of the timeouts by default. */
      readonly total?: number;
      /** Milliseconds for all attempts where nothing listens at the address. */
      readonly refused?: number | undefined;
    } = {},
  ): Promise<T> {
    const { timeout = this.timeouts.answer, abortSignal, once = false, total = this.timeouts.total, refused } = options;
    const attempts = new Attempts({ ...this.timeouts, total });
    for (;;) {
      const signing = this.#signing;
      try {
        return await attempt(this.#client, {
          requestTimeout: timeout,
          ...(abortSignal === undefined ? {} : { abortSignal }),
        });
      } catch (error) {
        abortSignal?.throwIfAborted();
        const failure = s3Failure(error, timeout);
        if (failure === undefined) throw error;
        if (failure.kind === 'passing') this.renew();
        if (failure.kind === 'refused' && refusesKeys(failure.code) && (await this.#rotated(signing))) continue;
        const within = unreachedCodes.has(failure.code) ? refused : undefined;
        const again = failure.kind === 'passing' && !once && (await attempts.another(failure.afterMs, within));
        if (again) continue;
        const reason = failure.kind === 'full' ? 'full' : 'unreachable';
        const waited = failure.kind === 'passing' ? ` (${attempts.summary()})` : '';
        throw new StoreError(reason, `${this.#sentence(doing, failure)}${waited}`, { cause: error, failure });
      }
    }
  }

  /** Reports whether there are other keys than the refused ones, with which a call may be made again. */
  async #rotated(refused: AccessKeys['current']): Promise<boolean> {
    if (!(await this.#keys.renew(refused))) return false;
    if (this.#signing !== this.#keys.current) {
      this.#signing = this.#keys.current;
      // The former client finishes its calls: they share the connections.
      this.#client = this.#newClient();
    }
    return true;
  }

  /**
   * Drops idle connections, so that the next call opens one. If the server went away silently, they are as dead as the one that failed. If an
   * answer was wrong, a fault of the way is not met again.
   */
  renew(): void {
    for (const agent of this.#agents) {
      for (const sockets of Object.values(agent.freeSockets)) {
        for (const socket of sockets ?? []) socket.destroy();
      }
    }
  }

  /** The setting that the advice names is of the blobs' S3 alone. */
  #adviceOf(advice: string): string {
    if (this.address.what === undefined || advice !== untrustedAdvice) return advice;
    return 'its certificate is not trusted; add the authority that signed it to those of the system, or name it in NODE_EXTRA_CA_CERTS';
  }

  /** Names an object: "the tier COLD, bucket cold at https://s3.example.net, key bodies/0e/…". */
  placeOf(key: string): string {
    return `${placeName(this.address)}, ${this.#bucket()}, key ${key}`;
  }

  #bucket(): string {
    const { endpoint, region, bucket } = this.address;
    return `bucket ${bucket} at ${endpoint ?? `AWS in ${region}`}`;
  }

  #sentence(doing: string, failure: S3Failure): string {
    const advice = 'advice' in failure ? `: ${this.#adviceOf(failure.advice)}` : '';
    return `could not ${doing} in ${placeName(this.address)} (${this.#bucket()}): ${failure.code}${advice}`;
  }
}

/** Returns what messages call the place. */
export function placeName({ what = "the blobs' S3" }: Pick<S3Address, 'what'>): string {
  return what;
}

/** Returns the headers of a request or response of the SDK. Their names are in lower case. */
function headersOf(message: unknown): Record<string, string> {
  const { headers = {} }: { headers?: Record<string, string> } = message ?? {};
  return headers;
}

function methodOf(request: unknown): string | undefined {
  const { method }: { method?: string } = request ?? {};
  return method;
}

function authorities({ caFile }: S3Address): { readonly ca?: string[] } {
  if (caFile === undefined) return {};
  try {
    const own = readFileSync(caFile, 'utf8');
    // This parses every certificate, so that a wrong file is reported here and not by a failed handshake.
    createSecureContext({ ca: own });
    if (!own.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it has no certificate (PEM)');
    return { ca: [...getCACertificates('default'), own] };
  } catch (error) {
    const why = fileErrorReason(error);
    throw new ProgramError('store-address', `SVC_STORE_BLOBS_S3_CA_FILE is ${caFile}, which cannot be used: ${why}`, {
      cause: error,
    });
  }
}
