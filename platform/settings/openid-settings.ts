import { settings } from '../../protocol/settings/table.ts';
import type { Setting } from '../../protocol/settings/setting.ts';
import type { SettingReader } from './setting-source.ts';
import type { OpenIdProviderSettings } from './server-settings.ts';
import { group } from './group.ts';

/** The suffixes for which a variable exists, in the order of their names; `''` stands for none. */
export function suffixesOf(scope: Exclude<Setting['scope'], 'server'>, names: Iterable<string>): string[] {
  const bases = settings
    .filter((row) => row.scope === scope)
    .flatMap((row) => [row.name, ...row.aliases])
    .sort((a, b) => b.length - a.length);
  const found = new Set<string>();
  for (const name of names) {
    const base = bases.find((candidate) => name === candidate || name.startsWith(`${candidate}_`));
    if (base === undefined) continue;
    const suffix = name
      .slice(base.length)
      .replace(/^_FILE(?=_|$)/, '')
      .replace(/_FILE$/, '');
    if (suffix === '' || /^_[A-Za-z0-9_-]+$/.test(suffix)) found.add(suffix);
  }
  return [...found].sort();
}

/** The settings of the provider with this suffix; undefined when it is unusable, with the problems in the reader. */
export function readProvider(reader: SettingReader, suffix: string): OpenIdProviderSettings | undefined {
  const read = group(reader, 'SVC_IDENTITY_OPENID_', suffix);
  const id = suffix === '' ? '_' : suffix.slice(1);
  const vendor = read.text('VENDOR');
  const inCluster = vendor === 'kubernetes' && read.text('CONFIG_URL') === undefined;
  const configUrl = inCluster ? cluster.configUrl : read.text('CONFIG_URL');
  const clientId = read.text('CLIENT_ID');
  const enabled = read.onOff('ENABLE');
  if (!enabled && (configUrl === undefined || clientId === undefined)) return undefined;
  for (const [part, value] of [['CONFIG_URL', configUrl] as const, ['CLIENT_ID', clientId] as const]) {
    if (value === undefined)
      reader.problems.push(
        `SVC_IDENTITY_OPENID_${part}${suffix} is missing: the provider ${id} cannot be used without it`,
      );
  }
  if (configUrl === undefined || clientId === undefined) return undefined;
  return {
    id,
    enabled,
    configUrl,
    clientId,
    ...read.optional('clientSecret', 'CLIENT_SECRET'),
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

/** Where a pod finds the API server of its cluster, and what it needs to talk to it. */
const cluster = {
  configUrl: 'https://kubernetes.default.svc/.well-known/openid-configuration',
  tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  caFile: '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt',
} as const;

/** Lines of environment files and of the admin API cannot hold a line end. */
function pem(text: string | undefined): { ca?: string } {
  return text === undefined ? {} : { ca: text.replaceAll('\\n', '\n') };
}
