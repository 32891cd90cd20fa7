import { type ConfigKey, valuesByKey } from '../../../platform/settings/config-subsystems.ts';

export type ConfigurationErrorCode =
  | 'exists'
  | 'no-such-name'
  | 'from-environment'
  /** What was given cannot be used. */
  | 'invalid'
  /** The provider cannot be used. */
  | 'unusable'
  | 'no-such-history'
  | 'no-such-subsystem'
  | 'busy';

/** A configuration that is refused. `message` is for the administrator: which key, which value, what to do; never a secret. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly code: ConfigurationErrorCode;
  constructor(code: ConfigurationErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

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

/** The keys of one kind of provider; `whose` is for people: `an OpenID provider`. */
interface KeyTable {
  readonly keys: readonly ConfigKey[];
  readonly whose: string;
}

/**
 * What `given` makes of what is known: keys that are not given stay, empty ones are taken away. With `replace` only what is given counts.
 * Either way a secret that comes back redacted stays as it is. Throws `ConfigurationError`.
 */
export function mergedKeys(
  { keys, whose }: KeyTable,
  known: ReadonlyMap<string, string> | undefined,
  given: ReadonlyMap<string, string>,
  { replace = false } = {},
): Map<string, string> {
  const { values, problems } = valuesByKey(keys, whose, given);
  if (problems.length > 0) throw invalid(problems);
  const merged = new Map(replace ? [] : known);
  for (const [key, value] of values) {
    const isSecret = keys.some(({ key: name, row }) => name === key && row.secret);
    if (value === redacted && isSecret) merged.set(key, knownSecret(key, known));
    else if (value === '') merged.delete(key);
    else merged.set(key, value);
  }
  return merged;
}

function knownSecret(key: string, known: ReadonlyMap<string, string> | undefined): string {
  const secret = known?.get(key);
  if (secret !== undefined) return secret;
  throw invalid([
    `${key} is ${redacted}, which stands for a secret that this server does not have: give the secret itself`,
  ]);
}

export function invalid(problems: readonly string[]): ConfigurationError {
  return new ConfigurationError('invalid', `${problems.join('; ')}.`);
}
