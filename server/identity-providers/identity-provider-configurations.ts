/** One kind of identity provider as administrators configure it: `openid`, `ldap`. Refusals are `ConfigurationError`s. */
export interface IdentityProviderConfigurations {
  /** As `admin config` calls it, e.g. `identity_openid`. */
  readonly subsystem: string;
  /** What it does, for people. */
  readonly description: string;
  /** Whether there can be several, by name. */
  readonly multiple: boolean;
  readonly keys: readonly ConfigurationKey[];
  list(): Promise<readonly ConfigurationSummary[]>;
  /** Undefined where there is none of this name. */
  get(name: string): Promise<ConfigurationDetails | undefined>;
  /** `given`: keys and values. It is proven first that the provider can be used, unless `unproven`. */
  save(
    name: string,
    given: ReadonlyMap<string, string>,
    mode: SaveMode,
    options?: { readonly unproven: boolean },
  ): Promise<Saved>;
  /** The whole configuration, or some keys of it. */
  remove(name: string, keys?: readonly string[]): Promise<Saved>;
  /**
   * Walks the way that a sign-in takes, as far as it goes without a person: by what is saved, or by what `given` would make of it, which
   * `save` with `replace` takes. Changes nothing. Absent where a kind has no test. A directory goes on with a `person`: a name or a DN.
   */
  test?(name: string, given?: ReadonlyMap<string, string>, person?: string): Promise<readonly TestStep[]>;
}

export interface TestStep {
  /** For people, e.g. `Discovery`. */
  readonly step: string;
  /** `unclear`: it may work; the message says what to look at. */
  readonly outcome: 'ok' | 'failed' | 'unclear' | 'skipped';
  readonly message: string;
}

/**
 * `add` makes one that must not be there, `update` changes one that must, `set` either; keys that are not given stay, empty ones go.
 * `replace` makes exactly what is given.
 */
export type SaveMode = 'add' | 'update' | 'set' | 'replace';

/** Whether it is in effect without a restart. */
export interface Saved {
  readonly applied: boolean;
}

export interface ConfigurationKey {
  readonly key: string;
  readonly help: string;
  readonly type: string;
  readonly optional: boolean;
  readonly secret: boolean;
  /** The variable without the name of the configuration. */
  readonly variable: string;
}

export interface ConfigurationSummary {
  readonly name: string;
  readonly enabled: boolean;
  readonly roleArn?: string;
  readonly origin: 'environment' | 'stored';
}

export interface ConfigurationDetails extends ConfigurationSummary {
  /** Secrets are redacted. */
  readonly values: readonly { readonly key: string; readonly value: string }[];
}

/** Shown in place of a secret; given back, it leaves the secret as it is. */
export const redacted = '*REDACTED*';
