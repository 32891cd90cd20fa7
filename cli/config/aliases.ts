import { ProgramError } from '../../platform/program-error.ts';
import { closestName } from './closest-name.ts';
import { type Login, readLogins } from './logins.ts';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeUnfinished, writeFileAtomically } from '../../platform/atomic-file.ts';

/** A server with its credentials, as stored in config.json. Empty keys mean anonymous access. */
export interface Alias {
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
  readonly api: 'S3v4';
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
  const path = join(folder, 'config.json');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map(Object.entries(defaults));
    throw new ProgramError('BadConfig', `Unable to read \`${path}\``, { cause: error });
  }
  return new Map(Object.entries(parse(text, path)).map(([name, alias]) => [name, readAlias(name, alias, path)]));
}

/** Writes config.json, in a folder that only its owner can enter. */
export async function writeAliases(folder: string, aliases: ReadonlyMap<string, Alias>): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const text = `${JSON.stringify({ version, aliases: Object.fromEntries(aliases) }, undefined, 2)}\n`;
    await removeUnfinished(join(folder, 'config.json'));
    await writeFileAtomically(join(folder, 'config.json'), text, { mode: 0o600 });
  } catch (error) {
    throw new ProgramError('BadConfig', `Unable to write \`${join(folder, 'config.json')}\``, { cause: error });
  }
}

function parse(text: string, path: string): Record<string, unknown> {
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch (error) {
    throw new ProgramError('BadConfig', `\`${path}\` is not valid JSON`, { cause: error });
  }
  const found = isRecord(config) ? config['version'] : undefined;
  if (found !== version) {
    throw new ProgramError(
      'BadConfig',
      `\`${path}\` has the version ${JSON.stringify(found)}; this client reads "${version}"`,
    );
  }
  const aliases = isRecord(config) ? config['aliases'] : undefined;
  return isRecord(aliases) ? aliases : {};
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
    api: 'S3v4',
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
  const encoded = /%(3A|40|2F|25)/i.test(keys);
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

export function findAlias(aliases: ReadonlyMap<string, Alias>, name: string): Alias {
  const alias = aliases.get(name);
  if (alias !== undefined) return alias;
  const closest = closestName(name, aliases.keys());
  if (closest !== undefined) {
    throw new ProgramError('NoSuchAlias', `No such alias \`${name}\` (did you mean \`${closest}\`?)`);
  }
  throw new ProgramError(
    'NoSuchAlias',
    `No such alias \`${name}\`: known are ${[...aliases.keys()].map((known) => `\`${known}\``).join(', ') || 'none'}; ` +
      'add one with `coffer alias set ALIAS URL`',
  );
}
