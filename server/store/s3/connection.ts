import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createSecureContext, getCACertificates } from 'node:tls';
import { S3Client } from '@aws-sdk/client-s3';
import { StoreAddressError, type BlobsAddress } from '../store-address.ts';
import { StoreUnavailable } from '../record-store.ts';
import { type S3Failure, s3Failure } from './errors.ts';

/** How long another server is waited for. Milliseconds. */
export interface Patience {
  /** From the first attempt on; no further one begins after it. */
  readonly total: number;
  /** For the head of an answer to a request without a body. */
  readonly answer: number;
  /** For a body to be sent and answered. */
  readonly upload: number;
  /** Between two pieces of a body that is read. */
  readonly silence: number;
  /** The first pause between two attempts, at most; each further one is at most twice as long. */
  readonly pause: number;
}

/** A restart of that S3 is waited for; what lasts longer is answered, before clients give up by themselves and requests pile up. */
export const usualPatience: Patience = { total: 15_000, answer: 10_000, upload: 30_000, silence: 10_000, pause: 50 };

const LONGEST_PAUSE = 2_000;

/** Attempts that belong together: says whether there is time for another one, and waits until then. */
export class Attempts {
  readonly #patience: Patience;
  #began = performance.now();
  #made = 0;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  /** Something was got: the time begins anew. */
  progressed(): void {
    this.#began = performance.now();
    this.#made = 0;
  }

  /**
   * Waits for a random part of a pause that doubles each time, so that those who were refused together don't come back together; at
   * least as long as the server asked for. Resolves with whether another attempt is to be made.
   */
  async another(leastMs = 0): Promise<boolean> {
    const most = Math.min(LONGEST_PAUSE, this.#patience.pause * 2 ** this.#made);
    const wait = Math.max(leastMs, Math.random() * most);
    if (performance.now() + wait - this.#began > this.#patience.total) return false;
    this.#made += 1;
    await sleep(wait);
    return true;
  }
}

export type S3Address = Omit<Extract<BlobsAddress, { kind: 's3' }>, 'kind'>;

interface CallOptions {
  readonly abortSignal?: AbortSignal;
  readonly requestTimeout: number;
}

/** Another S3 did not do what it was asked to; `failure` says why, the message also where and what to do. */
export class S3CallFailed extends StoreUnavailable {
  readonly failure: S3Failure;
  /** Whether an earlier attempt may have taken effect though it was not answered. */
  readonly repeated: boolean;
  constructor(failure: S3Failure, repeated: boolean, message: string, options: ErrorOptions) {
    super(failure.kind === 'full' ? 'full' : 'unreachable', message, options);
    this.failure = failure;
    this.repeated = repeated;
  }
}

/** Calls of one bucket of another S3, each repeated while what goes wrong may pass. */
export class S3Connection {
  readonly address: S3Address;
  readonly patience: Patience;
  readonly #client: S3Client;
  // As many connections as requests ask for: what bounds those is the server's own limit. Reads by slow clients hold theirs.
  readonly #agents: readonly [HttpAgent, HttpsAgent];

  readonly #times = new WeakMap<object, number>();

  /** Throws `StoreAddressError` where the authorities cannot be read. */
  constructor(address: S3Address, patience: Patience) {
    this.address = address;
    this.patience = patience;
    this.#agents = [new HttpAgent({ keepAlive: true }), new HttpsAgent({ keepAlive: true, ...authorities(address) })];
    const [httpAgent, httpsAgent] = this.#agents;
    this.#client = new S3Client({
      ...(address.endpoint === undefined ? {} : { endpoint: address.endpoint, forcePathStyle: true }),
      region: address.region,
      credentials: { accessKeyId: address.accessKey, secretAccessKey: address.secretKey },
      // Attempts are counted here, where it is known which of them may be repeated and what a lost answer means.
      maxAttempts: 1,
      // Bodies carry their MD5, which every S3 compares: docs/decisions/0011-blobs-elsewhere.md.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // It costs a round trip for each part.
      expectContinueHeader: false,
      useFipsEndpoint: false,
      useDualstackEndpoint: false,
      requestHandler: { httpAgent, httpsAgent, connectionTimeout: patience.answer, throwOnRequestTimeout: true },
    });
    this.#client.middlewareStack.add(
      (next) => async (args) => {
        const headers = headersOf(args.request);
        // The signature covers the MD5, and so the body: hashing it by SHA-256 as well costs most of a write.
        if (headers['content-md5'] !== undefined) headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
        return next(args);
      },
      { step: 'build', priority: 'low', name: 'signMd5' },
    );
    this.#client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        const time = Date.parse(headersOf(result.response)['date'] ?? '');
        if (!Number.isNaN(time) && result.output !== undefined) this.#times.set(result.output, time);
        return result;
      },
      { step: 'deserialize', priority: 'high', name: 'rememberTime' },
    );
  }

  /** When an answer was given by the other server's clock, in milliseconds since 1970. */
  timeOf(answer: object): number {
    return this.#times.get(answer) ?? Date.now();
  }

  close(): void {
    this.#client.destroy();
    for (const agent of this.#agents) agent.destroy();
  }

  /**
   * Does one thing, again while what fails may pass and there is time. `doing` completes "could not …" in the error's message.
   *
   * Throws `S3CallFailed`.
   */
  async call<T>(
    doing: string,
    attempt: (client: S3Client, options: CallOptions) => Promise<T>,
    options: { readonly timeout?: number; readonly abortSignal?: AbortSignal; readonly once?: boolean } = {},
  ): Promise<T> {
    const { timeout = this.patience.answer, abortSignal, once = false } = options;
    const attempts = new Attempts(this.patience);
    for (let repeated = false; ; repeated = true) {
      try {
        return await attempt(this.#client, {
          requestTimeout: timeout,
          ...(abortSignal === undefined ? {} : { abortSignal }),
        });
      } catch (error) {
        abortSignal?.throwIfAborted();
        const failure = s3Failure(error);
        if (failure === undefined) throw error;
        if (failure.kind === 'passing') this.#forgetIdleConnections();
        const again = failure.kind === 'passing' && !once && (await attempts.another(failure.afterMs));
        if (!again) throw new S3CallFailed(failure, repeated, this.#sentence(doing, failure), { cause: error });
      }
    }
  }

  /** Where a server went away without a word, the other connections to it are as dead as the one that showed it. */
  #forgetIdleConnections(): void {
    for (const agent of this.#agents) {
      for (const sockets of Object.values(agent.freeSockets)) {
        for (const socket of sockets ?? []) socket.destroy();
      }
    }
  }

  #sentence(doing: string, failure: S3Failure): string {
    const { endpoint, region, bucket } = this.address;
    const where = `bucket ${bucket} at ${endpoint ?? `AWS in ${region}`}`;
    const what = 'advice' in failure ? `: ${failure.advice}` : '';
    return `could not ${doing} in the blobs' S3 (${where}): ${failure.code}${what}`;
  }
}

/** Of a request or an answer of the SDK's, whose names are in lower case. */
function headersOf(message: unknown): Record<string, string> {
  const { headers = {} }: { headers?: Record<string, string> } = message ?? {};
  return headers;
}

function authorities({ caFile }: S3Address): { readonly ca?: string[] } {
  if (caFile === undefined) return {};
  try {
    const own = readFileSync(caFile, 'utf8');
    // Reads every certificate: a file without one would trust nobody more, and the refusal would come from far away.
    createSecureContext({ ca: own });
    if (!own.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it has no certificate (PEM)');
    return { ca: [...getCACertificates('default'), own] };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StoreAddressError(`SVC_STORE_BLOBS_S3_CA_FILE is ${caFile}, which cannot be used: ${why}`, {
      cause: error,
    });
  }
}
