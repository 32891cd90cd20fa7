import type { IdentityProviderConfigurations } from '../federation/configurations/provider-configurations.ts';

/** The settings that decide who a user is and what policies they get: with others, a user of one site is none on the next. */
const compared: ReadonlySet<string> = new Set([
  'client_id',
  'claim_name',
  'claim_userinfo',
  'role_policy',
  'user_dn_search_base_dn',
  'user_dn_search_filter',
  'group_search_base_dn',
  'group_search_filter',
]);

/** Returns the settings of the enabled identity providers that must be the same on all sites, by their names. */
export async function providerSettings(
  kinds: readonly IdentityProviderConfigurations[],
): Promise<Readonly<Record<string, string>>> {
  const found: [string, string][] = [];
  for (const kind of kinds) {
    for (const { name, enabled } of await kind.list()) {
      if (!enabled) continue;
      found.push([`${kind.subsystem}:${name}`, 'on']);
      for (const { key, value } of (await kind.get(name))?.values ?? []) {
        if (compared.has(key)) found.push([`${kind.subsystem}:${name} ${key}`, value]);
      }
    }
  }
  return Object.fromEntries(found);
}
