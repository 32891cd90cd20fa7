import { setting } from '../../protocol/settings/table.ts';
import { plain, type EnvironmentVariable, type Text } from '../workload.ts';

/**
 * A variable of a setting that is no secret, named by the settings table. `suffix` is `_<ID>` for a provider's.
 * Errors on a secret: those are files.
 */
export function variable(name: string, value: string | Text, suffix = ''): EnvironmentVariable {
  if (setting(name).secret) throw new Error(`${name} is a secret and may not stand in the environment`);
  return { name: name + suffix, value: typeof value === 'string' ? plain(value) : value };
}

/** The variable that names the file of a secret setting. */
export function secretFileVariable(name: string, path: Text, suffix = ''): EnvironmentVariable {
  if (!setting(name).secret) throw new Error(`${name} is no secret and has no _FILE form`);
  return { name: `${name}${suffix}_FILE`, value: path };
}

export function byName(a: EnvironmentVariable, b: EnvironmentVariable): number {
  return a.name < b.name ? -1 : 1;
}
