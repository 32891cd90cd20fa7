import { fileErrorReason } from '../errors/system-error.ts';
import { ProgramError } from '../errors/program-error.ts';
import { parseRange } from '../../protocol/policy/ip-range.ts';
import type { Setting } from '../../protocol/settings/setting.ts';
import { setting, settings } from '../../protocol/settings/table.ts';
import { readSettingFile } from './read-setting-file.ts';
import { parseEnvFile, group, SettingReader, type GivenSetting } from './setting-source.ts';
import { mergeVariables } from './merge-variables.ts';
import { readNotifySettings } from './notify-settings.ts';
import { readAuditSettings } from './audit-settings.ts';
import { readIdentitySources } from './identity-settings.ts';
import { clientClash, openIdContradictions } from './openid-contradictions.ts';
import { settingsWithoutEffect } from './settings-without-effect.ts';
import { readProvider, suffixesOf } from './openid-settings.ts';
import {
  readLifecycleSettings,
  readScannerSettings,
  hasKeys,
  type KeyServiceSettings,
  type SecretKeySettings,
  type ServerSettings,
  type StoreSettings,
} from './server-settings.ts';
import type { Size } from './parse-value.ts';
import { misspelt, unknownVariables, unsafeToIgnore, withoutName } from './unknown-variables.ts';

export type {
  KeyServiceSettings,
  OpenIdProviderSettings,
  SecretKeySettings,
  ServerSettings,
} from './server-settings.ts';

const defaultEnvFile = '/etc/default/coffer';
const oneDay = 24 * 60 * 60 * 1_000;

/**
 * Loads the server's settings from the environment and the environment file (`SVC_CONFIG_ENV_FILE`, else `/etc/default/coffer` if it
 * exists). The process environment wins.
 *
 * @throws ProgramError with every problem at once
 */
export function loadSettings({
  env,
  readFile = readSettingFile,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile?: (path: string) => string;
}): ServerSettings {
  const { variables, warnings } = readVariables(env, readFile);
  const reader = new SettingReader({ variables, readFile });
  const server = group(reader, 'SVC_');
  const root = readRoot(reader);
  const keyService = readKeyService(reader);
  const secretKey = readSecretKey(reader);
  const tls = readTls(reader);
  const openid = readProviders(reader, suffixesOf('per-provider', variables.keys()));
  const browserRedirect = server.optional('redirectUrl', 'BROWSER_REDIRECT_URL');
  const threads = server.number('THREADS');
  const stsDurationMs = server.number('STS_DURATION');
  const loaded: ServerSettings = {
    root,
    ...server.optional('formerRootFile', 'ROOT_FORMER_FILE'),
    ...server.optional('deploymentFile', 'DEPLOYMENT_FILE'),
    region: server.text('REGION') ?? 'us-east-1',
    regionEnforced: settings.some((row) => row.name === 'SVC_REGION' && reader.has(row)),
    address: server.text('ADDRESS') ?? '',
    consoleAddress: server.text('CONSOLE_ADDRESS') ?? '',
    ...server.optional('websiteAddress', 'WEBSITE_ADDRESS'),
    ...server.optional('dataFolder', 'VOLUMES'),
    ...server.optional('serverUrl', 'SERVER_URL'),
    domains: readDomains(reader),
    signatureV2: signatureV2(server.text('API_SIGNATURE_V2')),
    cannedAcls: cannedAcls(server.text('API_ACL')),
    corsOrigins: readCorsOrigins(reader),
    browser: {
      enabled: server.onOff('BROWSER'),
      ...browserRedirect,
      redirectHosts: server.list('BROWSER_REDIRECT_HOSTS'),
      sessionMs: server.number('CONSOLE_SESSION_DURATION') ?? oneDay / 2,
    },
    proxies: readProxies(reader),
    ...(threads === undefined ? {} : { threads }),
    audit: readAuditSettings(reader, suffixesOf('per-target', variables.keys(), 'SVC_AUDIT_')),
    notify: readNotifySettings(reader, (prefix) => suffixesOf('per-target', variables.keys(), prefix)),
    metricsAuthorization: metricsAuthorization(server.text('PROMETHEUS_AUTH_TYPE')),
    logLevel: logLevel(server.text('LOG_LEVEL')),
    ...(tls === undefined ? {} : { tls }),
    ...readUpkeep(reader),
    scanner: readScannerSettings(reader),
    lifecycle: readLifecycleSettings(reader),
    accessLogIntervalMs: readAccessLogInterval(reader),
    stores: readStores(reader),
    shutdownDelayMs: server.number('SHUTDOWN_DELAY') ?? 0,
    shutdownRefusalMs: server.number('SHUTDOWN_REFUSAL') ?? 0,
    ...(stsDurationMs === undefined ? {} : { stsDurationMs }),
    ...(keyService === undefined ? {} : { keyService }),
    ...(secretKey === undefined ? {} : { secretKey }),
    autoEncryption: server.onOff('KMS_AUTO_ENCRYPTION'),
    customerKeysWithoutTls: server.onOff('KMS_SSE_C_WITHOUT_TLS'),
    queryBudget: {
      processorMs: server.number('API_SELECT_PROCESSOR_TIME') ?? 300_000,
      decompressedBytes: bytesOf(server.read('API_SELECT_DECOMPRESSED')),
    },
    openid,
    userStatusCheck: {
      intervalMs: server.number('IDENTITY_OPENID_CHECK_INTERVAL') ?? 10 * 60_000,
      unreachable: server.text('IDENTITY_OPENID_CHECK_UNREACHABLE') === 'refuse' ? 'refuse' : 'keep',
    },
    ...readIdentitySources(reader),
    given: givenSettings(reader, suffixesOf('per-target', variables.keys())),
    warnings: [
      ...unknownVariables(variables.keys()).map((name) => `${name} is no setting of Coffer and is ignored`),
      ...wellKnownRoot(root),
      ...warnings,
    ],
  };
  reader.problems.push(...settingsWithoutEffect(reader), ...withoutName(variables.keys()));
  reader.problems.push(...misspelt(variables.keys(), server.list('IGNORED_VARIABLES')));
  reader.problems.push(...unsafeToIgnore(variables, server.list('IGNORED_VARIABLES')));
  if (loaded.autoEncryption && !hasKeys(loaded)) {
    reader.problems.push(
      'SVC_KMS_AUTO_ENCRYPTION is on, but no key service is set: set SVC_KMS_KEYSVC_ENDPOINT, or SVC_KMS_SECRET_KEY',
    );
  }
  if (keyService !== undefined && secretKey !== undefined) {
    reader.problems.push(
      'SVC_KMS_SECRET_KEY excludes SVC_KMS_KEYSVC_ENDPOINT: to move to a key service, import the key there by its name and unset the former',
    );
  }
  refuseProblems(reader);
  return loaded;
}

/**
 * Loads the settings of the stores from the same sources, for programs that are not servers and have no root credentials.
 *
 * @throws ProgramError with every problem at once
 */
export function loadStoreSettings({
  env,
  readFile = readSettingFile,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile?: (path: string) => string;
}): Pick<ServerSettings, 'stores' | 'dataFolder'> {
  const reader = new SettingReader({ variables: readVariables(env, readFile).variables, readFile });
  const loaded = { stores: readStores(reader), ...group(reader, 'SVC_').optional('dataFolder', 'VOLUMES') };
  refuseProblems(reader);
  return loaded;
}

function refuseProblems({ problems }: SettingReader): void {
  if (problems.length > 0) throw new ProgramError('settings', [...new Set(problems)].join('\n'));
}

function readVariables(
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): ReturnType<typeof mergeVariables> {
  const named = (env['SVC_CONFIG_ENV_FILE'] ?? env['MINIO_CONFIG_ENV_FILE'])?.trim();
  const path = named === undefined || named === '' ? defaultEnvFile : named;
  let text = '';
  try {
    text = readFile(path);
  } catch (error) {
    const absent = error instanceof Error && 'code' in error && error.code === 'ENOENT' && path !== named;
    if (!absent) {
      throw new ProgramError(
        'settings',
        `SVC_CONFIG_ENV_FILE is ${path}, which cannot be read: ${fileErrorReason(error)}`,
      );
    }
  }
  try {
    return mergeVariables(env, parseEnvFile(text, path));
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    throw new ProgramError('settings', `SVC_CONFIG_ENV_FILE: ${error.message}`);
  }
}

/** Reads the providers. Those that are switched off may contradict themselves. */
function readProviders(reader: SettingReader, suffixes: readonly string[]): ServerSettings['openid'] {
  const providers = suffixes.map((suffix) => readProvider(reader, suffix)).filter((one) => one !== undefined);
  const enabled = providers.filter((provider) => provider.enabled);
  for (const [at, provider] of enabled.entries()) {
    const name = (part: string) =>
      `SVC_IDENTITY_OPENID_${part.toUpperCase()}${provider.id === '_' ? '' : `_${provider.id}`}`;
    const clash = clientClash(provider, enabled.slice(0, at), name('client_id'));
    reader.problems.push(...openIdContradictions(provider, name), ...(clash === undefined ? [] : [clash]));
  }
  return providers;
}

function readRoot(reader: SettingReader): ServerSettings['root'] {
  const server = group(reader, 'SVC_');
  const [user, password] = [server.text('ROOT_USER'), server.text('ROOT_PASSWORD')];
  if (user === undefined || password === undefined) reader.problems.push(...missingRoot(reader, user, password));
  return { user: user ?? '', password: password ?? '' };
}

/** Returns a warning for a root password that everyone knows. Each start logs it until the password is another one. */
function wellKnownRoot({ password }: ServerSettings['root']): readonly string[] {
  if (password !== 'minioadmin') return [];
  return ['the root password is minioadmin, the default of MinIO, which everyone knows: set another SVC_ROOT_PASSWORD'];
}

/** Reads the settings of maintenance. */
function readUpkeep(
  reader: SettingReader,
): Pick<
  ServerSettings,
  'storageReserve' | 'maxGarbage' | 'compactionBytesPerSecond' | 'packsBodies' | 'recordFormat' | 'scrubBytesPerSecond'
> {
  const server = group(reader, 'SVC_');
  const reserve = server.read('STORAGE_RESERVE');
  const rate = (name: string) => bytesOf(server.read(name));
  return {
    storageReserve: isSize(reserve) ? reserve : { kind: 'percent', percent: 1 },
    maxGarbage: (server.number('STORAGE_GARBAGE') ?? 25) / 100,
    packsBodies: server.onOff('STORAGE_PACK'),
    recordFormat: Number(server.read('STORAGE_FORMAT')),
    compactionBytesPerSecond: rate('STORAGE_COMPACTION_RATE'),
    scrubBytesPerSecond: rate('SCRUB_RATE'),
  };
}

function missingRoot(reader: SettingReader, user: string | undefined, password: string | undefined): string[] {
  // A refused value has its own message already.
  if (reader.problems.some((issue) => /ROOT_|ACCESS_KEY|SECRET_KEY/.test(issue))) return [];
  const missing = [user === undefined ? 'SVC_ROOT_USER' : [], password === undefined ? 'SVC_ROOT_PASSWORD' : []].flat();
  return [
    `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not set: the server does not start without root credentials. ` +
      'Set SVC_ROOT_USER and SVC_ROOT_PASSWORD, or SVC_ROOT_USER_FILE and SVC_ROOT_PASSWORD_FILE with the paths of files that hold them.',
  ];
}

function readTls(reader: SettingReader): { certFile: string; keyFile: string } | undefined {
  const read = group(reader, 'SVC_TLS_');
  const certFile = read.text('CERT_FILE');
  const keyFile = read.text('KEY_FILE');
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  reader.problems.push('SVC_TLS_CERT_FILE and SVC_TLS_KEY_FILE belong together: set both, or neither');
  return undefined;
}

function readProxies(reader: SettingReader): ServerSettings['proxies'] {
  const server = group(reader, 'SVC_');
  const trusted = server.list('TRUSTED_PROXIES');
  for (const range of trusted) {
    if (parseRange(range) !== undefined) continue;
    reader.problems.push(
      `SVC_TRUSTED_PROXIES: ${JSON.stringify(range)} is no address and no range; write 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32`,
    );
  }
  const header = server.text('TRUSTED_PROXY_HEADER') === 'forwarded' ? 'forwarded' : 'x-forwarded-for';
  return { trusted, header };
}

function readCorsOrigins(reader: SettingReader): readonly string[] {
  const origins = group(reader, 'SVC_').list('API_CORS_ALLOW_ORIGIN');
  if (origins.length === 1 && origins[0] === 'none') return [];
  for (const origin of origins) {
    if (origin === '*' || /^[a-z][a-z0-9+.-]*:\/\/[^\s*/]*\*?[^\s*/]*$/.test(origin)) continue;
    reader.problems.push(
      `SVC_API_CORS_ALLOW_ORIGIN: ${JSON.stringify(origin)} is no origin; write https://app.example.com or https://*.example.com with one * at most, or none alone`,
    );
  }
  return origins;
}

function readAccessLogInterval(reader: SettingReader): number {
  return group(reader, 'SVC_').number('ACCESS_LOG_INTERVAL') ?? 60_000;
}

function readDomains(reader: SettingReader): readonly string[] {
  const domains = group(reader, 'SVC_').list('DOMAIN');
  for (const domain of domains) {
    if (/^[a-z0-9-]+(\.[a-z0-9-]+)*\.?(:\d{1,5})?$/i.test(domain)) continue;
    reader.problems.push(`SVC_DOMAIN: ${JSON.stringify(domain)} is no host name; write s3.example.com`);
  }
  return domains;
}

function readStores(reader: SettingReader): StoreSettings {
  const read = group(reader, 'SVC_STORE_');
  const recordsPasswordFile = read.file('RECORDS_PASSWORD');
  const accessKeyFile = read.file('BLOBS_S3_ACCESS_KEY');
  const secretKeyFile = read.file('BLOBS_S3_SECRET_KEY');
  return {
    ...read.optional('records', 'RECORDS'),
    ...read.optional('recordsPassword', 'RECORDS_PASSWORD'),
    ...(recordsPasswordFile !== undefined && { recordsPasswordFile }),
    ...read.optional('recordsCaFile', 'RECORDS_CA_FILE'),
    ...read.optional('blobs', 'BLOBS'),
    s3: {
      ...read.optional('endpoint', 'BLOBS_S3_ENDPOINT'),
      ...read.optional('caFile', 'BLOBS_S3_CA_FILE'),
      region: read.text('BLOBS_S3_REGION') ?? 'us-east-1',
      ...read.optional('accessKey', 'BLOBS_S3_ACCESS_KEY'),
      ...read.optional('secretKey', 'BLOBS_S3_SECRET_KEY'),
      ...(accessKeyFile !== undefined && { accessKeyFile }),
      ...(secretKeyFile !== undefined && { secretKeyFile }),
    },
  };
}

function readKeyService(reader: SettingReader): KeyServiceSettings | undefined {
  const read = group(reader, 'SVC_KMS_KEYSVC_');
  const endpoints = read.list('ENDPOINT');
  if (endpoints.length === 0) {
    const given = reader.given(setting('SVC_KMS_KEYSVC_ENDPOINT'));
    // A refused value has its own message already.
    if (given !== undefined && read.read('ENDPOINT') !== undefined)
      reader.problems.push(`${given.variable} is "${given.value ?? ''}": it names no address`);
    return undefined;
  }
  const defaultKey = read.text('KEY_NAME');
  if (defaultKey === undefined)
    read.require('KEY_NAME', 'SVC_KMS_KEYSVC_KEY_NAME is missing: name the key that encrypts by default');
  if (endpoints.some((endpoint) => !/^https:\/\/[^/?#@]+\/?$/.test(endpoint))) {
    reader.problems.push(
      'SVC_KMS_KEYSVC_ENDPOINT: the key service is reached by https://HOST:PORT only, without a path',
    );
  }
  const client = readClient(reader);
  if (defaultKey === undefined || client === undefined) return undefined;
  return {
    endpoints,
    defaultKey,
    client,
    ...read.optional('caPath', 'CAPATH'),
    ...read.optional('enclave', 'ENCLAVE'),
  };
}

function readSecretKey(reader: SettingReader): SecretKeySettings | undefined {
  const [name, secretKey] = group(reader, 'SVC_').text('KMS_SECRET_KEY')?.split(':') ?? [];
  return name === undefined || secretKey === undefined ? undefined : { name, secretKey };
}

function readClient(reader: SettingReader): KeyServiceSettings['client'] | undefined {
  const read = group(reader, 'SVC_KMS_KEYSVC_');
  const apiKey = read.text('API_KEY');
  const certFile = read.text('CERT_FILE');
  const keyFile = read.text('KEY_FILE');
  if (apiKey !== undefined && (certFile !== undefined || keyFile !== undefined)) {
    reader.problems.push(
      'SVC_KMS_KEYSVC_API_KEY excludes SVC_KMS_KEYSVC_CERT_FILE and SVC_KMS_KEYSVC_KEY_FILE: set one or the other',
    );
    return undefined;
  }
  const keyPassword = read.text('KEY_PASSWORD');
  if (apiKey !== undefined && keyPassword !== undefined) {
    reader.problems.push('SVC_KMS_KEYSVC_KEY_PASSWORD has no effect with SVC_KMS_KEYSVC_API_KEY: unset one of them');
  }
  if (apiKey !== undefined) return { kind: 'api-key', apiKey };
  if (certFile !== undefined && keyFile !== undefined) {
    return { kind: 'certificate', certFile, keyFile, ...read.optional('keyPassword', 'KEY_PASSWORD') };
  }
  reader.problems.push(
    'The key service knows its clients by certificate: set SVC_KMS_KEYSVC_CERT_FILE and SVC_KMS_KEYSVC_KEY_FILE, or SVC_KMS_KEYSVC_API_KEY',
  );
  return undefined;
}

function logLevel(text: string | undefined): ServerSettings['logLevel'] {
  return text === 'debug' || text === 'warn' || text === 'error' ? text : 'info';
}

function signatureV2(text: string | undefined): ServerSettings['signatureV2'] {
  return text === 'on' || text === 'off' ? text : 'presigned';
}

function cannedAcls(text: string | undefined): ServerSettings['cannedAcls'] {
  return text === 'refuse' ? 'refuse' : 'ignore';
}

function metricsAuthorization(text: string | undefined): ServerSettings['metricsAuthorization'] {
  return text === 'public' ? 'public' : 'jwt';
}

/** Returns the bytes of a size that is not a percentage. */
function bytesOf(size: unknown): number {
  return isSize(size) && size.kind === 'bytes' ? size.bytes : 0;
}

function isSize(value: unknown): value is Size {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

/** Lists the settings of the environment. The stored configurations show those of providers. */
function givenSettings(reader: SettingReader, targets: readonly string[]): ServerSettings['given'] {
  const found = new Map<string, GivenSetting>();
  const suffixes = { server: [''], 'per-target': targets, 'per-provider': [] } as const;
  for (const row of settings as readonly Setting[]) {
    for (const suffix of suffixes[row.scope]) {
      const given = reader.given(row, suffix);
      if (given !== undefined) found.set(`${row.name}${suffix}`, given);
    }
  }
  return found;
}
