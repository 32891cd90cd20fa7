import { type ConfigKey, valuesByKey } from '../../platform/settings/known-keys.ts';
import { ConfigurationError } from './configuration-error.ts';
import { redacted } from './identity-provider-configurations.ts';

/** The keys of one kind of provider; `whose` is for people: `an OpenID provider`. */
export interface KeyTable {
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
