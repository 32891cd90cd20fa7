import { CliError } from '../cli-error.ts';

/** A host with its credentials, as it stands in config.json. Empty keys mean anonymous. */
export interface Alias {
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
  readonly api: 'S3v4';
  /** Whether buckets are named in the path: `auto` decides by the host. */
  readonly path: 'auto' | 'on' | 'off';
}

/** @throws CliError BadAlias that shows the rule */
export function checkAliasName(name: string): void {
  if (/^[a-zA-Z][a-zA-Z0-9-_]*$/.test(name)) return;
  throw new CliError(
    'BadAlias',
    `Invalid alias \`${name}\`: an alias begins with a letter, and holds letters, digits, hyphens and underscores only`,
  );
}

/** The scheme and host of an endpoint, without a slash at its end. */
export function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new CliError('BadArgument', `Invalid URL \`${text}\`: write http://HOST:PORT or https://HOST:PORT`);
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new CliError('BadArgument', `Invalid URL \`${url.protocol}//${url.host}…\`: give only scheme, host and port`);
  }
  return `${url.protocol}//${url.host}`;
}

export function checkKeys(accessKey: string, secretKey: string): void {
  if (accessKey === '' && secretKey === '') return;
  if (accessKey.length < 3) {
    throw new CliError('BadArgument', `Invalid access key \`${accessKey}\`: it needs at least 3 characters`);
  }
  if (secretKey.length < 8) throw new CliError('BadArgument', 'Invalid secret key: it needs at least 8 characters');
}
