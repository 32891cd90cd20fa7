import { notifyRows } from './notify-rows.ts';
import { auditRows, identityRows, serverRow as server, upkeepRows } from './server-rows.ts';
import type { Setting, SettingType } from './setting.ts';

const text: SettingType = { kind: 'text' };
const onOff: SettingType = { kind: 'on-off' };

/** Makes a row for a setting of the key service. `MINIO_KMS_KES_*` is its name in MinIO's deployments. */
function keyService(part: string, type: SettingType, help: string, more: Partial<Setting> = {}): Setting {
  return server(`SVC_KMS_KEYSVC_${part}`, type, help, { aliases: [`MINIO_KMS_KES_${part}`], ...more });
}

/** Makes a row for a setting of an OpenID provider, with the key that `admin idp openid add` takes. */
function openid(part: string, type: SettingType, help: string, more: Partial<Setting> = {}): Setting {
  return {
    name: `SVC_IDENTITY_OPENID_${part}`,
    aliases: [`MINIO_IDENTITY_OPENID_${part}`],
    type,
    secret: false,
    restart: true,
    scope: 'per-provider',
    configKeys: [part.toLowerCase()],
    help,
    ...more,
  };
}

/** Every setting, in the order of the documentation. */
export const settings = [
  server(
    'SVC_ROOT_USER',
    {
      kind: 'text',
      pattern: /^[^\s,\p{Cc}][^,\p{Cc}]{1,126}[^\s,\p{Cc}]$/u,
      expects: 'at least 3 characters without a comma, which no client could sign with',
    },
    'Access key of the root user. Without it the server refuses to start.',
    {
      secret: true,
      aliases: ['MINIO_ROOT_USER', 'MINIO_ACCESS_KEY'],
    },
  ),
  server(
    'SVC_ROOT_PASSWORD',
    { kind: 'text', pattern: /^.{8,}$/s, expects: 'at least 8 characters' },
    'Secret key of the root user. Without it the server refuses to start.',
    {
      secret: true,
      aliases: ['MINIO_ROOT_PASSWORD', 'MINIO_SECRET_KEY'],
    },
  ),
  server(
    'SVC_ROOT_FORMER_FILE',
    { kind: 'path' },
    'File with the user and the password of the root user before a rotation, a line each: good beside those of now until the file is emptied. Re-read, at most once a second.',
  ),
  server(
    'SVC_DEPLOYMENT_FILE',
    { kind: 'path' },
    'File of the operator, in JSON: the ID of the deployment whose stores the server may have (`expected`), and of another one that was accepted (`accepted`), and the Tenant whose server it is (`tenant`), which the records of a database name. With another or an empty store, or that of another Tenant, the server waits. Without the setting it takes any.',
  ),
  server(
    'SVC_REGION',
    text,
    'Region that the server answers for and expects in signatures; without it any region is accepted in signatures.',
    {
      default: 'us-east-1',
      aliases: ['SVC_SITE_REGION', 'MINIO_SITE_REGION', 'MINIO_REGION', 'MINIO_REGION_NAME'],
    },
  ),
  server(
    'SVC_IGNORED_VARIABLES',
    { kind: 'list' },
    'Names of MINIO_ variables that the deployment sets and that Coffer does not honour, separated by commas. Without it, one that changes security or durability stops the start.',
  ),
  server('SVC_ADDRESS', text, 'HOST:PORT of the S3 API; --address wins.', { default: '0.0.0.0:9000' }),
  server('SVC_WEBSITE_ADDRESS', text, 'HOST:PORT of the websites of buckets; none by default.'),
  server('SVC_CONSOLE_ADDRESS', text, 'HOST:PORT of the console; --console-address wins.', { default: '0.0.0.0:9090' }),
  server('SVC_VOLUMES', { kind: 'path' }, 'Data folder, where none is given as an argument.'),
  server(
    'SVC_SERVER_URL',
    { kind: 'url' },
    'Address under which clients reach the S3 API, for what the console shows.',
  ),
  server(
    'SVC_DOMAIN',
    { kind: 'list' },
    'Host names of the S3 API, separated by commas. The name below one of them is a bucket: https://BUCKET.s3.example.com/KEY (virtual-host style). Without it the server has path style alone.',
    { aliases: ['MINIO_DOMAIN'] },
  ),
  server(
    'SVC_API_SIGNATURE_V2',
    { kind: 'choice', of: ['presigned', 'on', 'off'] },
    'The S3 requests that may be signed by Signature Version 2: presigned URLs and forms, as boto3 and AWS CLI v1 make them by default, headers too (on), or none (off).',
    { default: 'presigned', aliases: [] },
  ),
  server(
    'SVC_API_ACL',
    { kind: 'choice', of: ['ignore', 'refuse'] },
    'What happens to a canned ACL (x-amz-acl) of an upload or a new bucket where ACLs do not count, as in every bucket without ownership controls: it is ignored, and nothing of it is stored, or the request is refused as in AWS (refuse).',
    { default: 'ignore', aliases: [] },
  ),
  server(
    'SVC_API_CORS_ALLOW_ORIGIN',
    { kind: 'list' },
    'Origins whose pages may use the S3 API and STS (CORS), separated by commas. One asterisk in an origin stands for any text, "none" allows no page. The CORS configuration of a bucket decides instead where it has one.',
    { default: '*' },
  ),
  server(
    'SVC_API_SELECT_PROCESSOR_TIME',
    { kind: 'duration', min: '1s', max: '24h' },
    'Processor time that a query of S3 Select may use. One that needs more ends with OverMaxProcessorTime.',
    { default: '5m', aliases: [] },
  ),
  server(
    'SVC_API_SELECT_DECOMPRESSED',
    { kind: 'size' },
    'Bytes to which a compressed object, or the pages of a Parquet file, may expand in a query of S3 Select. One that expands to more ends with OverMaxDecompressedSize.',
    { default: '64GiB', aliases: [] },
  ),
  server('SVC_BROWSER', onOff, 'Whether the console is served.', { default: 'on' }),
  server(
    'SVC_BROWSER_REDIRECT_URL',
    { kind: 'url' },
    'Address under which browsers reach the console, behind a proxy; the OpenID redirect address is <this>/oauth_callback.',
  ),
  server(
    'SVC_BROWSER_REDIRECT_HOSTS',
    { kind: 'list' },
    'HOST or HOST:PORT, comma-separated, to which redirect_uri_dynamic may send browsers back; *.DOMAIN is every name below it. Without it: whatever the identity provider has registered.',
    { aliases: [] },
  ),
  server(
    'SVC_TRUSTED_PROXIES',
    { kind: 'list' },
    'Addresses and ranges (10.0.0.0/8) of the proxies before S3 and the console, comma-separated: what they say of the client is taken, for aws:SourceIp, sign-in limits, log and audit.',
    { aliases: [] },
  ),
  server(
    'SVC_TRUSTED_PROXY_HEADER',
    { kind: 'choice', of: ['x-forwarded-for', 'forwarded'] },
    'The header in which they name the client. They must set it or append to it, whatever a client sends.',
    { default: 'x-forwarded-for', aliases: [] },
  ),
  server('SVC_THREADS', { kind: 'integer', min: 1, max: 256 }, 'HTTP threads; as many as cores without it.'),
  server('SVC_LOG_LEVEL', { kind: 'choice', of: ['debug', 'info', 'warn', 'error'] }, 'How much is logged.', {
    default: 'info',
  }),
  server(
    'SVC_PROMETHEUS_AUTH_TYPE',
    { kind: 'choice', of: ['jwt', 'public'] },
    'Who reads the metrics below /minio/v2/metrics/: those with a token made by "mc admin prometheus generate", or everybody.',
    { default: 'jwt' },
  ),
  server(
    'SVC_SHUTDOWN_DELAY',
    { kind: 'duration' },
    'How long a server that is told to stop goes on taking requests after it said that it is not ready, so that load balancers hear of it.',
    { default: '0s' },
  ),
  server(
    'SVC_SHUTDOWN_REFUSAL',
    { kind: 'duration' },
    'How long after that it answers requests by 503 with the wish to come again in 5 seconds, before it stops listening. For a server without another beside it: the clients of AWS wait so long by themselves, and so sit out its restart.',
    { default: '0s' },
  ),
  server(
    'SVC_TLS_CERT_FILE',
    { kind: 'path' },
    'Certificate chain (PEM) of the S3 API and the console; re-read when it changes.',
  ),
  server('SVC_TLS_KEY_FILE', { kind: 'path' }, 'Private key (PEM) of SVC_TLS_CERT_FILE.'),
  server(
    'SVC_STORE_RECORDS',
    {
      kind: 'text',
      pattern: /^(postgres(ql)?:\/\/\S+|lmdb:.*)$/,
      expects: 'postgres://USER:PASSWORD@HOST/DATABASE, or lmdb:FOLDER',
    },
    'Where records are kept: a PostgreSQL database, which several servers can share, or records/ in a folder of one server; in the data folder without it.',
    { secret: true, aliases: [] },
  ),
  server('SVC_STORE_RECORDS_PASSWORD', text, 'Password at that database, where the address has none.', {
    secret: true,
    aliases: [],
  }),
  server(
    'SVC_STORE_RECORDS_CA_FILE',
    { kind: 'path' },
    'Authorities (PEM) that may have signed the certificate of that database, instead of those of the system; read again for each connection. The same as sslrootcert in its address.',
    { aliases: [] },
  ),
  server(
    'SVC_STORE_BLOBS',
    {
      kind: 'text',
      pattern: /^(\/|files:|s3:\/\/[a-z0-9])/,
      expects: 'the path of a folder, files:FOLDER, or s3://BUCKET/PREFIX',
    },
    'Where the contents of objects are kept: a folder that all servers share, or a bucket of another S3; in the data folder without it.',
    { aliases: [] },
  ),
  server('SVC_STORE_BLOBS_S3_ENDPOINT', { kind: 'url' }, 'Address of that other S3.', { aliases: [] }),
  server(
    'SVC_STORE_BLOBS_S3_CA_FILE',
    { kind: 'path' },
    'Authorities (PEM) that may have signed the certificate of that other S3, besides those of the system; read at the start.',
    { aliases: [] },
  ),
  server('SVC_STORE_BLOBS_S3_REGION', text, 'Region of that other S3.', { default: 'us-east-1', aliases: [] }),
  server('SVC_STORE_BLOBS_S3_ACCESS_KEY', text, 'Access key at that other S3.', { secret: true, aliases: [] }),
  server('SVC_STORE_BLOBS_S3_SECRET_KEY', text, 'Secret key at that other S3.', { secret: true, aliases: [] }),
  ...upkeepRows,
  server(
    'SVC_STS_DURATION',
    { kind: 'duration', min: '15m', max: '365d' },
    'Lifetime of temporary credentials where the request names none; the token bounds it.',
  ),
  server(
    'SVC_CONSOLE_SESSION_DURATION',
    { kind: 'duration', min: '15m', max: '365d' },
    'Lifetime of a console sign-in.',
    {
      default: '12h',
      aliases: ['MINIO_BROWSER_SESSION_DURATION'],
    },
  ),

  keyService(
    'ENDPOINT',
    { kind: 'url', list: true },
    'https://HOST:7373 of the key service; several, comma-separated, are used in turn. Sets encryption up.',
  ),
  keyService(
    'KEY_NAME',
    { kind: 'text', pattern: /^[A-Za-z0-9_-]{1,80}$/, expects: '1 to 80 of A-Z a-z 0-9 _ -' },
    'Default key: encrypts the backend, SSE-S3, and SSE-KMS where the request names no key.',
  ),
  keyService(
    'CERT_FILE',
    { kind: 'path' },
    'Client certificate (PEM) presented to the key service; re-read when it changes.',
  ),
  keyService('KEY_FILE', { kind: 'path' }, 'Private key (PEM) of the client certificate.'),
  keyService('KEY_PASSWORD', text, 'Password of an encrypted client key.', { secret: true }),
  keyService(
    'CAPATH',
    { kind: 'path' },
    'CA certificate (PEM), or a folder of them, that the certificate of the key service is checked against.',
  ),
  keyService('ENCLAVE', text, 'Enclave whose keys are used; when unset none is sent.'),
  keyService('API_KEY', text, 'API key (kes:v1:…) in place of a client certificate.', { secret: true }),
  server(
    'SVC_KMS_SECRET_KEY',
    {
      kind: 'text',
      pattern: /^[A-Za-z0-9_-]{1,80}:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/,
      expects: 'NAME:BASE64, the base64 of 32 random bytes: my-key:$(openssl rand -base64 32)',
    },
    'One key, given here, in place of a key service: whoever has the environment has every object. Lost, everything encrypted is lost.',
    { secret: true },
  ),
  server(
    'SVC_KMS_AUTO_ENCRYPTION',
    onOff,
    'Encrypts every object with SSE-KMS under the default key where neither request nor bucket asks for encryption.',
    { default: 'off' },
  ),
  server(
    'SVC_KMS_SSE_C_WITHOUT_TLS',
    onOff,
    'Takes keys of clients (SSE-C) over plain HTTP too: for tests, and behind a proxy that ends TLS on the same machine.',
    { default: 'off', aliases: [] },
  ),

  server(
    'SVC_IDENTITY_OPENID_CHECK_INTERVAL',
    { kind: 'duration' },
    'How often people who have credentials are looked up at the admin interface of providers with a vendor, and in the directory; 0s turns that off.',
    { default: '10m', aliases: [] },
  ),
  server(
    'SVC_IDENTITY_OPENID_CHECK_UNREACHABLE',
    { kind: 'choice', of: ['keep', 'refuse'] },
    'While those cannot be asked: give people credentials (keep), or none (refuse). Credentials that exist stay either way.',
    { default: 'keep', aliases: [] },
  ),
  ...identityRows,

  ...auditRows,

  ...notifyRows,

  openid('ENABLE', onOff, 'Whether the provider is used.', { default: 'on' }),
  openid(
    'CONFIG_URL',
    { kind: 'url' },
    'Address of the discovery document, ending in /.well-known/openid-configuration.',
  ),
  openid('CLIENT_ID', text, 'Client made at the provider for this service.'),
  openid('CLIENT_SECRET', text, 'Secret of that client.', { secret: true }),
  openid(
    'CLIENT_AUTH',
    { kind: 'choice', of: ['client_secret_basic', 'client_secret_post'] },
    'How the client proves its secret: in the header or in the form. Without it each way is tried, and the accepted one is remembered.',
  ),
  openid(
    'CLI_CLIENT_ID',
    text,
    'Public client made at the provider for `coffer login`, whose tokens are accepted too; the client itself if it has no secret.',
  ),
  openid('DISPLAY_NAME', text, "Label of the console's sign-in button."),
  openid(
    'SCOPES',
    { kind: 'list' },
    'Scopes asked for, comma-separated; without it `openid` and what the claims of this provider need.',
  ),
  openid('CLAIM_NAME', text, 'Claim whose values name policies.', { default: 'policy' }),
  openid('CLAIM_PREFIX', text, 'Put before the name of the claim. Deprecated: give the whole name as claim_name.'),
  openid('CLAIM_USERINFO', onOff, 'Whether claims of the userinfo endpoint are added.', { default: 'off' }),
  openid(
    'ROLE_POLICY',
    { kind: 'list' },
    'Policies of everyone who logs in by this provider; then the claim is not used.',
  ),
  openid(
    'REDIRECT_URI',
    { kind: 'url' },
    'Fixed redirect address, ending in /oauth_callback. Deprecated: set SVC_BROWSER_REDIRECT_URL.',
  ),
  openid('REDIRECT_URI_DYNAMIC', onOff, 'Uses the address that the browser used (Host) for the redirect address.', {
    default: 'off',
  }),
  openid(
    'VENDOR',
    { kind: 'choice', of: ['keycloak', 'kubernetes'] },
    'keycloak turns the check of users at the admin interface on; kubernetes takes service-account tokens of a cluster, by default of the one that the server runs in, whose audience is client_id.',
  ),
  openid(
    'ISSUER',
    text,
    'Issuer that discovery and tokens must have, where it differs from config_url: a provider behind another address.',
  ),
  openid(
    'JWKS_URI',
    { kind: 'url' },
    'With vendor kubernetes: where the keys of the issuer are; with ISSUER nothing is discovered.',
  ),
  openid(
    'TOKEN_FILE',
    { kind: 'path' },
    'With vendor kubernetes: token with which discovery and keys are read, anew each time; that of the pod in its own cluster. Only in the environment: it is sent to config_url.',
    { configKeys: [] },
  ),
  openid('IDP_ADMIN_URL', { kind: 'url' }, 'Admin interface of the provider, for Keycloak ending in /admin.', {
    aliases: [
      'SVC_IDENTITY_OPENID_KEYCLOAK_ADMIN_URL',
      'MINIO_IDENTITY_OPENID_KEYCLOAK_ADMIN_URL',
      'MINIO_IDENTITY_OPENID_IDP_ADMIN_URL',
    ],
    configKeys: ['keycloak_admin_url', 'idp_admin_url'],
  }),
  openid('IDP_REALM', text, 'Realm at the provider.', {
    default: 'master',
    aliases: [
      'SVC_IDENTITY_OPENID_KEYCLOAK_REALM',
      'MINIO_IDENTITY_OPENID_KEYCLOAK_REALM',
      'MINIO_IDENTITY_OPENID_IDP_REALM',
    ],
    configKeys: ['keycloak_realm', 'idp_realm'],
  }),
  openid(
    'CA_FILE',
    { kind: 'path' },
    'CA certificates (PEM) trusted for this provider besides those of the system; re-read when the file changes.',
  ),
  openid(
    'CA',
    { kind: 'text', pattern: /-----BEGIN CERTIFICATE-----/, expects: 'certificates in PEM form' },
    'The same certificates themselves, for servers that cannot be given a file; \\n stands for a line end.',
  ),
  openid(
    'USER_READABLE_CLAIM',
    text,
    'Claim by which people recognise each other; preferred_username, else email, without it.',
  ),
  openid('USER_ID_CLAIM', text, 'Claim by which the admin interface of the provider knows people; sub without it.'),
  openid('COMMENT', text, 'For people; not used.'),
] as const satisfies readonly Setting[];

/** Finds the setting with this name (aliases do not count). A wrong name is a defect of the program. */
export function setting(name: string): Setting {
  const found = settings.find((row) => row.name === name);
  if (found === undefined) throw new Error(`no setting is called ${name}`);
  return found;
}
