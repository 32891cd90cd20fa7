import { isDeepStrictEqual } from 'node:util';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { KeptProvider, type OpenIdProvider, type ProviderOptions } from './openid-provider.ts';

export { isSignedInAt } from './openid-provider.ts';
export type { OpenIdProvider, ProvidersLog, ProviderStatus } from './openid-provider.ts';

export interface OpenIdProviders {
  /** The enabled ones: those of the environment, then those that administrators stored. */
  readonly list: readonly OpenIdProvider[];
  byId(id: string): OpenIdProvider | undefined;
  /** Resolves when each provider was tried once; never rejects. Goes on retrying those that failed, until `close`. */
  start(): Promise<void>;
  /**
   * Resolves when the list is what the configurations say now, and each was tried once, or two seconds later: a provider that hangs must
   * not delay the others. To be awaited before each use that must not miss a change. Never rejects.
   */
  readonly started: Promise<void>;
  /** As `started`, whenever it was looked last; rejects where the configurations cannot be read. */
  refresh(): Promise<void>;
  close(): void;
}

export interface OpenIdProvidersOptions extends ProviderOptions {
  /** From the environment: they stay as they are. */
  readonly settings: readonly OpenIdProviderSettings[];
  readonly stored?: StoredProviderSource;
  /** How old what is known of `stored` may be when it is used; 0 where nothing else changes these records. Milliseconds. */
  readonly staleMs?: number;
}

/** What administrators stored. */
export interface StoredProviderSource {
  /** Changes with every change. */
  revision(): Promise<number | undefined>;
  /** Those that can be used; names of the environment are left out by who asks. */
  read(): Promise<readonly OpenIdProviderSettings[]>;
}

const patienceMs = 2_000;
/** Between looks at the stored configurations, so that new ones are tried, and said to be ready, before somebody needs them. */
const lookEveryMs = 1_000;

/** The configured providers. The server runs without those that cannot be reached: they cost their users, nobody else. */
export function createOpenIdProviders(options: OpenIdProvidersOptions): OpenIdProviders {
  return new Providers(options);
}

class Providers implements OpenIdProviders {
  readonly #options: OpenIdProvidersOptions;
  readonly #first = Promise.withResolvers<void>();
  #list: readonly KeptProvider[];
  #revision: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: OpenIdProvidersOptions) {
    this.#options = options;
    this.#list = options.settings
      .filter(({ enabled }) => enabled)
      .map((settings) => new KeptProvider(settings, options));
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
    const patience = setTimeout(() => this.#first.resolve(), patienceMs);
    // Reading what is stored rejects where the store is away; it is looked for again with every use.
    await Promise.all([...this.#list.map((provider) => provider.start()), this.refresh().catch(() => undefined)]);
    clearTimeout(patience);
    this.#first.resolve();
    if (this.#options.stored === undefined || this.#closed) return;
    this.#timer = setInterval(() => void this.#lookWhereStale(), lookEveryMs);
    this.#timer.unref();
  }

  async refresh(): Promise<void> {
    // A look that is under way may have begun before the change that is asked about.
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

  /** Where the store is away, what is known goes on: whoever asked needs the store for their next step, and hears of it there. */
  async #lookWhereStale(): Promise<void> {
    if (performance.now() - this.#lookedAt < (this.#options.staleMs ?? 0)) return;
    await this.refresh().catch(() => undefined);
  }

  async #look(): Promise<void> {
    const { stored } = this.#options;
    if (stored === undefined || this.#closed) return;
    const revision = await stored.revision();
    this.#lookedAt = performance.now();
    if (revision === this.#revision) return;
    const read = await stored.read();
    this.#revision = revision;
    await this.#become(read);
  }

  /** What has not changed stays, with all that it knows. */
  async #become(stored: readonly OpenIdProviderSettings[]): Promise<void> {
    const fromEnvironment = this.#options.settings;
    const taken = new Set(fromEnvironment.map(({ id }) => id));
    const wanted = [...fromEnvironment, ...stored.filter(({ id }) => !taken.has(id))].filter(({ enabled }) => enabled);
    const before = this.#list;
    const added: KeptProvider[] = [];
    this.#list = wanted.map((settings) => {
      const known = before.find((provider) => isDeepStrictEqual(provider.settings, settings));
      if (known !== undefined) return known;
      const made = new KeptProvider(settings, this.#options);
      added.push(made);
      return made;
    });
    for (const gone of before.filter((provider) => !this.#list.includes(provider))) {
      gone.close();
      if (this.byId(gone.id) === undefined) {
        this.#options.log.info({ provider: gone.id }, `OpenID provider ${gone.id} was removed or switched off`);
      }
    }
    await within(patienceMs, Promise.all(added.map((provider) => provider.start())));
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
