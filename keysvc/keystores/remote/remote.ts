import { setTimeout as sleep } from 'node:timers/promises';
import {
  createLimitedFetch,
  type LimitedFetch,
  type LimitedFetchOptions,
} from '../../../platform/http/limited-fetch.ts';
import { backoffMs, retryBackoff } from '../../../platform/async/backoff.ts';
import { retryAfterMs } from '../../../platform/http/retry-after.ts';
import { timeoutSignal } from '../../../platform/http/timeout-signal.ts';
import { KeyError } from '../keystore.ts';
import { timeLeftMs } from './time-limit.ts';

/** The time of a remote store. Tests pass a virtual clock. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

const systemClock: Clock = {
  now: Date.now,
  async sleep(ms) {
    await sleep(ms);
  },
};

export interface RemoteOptions {
  readonly clock?: Clock;
  /** The timeout of one attempt in milliseconds, including its answer. */
  readonly attemptMs?: number;
  /** Milliseconds after the first attempt in which another may begin. It is less than the timeout of a caller of the key service. */
  readonly budgetMs?: number;
  /** Additional trusted authorities (PEM). */
  readonly ca?: string;
  /** The client certificate for the store. */
  readonly client?: LimitedFetchOptions['client'];
}

export interface RemoteRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The service, for errors: `Azure Key Vault https://…`. */
  readonly of: string;
  /** Sends the request once, for probes and for writes that must not be late. */
  readonly once?: boolean;
  /** Reports whether an answer is a transient failure, in addition to those with a transient status. */
  readonly isTransient?: (answer: Pick<RemoteAnswer, 'status' | 'text'>) => boolean;
  /** Reports whether an answer is final, although its status is transient. */
  readonly isFinal?: (answer: Pick<RemoteAnswer, 'status' | 'text'>) => boolean;
  /** A shorter timeout for an attempt, in milliseconds. */
  readonly withinMs?: number;
}

export interface RemoteAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** True if an earlier attempt, whose answer was lost or a failure, may have succeeded. */
  readonly repeated: boolean;
}

/** Statuses of transient failures: throttling, and failures of the server. */
const transientStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

const defaults = { attemptMs: 5000, budgetMs: 10_000 };

/** Requests of one call, for example for the token, the versions and the value, share a connection. An older connection may be dead. */
const keepMs = 1000;

/** Sends requests to a remote store. It retries transient failures after the time of `Retry-After`, or with a back-off. */
export class Remote {
  readonly clock: Clock;
  readonly #fetch: LimitedFetch;
  readonly #budgetMs: number;

  constructor(options: RemoteOptions = {}) {
    const { clock = systemClock, attemptMs = defaults.attemptMs, budgetMs = defaults.budgetMs, ca, client } = options;
    this.clock = clock;
    this.#budgetMs = budgetMs;
    this.#fetch = createLimitedFetch({
      timeoutMs: attemptMs,
      keepMs,
      ca,
      client,
    });
  }

  /**
   * Returns the last answer, whatever its status. After the time limit this may be a transient failure.
   *
   * @throws KeyError `unreachable` when no answer came
   */
  async ask(request: RemoteRequest): Promise<RemoteAnswer> {
    const began = this.clock.now();
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(request, attempt > 0);
      const later =
        'failure' in outcome ||
        (transientStatuses.has(outcome.answer.status) && request.isFinal?.(outcome.answer) !== true) ||
        request.isTransient?.(outcome.answer) === true;
      if (later && request.once !== true) {
        const asked =
          'answer' in outcome ? retryAfterMs(outcome.answer.headers.get('retry-after'), this.clock.now()) : undefined;
        const delay = asked ?? backoffMs(attempt + 1, retryBackoff);
        if (this.clock.now() - began + delay <= this.#budgetMs && delay < timeLeftMs()) {
          await this.clock.sleep(delay);
          continue;
        }
      }
      if ('answer' in outcome) return outcome.answer;
      const reason = outcome.failure instanceof Error ? outcome.failure.message : String(outcome.failure);
      throw new KeyError('unreachable', `${request.of} does not answer: ${reason}`, { cause: outcome.failure });
    }
  }

  async #attempt(
    { url, method, headers, body, withinMs }: RemoteRequest,
    repeated: boolean,
  ): Promise<{ answer: RemoteAnswer } | { failure: unknown }> {
    // The caller of the key service must get the failure of the store before it gives up. Nobody waits for a later attempt.
    const limitMs = Math.min(withinMs ?? Infinity, timeLeftMs());
    try {
      const answer = await this.#fetch(url, {
        method,
        headers: { accept: 'application/json', ...headers },
        body,
        signal: limitMs === Infinity ? undefined : timeoutSignal(Math.max(1, limitMs)),
      });
      return { answer: { status: answer.status, headers: answer.headers, text: await answer.text(), repeated } };
    } catch (failure) {
      return { failure };
    }
  }
}

/** The result of a call by a vendor's client: its value, or the failed answer of the store. */
export type Outcome<T> = { readonly value: T } | { readonly refusal: RemoteAnswer };

/**
 * Probes a store without credentials. Any answer but a failure of the server proves that it is reachable.
 *
 * @throws KeyError
 */
export async function probe(client: {
  readonly endpoint: string;
  readonly name: string;
  readonly remote: Remote;
}): Promise<void> {
  const { endpoint, name, remote } = client;
  const answer = await remote.ask({ method: 'GET', url: endpoint, of: name, once: true });
  if (answer.status >= 500) throw new KeyError('unavailable', `${name} answers ${answer.status}`);
}
