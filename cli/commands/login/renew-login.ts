import { type Alias, withLogin } from '../../config/aliases.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { type Login, type LoginProvider, readLogin, withLoginLock, writeLogin } from '../../config/logins.ts';
import { assumeRole } from '../../s3/temporary-credentials.ts';
import type { Context } from '../context.ts';
import type { Tokens } from './provider-session.ts';

/** Milliseconds. Credentials are renewed before they expire, so that a request that is on its way still succeeds. */
const marginMs = 60_000;

/**
 * Returns a function that returns the alias with credentials that have not expired, and renews them where needed: the refresh token buys
 * new tokens, and these new credentials. Concurrent calls wait for one renewal.
 */
export function renewalOf(context: Context, alias: Alias, signal: AbortSignal): () => Promise<Alias> {
  let current = alias;
  let renewing: Promise<Alias> | undefined;
  return async () => {
    if (!isDue(current, Date.now())) return current;
    renewing ??= renew(context, current, signal).finally(() => (renewing = undefined));
    current = await renewing;
    return current;
  };
}

function isDue({ login }: Alias, now: number): boolean {
  return login !== undefined && login.expires.getTime() - marginMs <= now;
}

async function renew(context: Context, alias: Alias, signal: AbortSignal): Promise<Alias> {
  const name = alias.login?.alias ?? '';
  return withLoginLock({ folder: context.folder, signal }, name, async () => {
    const stored = await readLogin(context.folder, name);
    const known = withLogin(name, alias, stored);
    if (stored === undefined || known.login === undefined || stored.url !== alias.url) throw ended(name);
    if (!isDue(known, Date.now())) return known;
    const login = await renewed(context, alias, stored).catch((error: unknown) => {
      // The old credentials may serve for some seconds more.
      if (known.login !== undefined && known.login.expires.getTime() > Date.now()) return stored;
      throw ended(name, error);
    });
    if (login !== stored) await writeLogin(context.folder, name, login);
    return withLogin(name, alias, login);
  });
}

function ended(name: string, cause?: unknown): ProgramError {
  return new ProgramError(
    'Failed',
    `The login of \`${name}\` has expired: sign in again with \`coffer login ${name}\``,
    {
      cause,
    },
  );
}

async function renewed(context: Context, alias: Alias, login: Login): Promise<Login> {
  if (login.refreshToken === undefined) throw new Error('The identity provider gave no refresh token');
  const { openProvider, renewTokens } = await import('./provider-session.ts');
  const tokens = await renewTokens(await openProvider(context, login.provider), login.refreshToken);
  return exchange(context, alias, login.provider, tokens);
}

/** Exchanges the tokens of a provider for temporary credentials of the server. */
export async function exchange(
  context: Context,
  { url, path, api }: Alias,
  provider: LoginProvider,
  tokens: Tokens,
): Promise<Login> {
  const client = await context.client({ url, path, api, accessKey: '', secretKey: '' });
  const credentials = await assumeRole(client, 'AssumeRoleWithWebIdentity', {
    WebIdentityToken: tokens.webIdentity,
    WebIdentityAccessToken: tokens.accessToken,
    RoleSessionName: 'coffer',
    ...(provider.roleArn === undefined ? {} : { RoleArn: provider.roleArn }),
  });
  const { refreshToken } = tokens;
  return { version: 1, url, credentials, provider, ...(refreshToken === undefined ? {} : { refreshToken }) };
}
