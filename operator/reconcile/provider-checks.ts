import type { IdentityProvider } from '../api/object.ts';
import type { ProviderCheck } from './check-provider.ts';

export type ProviderState = { readonly kind: 'pending' } | ProviderCheck;

export interface ProviderChecksOptions {
  readonly check: (provider: IdentityProvider, clientSecret: string) => Promise<ProviderCheck>;
  /** Called when a result has come or changed. */
  readonly onResult: () => void;
  /** A number from 0 to 1; spreads the repetitions. */
  readonly random: () => number;
  readonly firstRetryMs?: number;
  readonly lastRetryMs?: number;
  readonly goodForMs?: number;
}

interface Entry {
  readonly digest: string;
  state: ProviderState;
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Checks each version of each provider once, then again: a broken one with growing pauses, so that it heals by itself, a good one
 * now and then, so that its condition stays true. A new version starts afresh and forgets the one before.
 */
export class ProviderChecks {
  readonly #options: ProviderChecksOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ProviderChecksOptions) {
    this.#options = options;
  }

  /** What is known of this version; starts its check where there is none. `digest` covers spec and client secret. */
  state(provider: IdentityProvider, clientSecret: string, digest: string): ProviderState {
    const { name } = provider.metadata;
    const known = this.#entries.get(name);
    if (known?.digest === digest) return known.state;
    this.forget(name);
    const entry: Entry = { digest, state: { kind: 'pending' }, failures: 0, timer: undefined };
    this.#entries.set(name, entry);
    void this.#run(entry, provider, clientSecret);
    return entry.state;
  }

  forget(name: string): void {
    clearTimeout(this.#entries.get(name)?.timer);
    this.#entries.delete(name);
  }

  /** Forgets every provider but these. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.#entries.keys()) if (!names.has(name)) this.forget(name);
  }

  close(): void {
    this.retain(new Set());
  }

  async #run(entry: Entry, provider: IdentityProvider, clientSecret: string): Promise<void> {
    const result = await this.#options.check(provider, clientSecret);
    if (this.#entries.get(provider.metadata.name) !== entry) return;
    const changed = JSON.stringify(result) !== JSON.stringify(entry.state);
    entry.state = result;
    entry.failures = result.kind === 'good' ? 0 : entry.failures + 1;
    entry.timer = setTimeout(() => void this.#run(entry, provider, clientSecret), this.#pause(entry));
    entry.timer.unref();
    if (changed) this.#options.onResult();
  }

  #pause({ failures }: Entry): number {
    const { firstRetryMs = 1_000, lastRetryMs = 60_000, goodForMs = 600_000, random } = this.#options;
    const pause = failures === 0 ? goodForMs : Math.min(lastRetryMs, firstRetryMs * 2 ** (failures - 1));
    return pause * (0.75 + random() / 2);
  }
}
