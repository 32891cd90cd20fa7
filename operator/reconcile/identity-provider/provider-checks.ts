import type { IdentityProvider } from '../../api/object.ts';
import type { ProviderCheck } from './check-provider.ts';
import { backoffMs } from '../../../platform/async/backoff.ts';

export type ProviderState = { readonly kind: 'pending' } | ProviderCheck;

interface ProviderChecksOptions {
  readonly check: (provider: IdentityProvider, clientSecret: string) => Promise<ProviderCheck>;
  /** Called with the name of a provider when a check of its current version has ended. */
  readonly onResult: (provider: string) => void;
  readonly now: () => Date;
  /** A number from 0 to 1, which spreads the repetitions. */
  readonly random: () => number;
  readonly firstRetryMs?: number;
  readonly lastRetryMs?: number;
  readonly goodForMs?: number;
}

interface Entry {
  readonly digest: string;
  state: ProviderState;
  failures: number;
  underWay: boolean;
  /** Time of the next check, in milliseconds since the epoch. */
  due: number;
}

/**
 * Checks each version of each provider, and repeats a check that is due when the state is asked for. A broken version is checked after
 * growing delays, a good one now and then, so that its condition stays correct. A new version starts anew.
 */
export class ProviderChecks {
  readonly #options: ProviderChecksOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ProviderChecksOptions) {
    this.#options = options;
  }

  /** Returns the state of this version, and starts a check that is due. `digest` covers spec and client secret. */
  state(provider: IdentityProvider, clientSecret: string, digest: string): ProviderState {
    const { name } = provider.metadata;
    let entry = this.#entries.get(name);
    if (entry?.digest !== digest) {
      entry = { digest, state: { kind: 'pending' }, failures: 0, underWay: false, due: 0 };
      this.#entries.set(name, entry);
    }
    if (!entry.underWay && entry.due <= this.#options.now().getTime()) void this.#run(entry, provider, clientSecret);
    return entry.state;
  }

  /** Returns the milliseconds until the next check; undefined while one is under way, whose result comes by `onResult`. */
  nextInMs(name: string): number | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined || entry.underWay) return undefined;
    return Math.max(0, entry.due - this.#options.now().getTime());
  }

  forget(name: string): void {
    this.#entries.delete(name);
  }

  close(): void {
    this.#entries.clear();
  }

  async #run(entry: Entry, provider: IdentityProvider, clientSecret: string): Promise<void> {
    entry.underWay = true;
    const result = await this.#check(provider, clientSecret);
    entry.underWay = false;
    if (this.#entries.get(provider.metadata.name) !== entry) return;
    entry.state = result;
    entry.failures = result.kind === 'good' ? 0 : entry.failures + 1;
    entry.due = this.#options.now().getTime() + this.#pause(entry);
    this.#options.onResult(provider.metadata.name);
  }

  async #check(provider: IdentityProvider, clientSecret: string): Promise<ProviderCheck> {
    try {
      return await this.#options.check(provider, clientSecret);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { kind: 'broken', reason: 'CheckFailed', message: `the provider could not be checked: ${message}` };
    }
  }

  #pause({ failures }: Entry): number {
    const { firstRetryMs = 1_000, lastRetryMs = 60_000, goodForMs = 600_000, random } = this.#options;
    const pause =
      failures === 0 ? goodForMs : backoffMs(failures, { firstMs: firstRetryMs, maxMs: lastRetryMs, jitter: 0 });
    return pause * (0.75 + random() / 2);
  }
}

/** The state of a provider during a reconcile. */
export interface KnownProvider {
  readonly provider: IdentityProvider;
  readonly state: ProviderState;
  /** Digest of the current version; empty when a reference is missing. */
  readonly digest: string;
  /** True when servers would run with the current version. */
  readonly current: boolean;
}
