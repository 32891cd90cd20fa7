import { settings } from '../../protocol/settings/table.ts';
import type { Setting } from '../../protocol/settings/setting.ts';
import { SettingReader, group } from './setting-source.ts';
import type { OpenIdProviderSettings } from './server-settings.ts';
import type { ConfigKey } from './config-subsystems.ts';
import { isOfMinioAlone } from './unknown-variables.ts';

/** Lists the suffixes for which a variable exists, in the order of their names; `''` means none. */
export function suffixesOf(scope: Exclude<Setting['scope'], 'server'>, names: Iterable<string>, prefix = ''): string[] {
  const bases = settings
    .filter((row) => row.scope === scope && row.name.startsWith(prefix))
    .flatMap((row) => [row.name, ...row.aliases])
    .sort((a, b) => b.length - a.length);
  const found = new Set<string>();
  for (const name of names) {
    const base = bases.find((candidate) => name === candidate || name.startsWith(`${candidate}_`));
    if (base === undefined || isOfMinioAlone(name)) continue;
    const suffix = name
      .slice(base.length)
      .replace(/^_FILE(?=_|$)/, '')
      .replace(/_FILE$/, '');
    if (suffix === '' || /^_[A-Za-z0-9_-]+$/.test(suffix)) found.add(suffix);
  }
  return [...found].sort();
}

/** Reads the settings of the provider with this suffix. Returns undefined if they are not valid; the reader collects the problems. */
export function readProvider(reader: SettingReader, suffix: string): OpenIdProviderSettings | undefined {
  const read = group(reader, 'SVC_IDENTITY_OPENID_', suffix);
  const id = suffix === '' ? '_' : suffix.slice(1);
  const vendor = read.text('VENDOR');
  const clientMethod = read.text('CLIENT_AUTH');
  const inCluster = vendor === 'kubernetes' && read.text('CONFIG_URL') === undefined;
  const configUrl = inCluster ? cluster.configUrl : read.text('CONFIG_URL');
  const clientId = read.text('CLIENT_ID');
  const enabled = read.onOff('ENABLE');
  if (!enabled && (configUrl === undefined || clientId === undefined)) return undefined;
  for (const [part, value] of [['CONFIG_URL', configUrl] as const, ['CLIENT_ID', clientId] as const]) {
    const problem = `SVC_IDENTITY_OPENID_${part}${suffix} is missing: the provider ${id} cannot be used without it`;
    if (value === undefined) read.require(part, problem);
  }
  if (configUrl === undefined || clientId === undefined) return undefined;
  return {
    id,
    enabled,
    configUrl,
    clientId,
    ...read.optional('clientSecret', 'CLIENT_SECRET'),
    ...(clientMethod === 'client_secret_basic' || clientMethod === 'client_secret_post' ? { clientMethod } : {}),
    ...read.optional('cliClientId', 'CLI_CLIENT_ID'),
    ...read.optional('displayName', 'DISPLAY_NAME'),
    scopes: read.list('SCOPES'),
    claimName: `${read.text('CLAIM_PREFIX') ?? ''}${read.text('CLAIM_NAME') ?? 'policy'}`,
    claimUserinfo: read.onOff('CLAIM_USERINFO'),
    rolePolicy: read.list('ROLE_POLICY'),
    ...read.optional('redirectUri', 'REDIRECT_URI'),
    redirectUriDynamic: read.onOff('REDIRECT_URI_DYNAMIC'),
    ...(vendor === 'keycloak' || vendor === 'kubernetes' ? { vendor } : {}),
    ...read.optional('issuer', 'ISSUER'),
    ...read.optional('jwksUri', 'JWKS_URI'),
    ...(inCluster ? { tokenFile: cluster.tokenFile, caFile: cluster.caFile } : {}),
    ...read.optional('tokenFile', 'TOKEN_FILE'),
    ...read.optional('adminUrl', 'IDP_ADMIN_URL'),
    realm: read.text('IDP_REALM') ?? 'master',
    ...read.optional('caFile', 'CA_FILE'),
    ...pem(read.text('CA')),
    ...read.optional('userReadableClaim', 'USER_READABLE_CLAIM'),
    ...read.optional('userIdClaim', 'USER_ID_CLAIM'),
    ...read.optional('comment', 'COMMENT'),
  };
}

/** The address of the API server inside a pod, and the files for its authentication. */
const cluster = {
  configUrl: 'https://kubernetes.default.svc/.well-known/openid-configuration',
  tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  caFile: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
} as const;

/** Replaces `\n`: lines of environment files and of the admin API cannot contain a line end. */
function pem(text: string | undefined): { ca?: string } {
  return text === undefined ? {} : { ca: text.replaceAll('\\n', '\n') };
}

const rows: readonly Setting[] = settings;

export const openIdKeys: readonly ConfigKey[] = rows
  .filter(({ scope }) => scope === 'per-provider')
  .flatMap((row) => {
    const [key, ...synonyms] = row.configKeys ?? [];
    return key === undefined ? [] : [{ key, synonyms, row }];
  });

/** Reads a provider from keys, as the environment would give it. Problems name keys instead of variables. */
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
  return { provider, problems: reader.problems.map((issue) => withKeys(issue, suffix)) };
}

/** The keys have no files. */
function noFile(path: string): string {
  throw new Error(`${path} is not read`);
}

function withKeys(issue: string, suffix: string): string {
  const byLength = openIdKeys.toSorted((a, b) => b.row.name.length - a.row.name.length);
  const found = byLength.find(({ row }) => issue.startsWith(row.name + suffix));
  return found === undefined ? issue : found.key + issue.slice(found.row.name.length + suffix.length);
}

/** Writes a provider of the environment as keys and values, without defaults. */
export function keysOf(provider: OpenIdProviderSettings): Map<string, string> {
  const texts: Readonly<Record<string, string | undefined>> = {
    enable: provider.enabled ? 'on' : 'off',
    config_url: provider.configUrl,
    client_id: provider.clientId,
    client_secret: provider.clientSecret,
    client_auth: provider.clientMethod,
    cli_client_id: provider.cliClientId,
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
