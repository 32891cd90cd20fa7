import { CliError } from '../cli-error.ts';
import { checkUrl, type Alias } from './alias.ts';

const prefixes = ['COFFER_HOST_', 'MC_HOST_'];

/** The alias that the environment defines by `COFFER_HOST_<alias>` or `MC_HOST_<alias>`, if it does. */
export function aliasFromEnvironment(name: string, env: NodeJS.ProcessEnv): Alias | undefined {
  for (const prefix of prefixes) {
    const value = env[`${prefix}${name}`];
    if (value !== undefined && value !== '') return parseHostVariable(`${prefix}${name}`, value);
  }
  return undefined;
}

export function aliasesFromEnvironment(env: NodeJS.ProcessEnv): Map<string, Alias> {
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
 * `http(s)://ACCESS_KEY:SECRET_KEY[:TOKEN]@HOST`. Keys are taken as they are, as other clients do, unless they hold an escape
 * that such a value needs (`%3A`, `%40`, `%2F`, `%25`): then all of them are percent-decoded.
 */
function parseHostVariable(variable: string, value: string): Alias {
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
    ...(sessionToken === undefined ? {} : { sessionToken }),
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

/** Says nothing of the value, which holds a secret. */
function malformed(variable: string): CliError {
  return new CliError(
    'BadAlias',
    `Invalid value of ${variable}: write http(s)://ACCESS_KEY:SECRET_KEY[:TOKEN]@HOST, with ":", "@" and "/" in keys percent-encoded`,
  );
}
