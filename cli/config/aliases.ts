import { ProgramError } from '../../platform/errors/program-error.ts';
import { closestName } from './closest-name.ts';
import { withFileLock } from './file-lock.ts';
import { type Login, readLogins } from './logins.ts';
import { readTextFile } from '../../platform/settings/read-setting-file.ts';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { removeUnfinished, writeFileAtomically } from '../../platform/files/atomic-file.ts';

/** A server with its credentials, as stored in config.json. Empty keys mean anonymous access. */
export interface Alias {
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
  /** The version of signatures as config.json names it. This client signs by S3v4 in any case. */
  readonly api: string;
  /** Says whether the bucket is in the path. `auto` decides by the host. */
  readonly path: 'auto' | 'on' | 'off';
  /** The credentials come from a single sign-on. They are renewed before they expire. Never in config.json. */
  readonly login?: { readonly alias: string; readonly expires: Date };
  /** The credentials come from a token in a file, as programs in Kubernetes have one. Never in config.json. */
  readonly webIdentity?: WebIdentity;
}

/** The settings of the environment for an alias with the credentials of a token. */
export interface WebIdentity {
  /** The URL of the STS API. */
  readonly endpoint: string;
  readonly tokenFile: string;
  readonly roleArn: string;
  readonly sessionName: string;
}

/** @throws ProgramError BadAlias */
export function checkAliasName(name: string): void {
  if (/^[a-zA-Z][a-zA-Z0-9-_]*$/.test(name)) return;
  throw new ProgramError(
    'BadAlias',
    `Invalid alias \`${name}\`: an alias begins with a letter, and holds letters, digits, hyphens and underscores only`,
  );
}

/** Returns the scheme and host of an endpoint, without a slash at the end. */
export function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ProgramError('BadArgument', `Invalid URL \`${text}\`: write http://HOST:PORT or https://HOST:PORT`);
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new ProgramError(
      'BadArgument',
      `Invalid URL \`${url.protocol}//${url.host}…\`: give only scheme, host and port`,
    );
  }
  return `${url.protocol}//${url.host}`;
}

export function checkKeys(accessKey: string, secretKey: string): void {
  if (accessKey === '' && secretKey === '') return;
  if (accessKey.length < 3) {
    throw new ProgramError('BadArgument', `Invalid access key \`${accessKey}\`: it needs at least 3 characters`);
  }
  if (secretKey.length < 8) throw new ProgramError('BadArgument', 'Invalid secret key: it needs at least 8 characters');
}

const version = '10';

/** The aliases of a new installation: the local server without keys. */
const defaults: Readonly<Record<string, Alias>> = {
  local: { url: 'http://localhost:9000', accessKey: '', secretKey: '', api: 'S3v4', path: 'auto' },
};

/** Reads the aliases of config.json. Without the file it returns the defaults. */
export async function readAliases(folder: string): Promise<Map<string, Alias>> {
  const { aliases } = await readConfig(folder);
  const path = configPath(folder);
  return new Map(Object.entries(aliases).map(([name, alias]) => [name, readAlias(name, alias, path)]));
}

/** Fields of an alias that this client does not know, such as `license`. */
export type ForeignFields = Readonly<Record<string, unknown>>;

const ownFields: ReadonlySet<string> = new Set(['url', 'accessKey', 'secretKey', 'sessionToken', 'api', 'path']);

/** Returns the fields of an alias in config.json, or in a document of one, that other clients wrote. */
export function foreignFields(alias: unknown): ForeignFields {
  if (!isRecord(alias)) return {};
  return Object.fromEntries(Object.entries(alias).filter(([name]) => !ownFields.has(name)));
}

/** Returns the alias as it is in config.json. */
export async function storedAlias(folder: string, name: string): Promise<ForeignFields> {
  const { aliases } = await readConfig(folder);
  const stored = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
  return isRecord(stored) ? stored : {};
}

/** Adds or replaces an alias of config.json. What other clients wrote there stays, and so do the fields of the alias that only they know. */
export async function writeAlias(
  { folder, signal }: ConfigFolder,
  name: string,
  { url, accessKey, secretKey, sessionToken, api, path }: Alias,
  foreign: ForeignFields = {},
): Promise<void> {
  await editAliases(folder, signal, (aliases) => {
    const before = Object.hasOwn(aliases, name) ? foreignFields(aliases[name]) : {};
    const own = { url, accessKey, secretKey, sessionToken, api, path };
    return { ...aliases, [name]: { ...before, ...foreign, ...own } };
  });
}

/** Removes an alias of config.json. @throws ProgramError NoSuchAlias */
export async function deleteAlias({ folder, signal }: ConfigFolder, name: string): Promise<void> {
  await editAliases(folder, signal, (aliases) => {
    if (!Object.hasOwn(aliases, name)) throw noSuchAlias(new Map(Object.entries(aliases)), name);
    return Object.fromEntries(Object.entries(aliases).filter(([known]) => known !== name));
  });
}

/** The folder of config.json, and what ends a wait for other programs that write there. */
interface ConfigFolder {
  readonly folder: string;
  readonly signal: AbortSignal;
}

type Aliases = Readonly<Record<string, unknown>>;

/** Changes the aliases as they are at this moment, in a folder that only its owner can enter. */
async function editAliases(folder: string, signal: AbortSignal, edit: (aliases: Aliases) => Aliases): Promise<void> {
  const path = configPath(folder);
  await withFileLock(path, signal, async (expectHeld) => {
    const { document, aliases } = await readConfig(folder);
    const text = `${JSON.stringify({ ...document, version, aliases: edit(aliases) }, undefined, 2)}\n`;
    try {
      await chmod(folder, 0o700);
      await removeUnfinished(path);
      await expectHeld();
      await writeFileAtomically(path, text, { mode: 0o600 });
    } catch (error) {
      if (error instanceof ProgramError) throw error;
      throw new ProgramError('BadConfig', `Unable to write \`${path}\``, { cause: error });
    }
  });
}

function configPath(folder: string): string {
  return join(folder, 'config.json');
}

/** Reads config.json with all that is in it. */
async function readConfig(folder: string): Promise<{ readonly document: object; readonly aliases: Aliases }> {
  const path = configPath(folder);
  let text: string;
  try {
    text = await readTextFile(path);
  } catch (error) {
    // A HOME such as /dev/null is not a folder: there is no file either.
    const isAbsent = ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    if (isAbsent) return { document: {}, aliases: defaults };
    throw new ProgramError('BadConfig', `Unable to read \`${path}\``, { cause: error });
  }
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch (error) {
    throw new ProgramError('BadConfig', `\`${path}\` is not valid JSON`, { cause: error });
  }
  const document = isRecord(config) ? config : {};
  const found = document['version'];
  if (found !== version) {
    throw new ProgramError(
      'BadConfig',
      `\`${path}\` has the version ${JSON.stringify(found)}; this client reads "${version}"`,
    );
  }
  const aliases = document['aliases'];
  return { document, aliases: isRecord(aliases) ? aliases : {} };
}

function readAlias(name: string, alias: unknown, path: string): Alias {
  const fields = isRecord(alias) ? alias : {};
  const text = (field: string): string => {
    const value = fields[field] ?? '';
    if (typeof value === 'string') return value;
    throw new ProgramError('BadConfig', `\`${path}\`: the field "${field}" of the alias \`${name}\` must be a string`);
  };
  const sessionToken = text('sessionToken');
  const way = text('path');
  return {
    url: text('url'),
    accessKey: text('accessKey'),
    secretKey: text('secretKey'),
    sessionToken: sessionToken || undefined,
    api: text('api') || 'S3v4',
    // `dns` is an older name of `off`.
    path: way === 'on' ? 'on' : way === 'off' || way === 'dns' ? 'off' : 'auto',
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const prefixes = ['COFFER_HOST_', 'MC_HOST_'];

/** Returns the alias of `COFFER_HOST_<alias>` or `MC_HOST_<alias>`, if one of them is set. */
export function aliasFromEnvironment(name: string, env: NodeJS.ProcessEnv): Alias | undefined {
  for (const prefix of prefixes) {
    const value = env[`${prefix}${name}`];
    if (value !== undefined && value !== '') return parseHostVariable(`${prefix}${name}`, value);
  }
  return undefined;
}

/**
 * Returns how the keys of `MC_HOST_<alias>` were read, for a refused signature: the keys may be meant in the other way. Undefined where there
 * is one reading.
 */
export function readingOfKeys(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const variable = prefixes
    .map((prefix) => `${prefix}${name}`)
    .find((one) => env[one] !== undefined && env[one] !== '');
  const keys = variable === undefined ? undefined : /^https?:\/\/(.*)@/i.exec(env[variable] ?? '')?.[1];
  if (keys === undefined || !/%[0-9a-f]{2}/i.test(keys)) return undefined;
  return isEncoded(keys)
    ? `the keys of ${variable} were percent-decoded: if they are meant as they are, write each % as %25`
    : `the keys of ${variable} were taken as they are: if they are meant encoded, write them decoded`;
}

function isEncoded(keys: string): boolean {
  return /%(3A|40|2F|25)/i.test(keys);
}

function aliasesFromEnvironment(env: NodeJS.ProcessEnv): Map<string, Alias> {
  const aliases = new Map<string, Alias>();
  for (const prefix of prefixes) {
    for (const [variable, value] of Object.entries(env)) {
      const name = variable.slice(prefix.length);
      if (!variable.startsWith(prefix) || value === undefined || value === '' || aliases.has(name)) continue;
      aliases.set(name, parseHostVariable(variable, value));
    }
  }
  return aliases;
}

/**
 * Parses `http(s)://ACCESS_KEY:SECRET_KEY[:TOKEN]@HOST`. As with other clients the keys are used unchanged, unless they have an escape that
 * the form requires (`%3A`, `%40`, `%2F`, `%25`): then all of them are percent-decoded.
 */
export function parseHostVariable(variable: string, value: string): Alias {
  const match = /^(https?:\/\/)(?:(.*)@)?([^@/]+)\/?$/i.exec(value);
  const [, scheme, keys = '', host] = match ?? [];
  if (scheme === undefined || host === undefined) throw malformed(variable);
  const encoded = isEncoded(keys);
  const parts = keys.split(':').map((part) => (encoded ? decode(part, variable) : part));
  const [accessKey = '', secretKey = '', sessionToken, ...more] = parts;
  if (more.length > 0) throw malformed(variable);
  return {
    url: checkUrl(`${scheme}${host}`),
    accessKey,
    secretKey,
    sessionToken,
    api: 'S3v4',
    path: 'auto',
  };
}

function decode(part: string, variable: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw malformed(variable);
  }
}

/** The message must not repeat the value, which holds a secret. */
function malformed(variable: string): ProgramError {
  return new ProgramError(
    'BadAlias',
    `Invalid value of ${variable}: write http(s)://ACCESS_KEY:SECRET_KEY[:TOKEN]@HOST, with ":", "@" and "/" in keys percent-encoded`,
  );
}

/** Returns the alias with the credentials of its login, if the login is for its server. */
export function withLogin(name: string, alias: Alias, login: Login | undefined): Alias {
  if (login === undefined || login.url !== alias.url) return alias;
  const { accessKey, secretKey, sessionToken, expiration } = login.credentials;
  return { ...alias, accessKey, secretKey, sessionToken, login: { alias: name, expires: new Date(expiration) } };
}

/**
 * Returns all aliases. Those of the environment take precedence over the file, and the credentials of a login over the keys in the file.
 */
export async function allAliases(folder: string, env: NodeJS.ProcessEnv): Promise<Map<string, Alias>> {
  const [aliases, logins] = await Promise.all([readAliases(folder), readLogins(folder)]);
  for (const [name, alias] of aliases) aliases.set(name, withLogin(name, alias, logins.get(name)));
  const all = new Map([...aliases, ...(await aliasesFromEnvFile(env)), ...aliasesFromEnvironment(env)]);
  for (const [name, alias] of all) {
    const webIdentity = webIdentityOf(name, env);
    if (webIdentity !== undefined) all.set(name, { ...alias, webIdentity });
  }
  return all;
}

/** Reads the file of `COFFER_CONFIG_ENV_FILE` or `MC_CONFIG_ENV_FILE`, if one is named. */
async function aliasesFromEnvFile(env: NodeJS.ProcessEnv): Promise<ReadonlyMap<string, Alias>> {
  const path = env['COFFER_CONFIG_ENV_FILE'] || env['MC_CONFIG_ENV_FILE'] || '';
  if (path === '') return new Map();
  return (await import('./env-file.ts')).readEnvFile(path);
}

/** @throws ProgramError BadAlias */
function webIdentityOf(name: string, env: NodeJS.ProcessEnv): WebIdentity | undefined {
  const variable = (what: string): string => env[`COFFER_${what}_${name}`] || env[`MC_${what}_${name}`] || '';
  const endpoint = variable('STS_ENDPOINT');
  if (endpoint === '') return undefined;
  const tokenFile = variable('WEB_IDENTITY_TOKEN_FILE');
  if (tokenFile === '') {
    throw new ProgramError('BadAlias', `MC_STS_ENDPOINT_${name} needs MC_WEB_IDENTITY_TOKEN_FILE_${name}, too`);
  }
  const sessionName = variable('ROLE_SESSION_NAME') || 'coffer';
  return { endpoint: checkUrl(endpoint), tokenFile, roleArn: variable('ROLE_ARN'), sessionName };
}

/** @throws ProgramError NoSuchAlias */
export function findAlias(aliases: ReadonlyMap<string, Alias>, name: string): Alias {
  const alias = aliases.get(name);
  if (alias !== undefined) return alias;
  throw noSuchAlias(aliases, name);
}

function noSuchAlias(aliases: ReadonlyMap<string, unknown>, name: string): ProgramError {
  const closest = closestName(name, aliases.keys());
  if (closest !== undefined) {
    return new ProgramError('NoSuchAlias', `No such alias \`${name}\` (did you mean \`${closest}\`?)`);
  }
  return new ProgramError(
    'NoSuchAlias',
    `No such alias \`${name}\`: known are ${[...aliases.keys()].map((known) => `\`${known}\``).join(', ') || 'none'}; ` +
      'add one with `coffer alias set ALIAS URL`',
  );
}
