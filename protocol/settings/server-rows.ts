import type { Setting, SettingType } from './setting.ts';

/** Makes a row for a setting of the server. Its name in MinIO's deployments differs only at the beginning. */
export function serverRow(name: string, type: SettingType, help: string, more: Partial<Setting> = {}): Setting {
  return {
    name,
    aliases: [name.replace(/^SVC_/, 'MINIO_')],
    type,
    secret: false,
    restart: true,
    scope: 'server',
    help,
    ...more,
  };
}

/** Makes a row for a setting of a web service that receives audit entries. */
function auditWebhook(part: string, type: SettingType, help: string, more: Partial<Setting> = {}): Setting {
  return serverRow(`SVC_AUDIT_WEBHOOK_${part}`, type, help, { scope: 'per-target', ...more });
}

/** The settings of the audit log. */
export const auditRows: readonly Setting[] = [
  serverRow(
    'SVC_AUDIT_FILE',
    { kind: 'path' },
    'File that audit entries are appended to, one JSON document a line; opened anew on SIGHUP, so that it can be rotated. Without it none is written.',
    { aliases: [] },
  ),
  auditWebhook('ENABLE', { kind: 'on-off' }, 'Whether entries are sent, where ENDPOINT names an address.', {
    default: 'on',
  }),
  auditWebhook('ENDPOINT', { kind: 'url' }, 'Address that audit entries are posted to, as JSON.'),
  auditWebhook(
    'AUTH_TOKEN',
    { kind: 'text' },
    'Sent as the header Authorization, as it stands here, e.g. "Bearer SECRET".',
    {
      secret: true,
    },
  ),
  auditWebhook('CLIENT_CERT', { kind: 'path' }, 'Client certificate (PEM) that is presented there.'),
  auditWebhook('CLIENT_KEY', { kind: 'path' }, 'Its private key (PEM).'),
  auditWebhook(
    'CA_FILE',
    { kind: 'path' },
    'CA certificates (PEM) trusted for that address besides those of the system.',
    { aliases: [] },
  ),
  auditWebhook(
    'BATCH_SIZE',
    { kind: 'integer', min: 1, max: 1_000 },
    'Most entries in one request; those of a batch stand on a line each.',
    { default: '1' },
  ),
  auditWebhook(
    'QUEUE_SIZE',
    { kind: 'integer', min: 1, max: 1_000_000 },
    'Entries that wait at most, in memory or in QUEUE_DIR; what comes beyond them is dropped, counted and logged.',
    { default: '10000' },
  ),
  auditWebhook(
    'QUEUE_DIR',
    { kind: 'path' },
    'Folder where entries wait that are not delivered yet, so that they survive a restart; each target needs its own. In memory without it.',
  ),
  auditWebhook(
    'MAX_RETRY',
    { kind: 'integer', min: 0, max: 1_000 },
    'How often an entry is sent again before it is dropped; 0 for as long as it takes.',
    { default: '0' },
  ),
  auditWebhook('RETRY_INTERVAL', { kind: 'duration' }, 'Time between attempts; it doubles up to a minute.', {
    default: '3s',
  }),
  auditWebhook('HTTP_TIMEOUT', { kind: 'duration', min: '1ms' }, 'Time that the address has to answer.', {
    default: '5s',
  }),
];

const text: SettingType = { kind: 'text' };
const onOff: SettingType = { kind: 'on-off' };

/**
 * Makes a row for a setting of another source of identities (a directory, client certificates, a plugin), with its key in `admin config`.
 */
function identity(source: string, part: string, type: SettingType, help: string, more: Partial<Setting> = {}): Setting {
  return serverRow(`SVC_IDENTITY_${source}_${part}`, type, help, { configKeys: [part.toLowerCase()], ...more });
}

/** The settings of the other sources of identities: a directory, client certificates and a plugin. */
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

/** The settings of maintenance. */
export const upkeepRows: readonly Setting[] = [
  serverRow(
    'SVC_STORAGE_RESERVE',
    { kind: 'size', percent: true },
    'Free space below which writes are refused; deletes always work.',
    { default: '1%' },
  ),
  serverRow(
    'SVC_SCRUB_RATE',
    { kind: 'size' },
    'Bytes per second that are read in the background to find damaged objects before anybody asks for them, of all servers together; 0 turns that off.',
    { default: '10MiB', aliases: [] },
  ),
  serverRow(
    'SVC_STORAGE_GARBAGE',
    { kind: 'integer', min: 5, max: 95 },
    'Percent of a segment that may be bytes of deleted objects. Above it, the objects that remain are moved to another segment in the background. What was deleted in the last five minutes, and up to 4 MiB in the segment to which a thread appends, are left alone.',
    { default: '25', aliases: [] },
  ),
  serverRow(
    'SVC_STORAGE_COMPACTION_RATE',
    { kind: 'size' },
    'Bytes per second that are moved between segments in the background, by all servers together, and as many are read. 0: none are moved, and segments give space back only without objects.',
    { default: '64MiB', aliases: [] },
  ),
  serverRow(
    'SVC_STORAGE_PACK',
    onOff,
    'Whether bodies of up to 4 MiB that older servers and copies of stores left as files of their own are moved to segments in the background.',
    { default: 'off', aliases: [] },
  ),
  serverRow(
    'SVC_STORAGE_FORMAT',
    { kind: 'choice', of: ['3', '4'] },
    'Newest format in which records of objects are written. With 3 the deployment stays in the format of the version before, so that one can go back to it, until no server says so any more; versions with ids of other servers are not taken meanwhile.',
    { default: '4', aliases: [] },
  ),
  serverRow(
    'SVC_SCANNER_CYCLE',
    { kind: 'duration' },
    'Rest between two counts of objects and bytes by bucket, by all servers together; at least nine times what the last count took. 0s: they are counted only when somebody asks.',
    { default: '1m' },
  ),
  serverRow(
    'SVC_SCANNER_SPEED',
    { kind: 'choice', of: ['fastest', 'fast', 'default', 'slow', 'slowest'] },
    'Records that such a count reads per second: as many as it can, 100,000, 20,000, 5,000 or 1,000. All walks share it: lifecycle rules, batch jobs, inventories, resyncs of replication and the move of bodies to segments read no more than that together.',
    { default: 'default' },
  ),
  serverRow(
    'SVC_SCANNER_ALERT_EXCESS_VERSIONS',
    { kind: 'integer', min: 2, max: 1_000_000_000 },
    'Versions of a key from which each count sends the event s3:Scanner:ManyVersions to the targets of rules that ask for it.',
    { default: '100' },
  ),
  serverRow(
    'SVC_SCANNER_ALERT_EXCESS_FOLDERS',
    { kind: 'integer', min: 1, max: 1_000_000_000 },
    'Prefixes directly below a prefix above which each count sends the event s3:Scanner:BigPrefix to the targets of rules that ask for it.',
    { default: '50000' },
  ),
  serverRow(
    'SVC_LIFECYCLE_RATE',
    { kind: 'integer', min: 1, max: 1_000_000 },
    'Versions and uploads that lifecycle rules remove per second, by all servers together.',
    { default: '2000', aliases: [] },
  ),
  serverRow(
    'SVC_LIFECYCLE_DAY',
    { kind: 'duration', min: '1s' },
    'Length of a day of lifecycle rules and inventories. A shorter one is for tests: every rule applies that much earlier.',
    { default: '24h', aliases: [] },
  ),
  serverRow(
    'SVC_ACCESS_LOG_INTERVAL',
    { kind: 'duration', min: '1s' },
    'Time between two deliveries of the access logs of buckets. A server that is killed loses the lines since the last one.',
    { default: '1m', aliases: [] },
  ),
];
