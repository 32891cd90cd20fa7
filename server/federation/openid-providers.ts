import { isDeepStrictEqual } from 'node:util';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { ReconnectingProvider, type OpenIdProvider, type ProviderOptions } from './openid-provider.ts';

export { isSignedInAt } from './openid-provider.ts';
export type { OpenIdProvider, ProviderStatus } from './openid-provider.ts';

export interface OpenIdProviders {
  /** The enabled providers: those of the environment first, then the stored ones. */
  readonly list: readonly OpenIdProvider[];
  byId(id: string): OpenIdProvider | undefined;
  /** Resolves after the first try of each provider; never rejects. Failed ones are retried until `close`. */
  start(): Promise<void>;
  /**
   * Resolves when the list matches the configurations and each provider was tried once, at the latest after two seconds, so that a hanging
   * provider does not delay the others. Await it before each use. Never rejects.
   */
  readonly started: Promise<void>;
  /** Like `started`, but always reads the configurations; rejects if they cannot be read. */
  refresh(): Promise<void>;
  close(): void;
}

export interface OpenIdProvidersOptions extends ProviderOptions {
  /** The providers of the environment, which do not change. */
  readonly settings: readonly OpenIdProviderSettings[];
  readonly stored?: StoredProviderSource;
  /** Milliseconds for which the stored configurations count without a read; 0 if no other server changes them. */
  readonly staleMs?: number;
}

/** The provider configurations that administrators store. */
export interface StoredProviderSource {
  /** Increases with every change. */
  revision(): Promise<number | undefined>;
  /** Returns usable configurations. The caller skips names that the environment has. */
  read(): Promise<readonly OpenIdProviderSettings[]>;
}

const startTimeoutMs = 2_000;
/** Interval of reads of the stored configurations, so that new providers are ready before the first sign-in. */
const refreshEveryMs = 1_000;

/** The configured providers. The server runs without unreachable ones; only their users are affected. */
export function createOpenIdProviders(options: OpenIdProvidersOptions): OpenIdProviders {
  return new Providers(options);
}

class Providers implements OpenIdProviders {
  readonly #options: OpenIdProvidersOptions;
  readonly #first = Promise.withResolvers<void>();
  #list: readonly ReconnectingProvider[];
  #revision: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: OpenIdProvidersOptions) {
    this.#options = options;
    this.#list = options.settings
      .filter(({ enabled }) => enabled)
      .map((settings) => new ReconnectingProvider(settings, options));
  }

  get list(): readonly OpenIdProvider[] {
    return this.#list;
  }

  byId(id: string): OpenIdProvider | undefined {
    return this.#list.find((provider) => provider.id === id);
  }

  get started(): Promise<void> {
    return this.#first.promise.then(() => this.#lookWhereStale());
  }

  async start(): Promise<void> {
    const timer = setTimeout(() => this.#first.resolve(), startTimeoutMs);
    // The read rejects if the store is unavailable; each use reads again.
    await Promise.all([...this.#list.map((provider) => provider.start()), this.refresh().catch(() => undefined)]);
    clearTimeout(timer);
    this.#first.resolve();
    if (this.#options.stored === undefined || this.#closed) return;
    this.#timer = setInterval(() => void this.#lookWhereStale(), refreshEveryMs);
    this.#timer.unref();
  }

  async refresh(): Promise<void> {
    // A running refresh may have begun before the change.
    await this.#looking?.catch(() => undefined);
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#first.resolve();
    for (const provider of this.#list) provider.close();
  }

  /** If the store is unavailable, the known providers stay in use. The caller's next access to the store reports the error. */
  async #lookWhereStale(): Promise<void> {
    if (performance.now() - this.#lookedAt < (this.#options.staleMs ?? 0)) return;
    await this.refresh().catch(() => undefined);
  }

  async #look(): Promise<void> {
    const { stored } = this.#options;
    if (stored === undefined || this.#closed) return;
    const began = performance.now();
    const revision = await stored.revision();
    this.#lookedAt = began;
    if (revision === this.#revision) return;
    const read = await stored.read();
    this.#revision = revision;
    await this.#become(read);
  }

  /** Unchanged providers keep their state. */
  async #become(stored: readonly OpenIdProviderSettings[]): Promise<void> {
    const fromEnvironment = this.#options.settings;
    const taken = new Set(fromEnvironment.map(({ id }) => id));
    const wanted = [...fromEnvironment, ...stored.filter(({ id }) => !taken.has(id))].filter(({ enabled }) => enabled);
    const before = this.#list;
    const added: ReconnectingProvider[] = [];
    this.#list = wanted.map((settings) => {
      const known = before.find((provider) => isDeepStrictEqual(provider.settings, settings));
      if (known !== undefined) return known;
      const made = new ReconnectingProvider(settings, this.#options);
      added.push(made);
      return made;
    });
    for (const gone of before.filter((provider) => !this.#list.includes(provider))) {
      gone.close();
      if (this.byId(gone.id) === undefined) {
        this.#options.log.info({ provider: gone.id }, `OpenID provider ${gone.id} was removed or switched off`);
      }
    }
    await within(startTimeoutMs, Promise.all(added.map((provider) => provider.start())));
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
