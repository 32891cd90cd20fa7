import type { Setting } from '../../protocol/settings/setting.ts';
import { settings } from '../../protocol/settings/table.ts';

interface MergedVariables {
  readonly variables: Map<string, string>;
  /** The variables whose value is not used since another name of the same setting has another value. */
  readonly warnings: readonly string[];
}

/**
 * Merges the variables of the environment and of the environment file. A setting that the environment gives, by any of its names, is not
 * taken from the file. An empty variable counts as not set.
 */
export function mergeVariables(
  env: Readonly<Record<string, string | undefined>>,
  file: ReadonlyMap<string, string>,
): MergedVariables {
  const variables = new Map<string, string>();
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  for (const [name, value] of given) if (value !== '') variables.set(name, value);
  const fromEnvironment = new Set([...variables.keys()].map(settingOf));
  for (const [name, value] of file) {
    if (value !== '' && !fromEnvironment.has(settingOf(name))) variables.set(name, value);
  }
  return { variables, warnings: namesWithoutEffect(variables) };
}

/** Warns of the second name of a setting whose value differs. The values stay out of the message, since they may be secrets. */
function namesWithoutEffect(variables: ReadonlyMap<string, string>): string[] {
  const bySetting = Map.groupBy(variables.keys(), settingOf);
  return [...bySetting].flatMap(([setting, names]) => {
    if (names.length < 2) return [];
    const [used, ...others] = names.toSorted((a, b) => rankOf(a, setting) - rankOf(b, setting));
    return others
      .filter((name) => used !== undefined && variables.get(name) !== variables.get(used))
      .map((name) => `${name} has no effect: ${used} is the same setting with another value, and comes first`);
  });
}

interface Base {
  readonly base: string;
  readonly row: Setting;
  /** The place of the name in the order in which the reader tries them. */
  readonly rank: number;
}

const bases: readonly Base[] = (settings as readonly Setting[])
  .flatMap((row) => [row.name, ...row.aliases].map((base, at) => ({ base, row, rank: at * 2 })))
  .sort((a, b) => b.base.length - a.base.length);

const exact: ReadonlyMap<string, Base> = new Map(bases.map((one) => [one.base, one]));
const suffixed = bases.filter(({ row }) => row.scope !== 'server');

/** Finds the name that a variable begins with, its suffix, and whether it names a file. */
function parseName(
  name: string,
): { readonly found: Base; readonly suffix: string; readonly isFile: boolean } | undefined {
  const whole = exact.get(name);
  if (whole !== undefined) return { found: whole, suffix: '', isFile: false };
  const secret = name.endsWith('_FILE') ? exact.get(name.slice(0, -'_FILE'.length)) : undefined;
  if (secret?.row.secret === true) return { found: secret, suffix: '', isFile: true };
  const found = suffixed.find(({ base }) => name.startsWith(`${base}_`));
  if (found === undefined) return undefined;
  const rest = name.slice(found.base.length);
  const suffix = found.row.secret ? rest.replace(/^_FILE(?=_)|_FILE$/, '') : rest;
  return { found, suffix, isFile: suffix !== rest };
}

/** Returns a text that all names of a setting share: the name of its row, with the suffix. */
function settingOf(name: string): string {
  const parsed = parseName(name);
  return parsed === undefined ? name : parsed.found.row.name + parsed.suffix;
}

/** Returns the order in which the reader tries the names of a setting. */
function rankOf(name: string, setting: string): number {
  const parsed = parseName(name);
  if (parsed === undefined) throw new Error(`${name} is no name of ${setting}`);
  return parsed.found.rank + (parsed.isFile ? 1 : 0);
}
