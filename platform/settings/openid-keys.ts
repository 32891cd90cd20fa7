import { settings } from '../../protocol/settings/table.ts';
import type { Setting } from '../../protocol/settings/setting.ts';
import type { ConfigKey } from './known-keys.ts';
import { readProvider } from './openid-settings.ts';
import type { OpenIdProviderSettings } from './server-settings.ts';
import { SettingReader } from './setting-source.ts';

const rows: readonly Setting[] = settings;

export const openIdKeys: readonly ConfigKey[] = rows
  .filter(({ scope }) => scope === 'per-provider')
  .flatMap((row) => {
    const [key, ...synonyms] = row.configKeys ?? [];
    return key === undefined ? [] : [{ key, synonyms, row }];
  });

/** The provider that these keys make, as the same ones in the environment would; problems name keys instead of variables. */
export function providerFromKeys(
  name: string,
  values: ReadonlyMap<string, string>,
): { readonly provider: OpenIdProviderSettings | undefined; readonly problems: readonly string[] } {
  const suffix = name === '_' ? '' : `_${name}`;
  const variables = new Map<string, string>();
  for (const [key, value] of values) {
    const row = openIdKeys.find((known) => known.key === key)?.row;
    if (row !== undefined) variables.set(row.name + suffix, value);
  }
  const reader = new SettingReader({ variables, readFile: noFile });
  const provider = readProvider(reader, suffix);
  return { provider, problems: reader.problems.map((problem) => withKeys(problem, suffix)) };
}

/** Values come by the keys alone. */
function noFile(path: string): string {
  throw new Error(`${path} is not read`);
}

function withKeys(problem: string, suffix: string): string {
  const longestFirst = openIdKeys.toSorted((a, b) => b.row.name.length - a.row.name.length);
  const found = longestFirst.find(({ row }) => problem.startsWith(row.name + suffix));
  return found === undefined ? problem : found.key + problem.slice(found.row.name.length + suffix.length);
}

/** The keys and values that stand for a provider which was read from the environment; defaults are left out. */
export function keysOf(provider: OpenIdProviderSettings): Map<string, string> {
  const texts: Readonly<Record<string, string | undefined>> = {
    enable: provider.enabled ? 'on' : 'off',
    config_url: provider.configUrl,
    client_id: provider.clientId,
    client_secret: provider.clientSecret,
    display_name: provider.displayName,
    scopes: provider.scopes.join(','),
    claim_name: provider.claimName,
    claim_userinfo: provider.claimUserinfo ? 'on' : 'off',
    role_policy: provider.rolePolicy.join(','),
    redirect_uri: provider.redirectUri,
    redirect_uri_dynamic: provider.redirectUriDynamic ? 'on' : 'off',
    vendor: provider.vendor,
    issuer: provider.issuer,
    jwks_uri: provider.jwksUri,
    keycloak_admin_url: provider.adminUrl,
    keycloak_realm: provider.realm,
    ca_file: provider.caFile,
    ca: provider.ca,
    user_readable_claim: provider.userReadableClaim,
    user_id_claim: provider.userIdClaim,
    comment: provider.comment,
  };
  const found = new Map<string, string>();
  for (const { key, row } of openIdKeys) {
    const value = texts[key];
    if (value !== undefined && value !== '' && (value !== row.default || key === 'enable')) found.set(key, value);
  }
  return found;
}
