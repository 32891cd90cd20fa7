import { serverRow as server } from './server-row.ts';
import type { Setting, SettingType } from './setting.ts';

const text: SettingType = { kind: 'text' };
const onOff: SettingType = { kind: 'on-off' };

/** A setting of another source of identities (a directory, client certificates, a plugin), with its key in `admin config`. */
function identity(source: string, part: string, type: SettingType, help: string, more: Partial<Setting> = {}): Setting {
  return server(`SVC_IDENTITY_${source}_${part}`, type, help, { configKeys: [part.toLowerCase()], ...more });
}

/** The other sources of identities: a directory, client certificates and a plugin. */
export const identityRows: readonly Setting[] = [
  identity('LDAP', 'ENABLE', onOff, 'Whether the directory is asked, where SERVER_ADDR names one.', { default: 'on' }),
  identity(
    'LDAP',
    'SERVER_ADDR',
    { kind: 'text', pattern: /^[^\s/]+$/, expects: 'HOST or HOST:PORT, without ldap://' },
    'HOST:PORT of the LDAP directory, by TLS; port 636, or 389 with SERVER_STARTTLS or SERVER_INSECURE. Lets people in by AssumeRoleWithLDAPIdentity.',
  ),
  identity('LDAP', 'LOOKUP_BIND_DN', text, 'DN that looks people and groups up; anonymous without it.'),
  identity('LDAP', 'LOOKUP_BIND_PASSWORD', text, 'Its password.', { secret: true }),
  identity('LDAP', 'USER_DN_SEARCH_BASE_DN', text, 'DN below which people are; several separated by semicolons.'),
  identity(
    'LDAP',
    'USER_DN_SEARCH_FILTER',
    { kind: 'text', pattern: /^\(.*%s.*\)$/, expects: 'a filter in brackets with %s for the name, e.g. (uid=%s)' },
    'Filter that finds a person; %s stands for the name that they give, escaped.',
  ),
  identity('LDAP', 'GROUP_SEARCH_BASE_DN', text, 'DN below which groups are; several separated by semicolons.'),
  identity(
    'LDAP',
    'GROUP_SEARCH_FILTER',
    {
      kind: 'text',
      pattern: /^\(.*\)$/,
      expects: 'a filter in brackets, e.g. (&(objectclass=groupOfNames)(member=%d))',
    },
    'Filter that finds the groups of a person; %d stands for their DN, %s for their name.',
  ),
  identity(
    'LDAP',
    'CA_FILE',
    { kind: 'path' },
    'CA certificates (PEM) trusted for the directory besides those of the system.',
    {
      aliases: [],
    },
  ),
  identity('LDAP', 'TLS_SKIP_VERIFY', onOff, 'Takes any certificate of the directory. For tests.', { default: 'off' }),
  identity('LDAP', 'SERVER_STARTTLS', onOff, 'Begins TLS within a plain connection (StartTLS).', { default: 'off' }),
  identity('LDAP', 'SERVER_INSECURE', onOff, 'Sends passwords to the directory without TLS. For tests.', {
    default: 'off',
  }),
  identity('LDAP', 'COMMENT', text, 'For people; not used.'),

  identity(
    'TLS',
    'ENABLE',
    onOff,
    'Lets programs in by client certificate (AssumeRoleWithCertificate); its common name is the name of their policy.',
    {
      default: 'off',
    },
  ),
  identity(
    'TLS',
    'CA_FILE',
    { kind: 'path' },
    'CA certificates (PEM), or a folder of them, that may sign client certificates.',
    {
      aliases: [],
    },
  ),
  identity(
    'TLS',
    'SKIP_VERIFY',
    onOff,
    'Takes client certificates of any authority: then anybody may have any policy. For tests.',
    {
      default: 'off',
    },
  ),

  identity('PLUGIN', 'ENABLE', onOff, 'Whether the plugin is asked, where URL names one.', { default: 'on' }),
  identity(
    'PLUGIN',
    'URL',
    { kind: 'url' },
    'Address of a service that knows what tokens are worth (AssumeRoleWithCustomToken).',
  ),
  identity('PLUGIN', 'AUTH_TOKEN', text, 'Sent to it as the header Authorization, e.g. "Bearer SECRET".', {
    secret: true,
    aliases: ['MINIO_IDENTITY_PLUGIN_AUTH_TOKEN', 'MINIO_IDENTITY_PLUGIN_TOKEN'],
    configKeys: ['auth_token', 'token'],
  }),
  identity('PLUGIN', 'ROLE_POLICY', { kind: 'list' }, 'Policies of everyone whom the plugin lets in.'),
  identity(
    'PLUGIN',
    'ROLE_ID',
    { kind: 'text', pattern: /^[A-Za-z0-9_-]{1,64}$/, expects: '1 to 64 of A-Z a-z 0-9 _ -' },
    'Name in the RoleArn that clients send: arn:minio:iam:REGION::role/idmp-<this>; without it, made of the address.',
  ),
  identity(
    'PLUGIN',
    'CA_FILE',
    { kind: 'path' },
    'CA certificates (PEM) trusted for the plugin besides those of the system.',
    {
      aliases: [],
    },
  ),
  identity('PLUGIN', 'COMMENT', text, 'For people; not used.'),
];
