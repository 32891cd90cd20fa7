import { setTimeout as sleep } from 'node:timers/promises';
import {
  createProviderFetch,
  type ProviderFetch,
  type ProviderFetchOptions,
} from '../../../platform/openid/provider-fetch.ts';
import { retryDelay } from '../../../platform/backoff.ts';
import { KeyStoreError } from '../keystore.ts';

/** Time as a remote store sees it; tests bring one that stands still until somebody waits. */
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

/**
 * Milliseconds that an answer asks to wait: seconds or a date. Undefined where it asks for nothing that can be read.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

export interface RemoteOptions {
  readonly clock?: Clock;
  /** Milliseconds that one attempt may take, its answer included. */
  readonly attemptMs?: number;
  /** Milliseconds after the first attempt within which another may begin: less than a caller of the key service waits. */
  readonly budgetMs?: number;
  /** Authorities (PEM) trusted besides the system's. */
  readonly ca?: string;
  /** The certificate that is shown to the store. */
  readonly client?: ProviderFetchOptions['client'];
}

export interface RemoteRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whose answer is awaited, for the error when none comes: `Azure Key Vault https://…`. */
  readonly of: string;
  /** Tried once: for probes, and for what must not come late. */
  readonly once?: boolean;
  /** Whether an answer is a failure of the moment, besides those that its status tells. */
  readonly isTransient?: (answer: Pick<RemoteAnswer, 'status' | 'text'>) => boolean;
  /** Milliseconds for an attempt, where fewer than all others have. */
  readonly withinMs?: number;
}

export interface RemoteAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Whether an earlier attempt, whose answer was lost or a failure, may have been carried out. */
  readonly repeated: boolean;
}

/** Answers after which the same request may fare better: throttling, and failures that say nothing about the request. */
const transientStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

const defaults = { attemptMs: 5000, budgetMs: 10_000 };

/** What belongs together, such as the token, the versions and the value of one key, shares a connection. A longer kept one may have died unseen. */
const keepMs = 1000;

/**
 * Requests to a vault. What fails for the moment is sent again, after the time that the vault asks for (`Retry-After`), or after
 * growing pauses.
 */
export class Remote {
  readonly clock: Clock;
  readonly #fetch: ProviderFetch;
  readonly #budgetMs: number;

  constructor(options: RemoteOptions = {}) {
    const { clock = systemClock, attemptMs = defaults.attemptMs, budgetMs = defaults.budgetMs, ca, client } = options;
    this.clock = clock;
    this.#budgetMs = budgetMs;
    this.#fetch = createProviderFetch({
      timeoutMs: attemptMs,
      keepMs,
      ...(ca === undefined ? {} : { ca }),
      ...(client === undefined ? {} : { client }),
    });
  }

  /**
   * The last answer, whatever its status; after the budget also one that says "later". Errors with `unreachable` where none came.
   */
  async ask(request: RemoteRequest): Promise<RemoteAnswer> {
    const began = this.clock.now();
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(request, attempt > 0);
      const later =
        'failure' in outcome ||
        transientStatuses.has(outcome.answer.status) ||
        request.isTransient?.(outcome.answer) === true;
      if (later && request.once !== true) {
        const asked = 'answer' in outcome ? retryAfterMs(outcome.answer.headers, this.clock.now()) : undefined;
        const delay = asked ?? retryDelay(attempt, Math.random());
        if (this.clock.now() - began + delay <= this.#budgetMs) {
          await this.clock.sleep(delay);
          continue;
        }
      }
      if ('answer' in outcome) return outcome.answer;
      const reason = outcome.failure instanceof Error ? outcome.failure.message : String(outcome.failure);
      throw new KeyStoreError('unreachable', `${request.of} does not answer: ${reason}`, { cause: outcome.failure });
    }
  }

  async #attempt(
    { url, method, headers, body, withinMs }: RemoteRequest,
    repeated: boolean,
  ): Promise<{ answer: RemoteAnswer } | { failure: unknown }> {
    try {
      const answer = await this.#fetch(url, {
        method,
        headers: { accept: 'application/json', ...headers },
        ...(body === undefined ? {} : { body }),
        ...(withinMs === undefined ? {} : { signal: AbortSignal.timeout(withinMs) }),
      });
      return { answer: { status: answer.status, headers: answer.headers, text: await answer.text(), repeated } };
    } catch (failure) {
      return { failure };
    }
  }
}

/** What a call of a vendor's client came to: its value, or the vault's answer where that is no success. */
export type Outcome<T> = { readonly value: T } | { readonly refusal: RemoteAnswer };

/** Whether a vault is there: whatever it answers to who shows nothing, but a failure of its own. Errors with a `KeyStoreError`. */
export async function probe(client: {
  readonly endpoint: string;
  readonly name: string;
  readonly remote: Remote;
}): Promise<void> {
  const { endpoint, name, remote } = client;
  const answer = await remote.ask({ method: 'GET', url: endpoint, of: name, once: true });
  if (answer.status >= 500) throw new KeyStoreError('unavailable', `${name} answers ${answer.status}`);
}
