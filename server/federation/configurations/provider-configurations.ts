import { IdentityError } from '../../auth/identity-error.ts';
import { type ConfigKey, valuesByKey } from '../../../platform/settings/config-subsystems.ts';

/** One kind of identity provider that administrators configure: `openid` or `ldap`. Errors are `IdentityError`s. */
export interface IdentityProviderConfigurations {
  /** The name for `admin config`, e.g. `identity_openid`. */
  readonly subsystem: string;
  /** A description for people. */
  readonly description: string;
  /** True if several can exist, each with a name. */
  readonly multiple: boolean;
  readonly keys: readonly ConfigurationKey[];
  list(): Promise<readonly ConfigurationSummary[]>;
  /** Resolves with undefined if there is no configuration of this name. */
  get(name: string): Promise<ConfigurationDetails | undefined>;
  /** Saves keys and values. It first tests that the provider can be used, unless `unproven`. */
  save(
    name: string,
    given: ReadonlyMap<string, string>,
    mode: SaveMode,
    options?: { readonly unproven: boolean },
  ): Promise<Saved>;
  /** Removes the whole configuration, or some of its keys. */
  remove(name: string, keys?: readonly string[]): Promise<Saved>;
  /**
   * Tests the steps of a sign-in that need no user, with the saved configuration or with `given`, which has the form of a `replace`. It
   * changes nothing. Absent for a kind without a test. A directory test continues with a `person`: a name or a DN.
   */
  test?(name: string, given?: ReadonlyMap<string, string>, person?: string): Promise<readonly TestStep[]>;
}

export interface TestStep {
  /** A name for people, e.g. `Discovery`. */
  readonly step: string;
  /** `unclear`: the step may work; the message says what to check. */
  readonly outcome: 'ok' | 'failed' | 'unclear' | 'skipped';
  readonly message: string;
}

/**
 * `add` creates a new configuration, `update` changes an existing one, `set` does either. Absent keys stay, and empty values remove keys.
 * `replace` sets exactly the given keys.
 */
export type SaveMode = 'add' | 'update' | 'set' | 'replace';

/** `applied`: the change is in effect without a restart. */
export interface Saved {
  readonly applied: boolean;
}

export interface ConfigurationKey {
  readonly key: string;
  readonly help: string;
  readonly type: string;
  readonly optional: boolean;
  readonly secret: boolean;
  /** The variable, without the suffix for the configuration's name. */
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

/** The placeholder of a secret. A save that contains it keeps the secret. */
export const redacted = '*REDACTED*';

/** The keys of a kind of provider; `whose` names it in messages: `an OpenID provider`. */
interface KeyTable {
  readonly keys: readonly ConfigKey[];
  readonly whose: string;
}

/**
 * Merges the given values into the known ones: absent keys stay, empty values remove keys. With `replace`, only given keys count. A
 * redacted secret keeps the known secret. Throws `IdentityError`.
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

export function invalid(problems: readonly string[]): IdentityError {
  return new IdentityError('invalid-configuration', `${problems.join('; ')}.`);
}
