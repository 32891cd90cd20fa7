import { type Alias, checkAliasName, findAlias, readAliases, writeAlias } from '../../config/aliases.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { type LoginProvider, removeLogin, withLoginLock, writeLogin } from '../../config/logins.ts';
import { identityProviders, type NamedProvider } from '../../s3/temporary-credentials.ts';
import { formatTime } from '../../terminal/format.ts';
import { printable } from '../../../platform/text/printable.ts';
import { trustedUrl, type TrustOptions } from '../aliases/trust-server.ts';
import type { Context } from '../context.ts';
import { hasBrowser, openBrowser, tokensByBrowser } from './browser-login.ts';
import { openProvider, type ProviderSession, revoke, tokensByDevice, type Tokens } from './provider-session.ts';
import { exchange } from './renew-login.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

interface LoginOptions extends TrustOptions {
  readonly provider?: string;
  readonly device?: boolean;
  /** False with `--no-browser`. */
  readonly browser?: boolean;
}

/** Signs in by single sign-on, and stores temporary credentials for the alias. */
export async function login(
  context: Context,
  [given = '', url]: readonly string[],
  options: LoginOptions,
): Promise<void> {
  const name = given.replace(/\/+$/, '');
  const alias = await aliasFor(context, name, url, options);
  const client = await context.client({ ...anonymous(alias) });
  const provider = chooseProvider(name, await identityProviders(client).catch(explainMissing), options.provider);
  const session = await openProvider(context, provider);
  const tokens = await signIn(context, session, options);
  const granted = await exchange(context, alias, provider, tokens);
  if (url !== undefined) {
    await writeAlias(context, name, anonymous(alias));
  }
  await withLoginLock(context, name, async () => writeLogin(context.folder, name, granted));
  const until = formatTime(new Date(granted.credentials.expiration));
  const renewal =
    granted.refreshToken === undefined ? 'the provider lets nobody renew them' : 'they are renewed while you use them';
  context.output.message(`Signed in at \`${name}\`. The credentials last until ${until}; ${renewal}.`, {
    alias: name,
    URL: alias.url,
    provider: provider.name,
    accessKey: granted.credentials.accessKey,
    expiration: granted.credentials.expiration,
    renewable: granted.refreshToken !== undefined,
  });
}

/** Forgets the login of an alias. The alias stays, with the keys that it had before. */
export async function logout(context: Context, [given = '']: readonly string[]): Promise<void> {
  const name = given.replace(/\/+$/, '');
  checkAliasName(name);
  const stored = await removeLogin(context, name);
  if (stored === undefined) {
    throw new ProgramError('NotFound', `Nobody is signed in at \`${name}\``);
  }
  if (stored !== 'damaged' && stored.refreshToken !== undefined) {
    try {
      await revoke(await openProvider(context, stored.provider), stored.refreshToken);
    } catch {
      context.output.warn(
        'provider',
        'The identity provider could not be told: its session lasts until it expires, or is ended there',
      );
    }
  }
  context.output.message(`Signed out from \`${name}\`.`, { alias: name });
}

function anonymous({ url, path, api }: Alias): Alias {
  return { url, accessKey: '', secretKey: '', api, path };
}

/** Returns the alias of config.json, or a new one, after the user trusts the server. */
async function aliasFor(
  context: Context,
  name: string,
  url: string | undefined,
  options: LoginOptions,
): Promise<Alias> {
  checkAliasName(name);
  if (url !== undefined) {
    const trusted = await trustedUrl(context, name, url, options);
    return { url: trusted, accessKey: '', secretKey: '', api: 'S3v4', path: 'auto' };
  }
  const aliases = await readAliases(context.folder);
  if (aliases.has(name) || !(await context.aliases()).has(name)) return findAlias(aliases, name);
  throw new ProgramError(
    'BadAlias',
    `The alias \`${name}\` is in the environment, which a login does not change: use \`coffer login ALIAS URL\` with another name`,
  );
}

function explainMissing(error: unknown): never {
  if (!(error instanceof ResponseError) || error.status >= 500) throw error;
  throw new ProgramError(
    'Failed',
    'The server does not say by which identity provider its users sign in: it is no Coffer, or an older one',
    { cause: error },
  );
}

function chooseProvider(alias: string, providers: readonly NamedProvider[], wanted: string | undefined): LoginProvider {
  const names = providers.map(({ name }) => `\`${printable(name)}\``).join(', ');
  if (providers.length === 0) {
    throw new ProgramError(
      'Failed',
      'The server has no identity provider: an administrator adds one with `coffer idp openid add`',
    );
  }
  if (wanted === undefined && providers.length > 1) {
    throw new ProgramError(
      'BadArgument',
      `The server has several identity providers: choose one of ${names} by --provider`,
    );
  }
  const found = wanted === undefined ? providers[0] : providers.find(({ name }) => name === wanted);
  if (found === undefined) {
    throw new ProgramError('BadArgument', `The server has no identity provider \`${wanted}\`: there are ${names}`);
  }
  const { clientId, displayName: _, ...provider } = found;
  if (clientId !== undefined) return { ...provider, clientId };
  throw new ProgramError(
    'Failed',
    `The identity provider \`${printable(found.name)}\` has no client for the command line: an administrator makes a public one there, and names it with ` +
      `\`coffer idp openid update ${alias} ${printable(found.name)} cli_client_id=CLIENT\``,
  );
}

async function signIn(context: Context, session: ProviderSession, options: LoginOptions): Promise<Tokens> {
  const { io, output, signal } = context;
  const canDevice = session.metadata.document['device_authorization_endpoint'] !== undefined;
  if (options.device === true && !canDevice) {
    throw new ProgramError('Failed', 'The identity provider offers no login by a code: leave --device out');
  }
  const browser = options.browser !== false && hasBrowser(process.platform, io.env);
  if (options.device === true || (!browser && options.browser !== false && canDevice)) {
    return tokensByDevice(session, signal, ({ address, code, seconds }) => {
      output.message(`Open ${printable(address)}\nand enter the code ${printable(code)}`, {
        verificationUri: address,
        userCode: code,
        expiresIn: seconds,
      });
    });
  }
  return tokensByBrowser(session, signal, (address) => {
    output.message(`Sign in with the browser at\n${address}`, { authorizationUri: address });
    if (browser) openBrowser(address, process.platform);
  });
}
