import type { Setting } from '../../protocol/settings/setting.ts';

/** A key that `admin idp` and `admin config` take; synonyms are read as the first. */
export interface ConfigKey {
  readonly key: string;
  readonly synonyms: readonly string[];
  readonly row: Setting;
}

/** The values under their first names, and what cannot be understood. `whose` is for people: `an OpenID provider`. */
export function valuesByKey(
  keys: readonly ConfigKey[],
  whose: string,
  values: ReadonlyMap<string, string>,
): { readonly values: Map<string, string>; readonly problems: readonly string[] } {
  const found = new Map<string, string>();
  const problems: string[] = [];
  for (const [given, value] of values) {
    const known = keys.find(({ key, synonyms }) => key === given || synonyms.includes(given));
    if (known === undefined) problems.push(`${given} is no key of ${whose}`);
    else if (found.has(known.key)) problems.push(`${known.key} is given twice, once as ${given}`);
    else found.set(known.key, value);
  }
  if (problems.some((problem) => problem.includes('is no key'))) {
    problems.push(`the keys are ${keys.map(({ key }) => key).join(', ')}`);
  }
  return { values: found, problems };
}
