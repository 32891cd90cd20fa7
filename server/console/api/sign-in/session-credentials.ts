import type { RequestOrigin } from '../../../auth/condition-keys.ts';
import type { StoredCredentials } from '../../../auth/principal.ts';
import type { OpenIdProvider } from '../../../federation/openid-providers.ts';
import type { AuditContext } from '../../../http/contract/request.ts';
import type { ConsoleServices, ConsoleSettings } from '../../services.ts';
import { isFinal, refreshTokens, type Tokens } from './single-sign-on.ts';
import { maxDuration, minDuration } from '../../../sts/sts-request.ts';
import { isStsError } from '../../../sts/sts-error.ts';
import { isConsoleError } from '../console-error.ts';

export interface IssuedCredentials {
  readonly credentials: StoredCredentials;
  readonly refreshToken?: string;
  readonly idToken?: string;
}

/** Gets temporary credentials from STS, which verifies the token. The message of its error is for the user. */
export async function issueCredentials(
  services: Pick<ConsoleServices, 'assumeRoleWithWebIdentity' | 'settings'>,
  provider: OpenIdProvider,
  tokens: Tokens,
  asked: { readonly audit?: AuditContext | undefined; readonly from?: RequestOrigin } = {},
): Promise<IssuedCredentials> {
  const { credentials } = await services.assumeRoleWithWebIdentity({
    token: tokens.webIdentity,
    accessToken: tokens.accessToken,
    providerId: provider.id,
    ...asked,
    durationSeconds: signInDuration(services.settings),
  });
  return { credentials, refreshToken: tokens.refreshToken, idToken: tokens.idToken };
}

/** Gets new credentials by a refresh token: `refused` is final, `unavailable` can be retried. */
export type Renew = (
  providerId: string,
  refreshToken: string,
) => Promise<IssuedCredentials | 'refused' | 'unavailable'>;

export function createRenewal(services: ConsoleServices): Renew {
  return async (providerId, refreshToken) => {
    const provider = services.providers.byId(providerId);
    if (provider === undefined) return 'refused';
    try {
      return await issueCredentials(services, provider, await refreshTokens(provider, refreshToken));
    } catch (error) {
      services.log.warn({ err: error, provider: providerId }, 'a session of the console could not be renewed');
      if (isStsError(error)) return error.status < 500 ? 'refused' : 'unavailable';
      if (isConsoleError(error)) return isFinal(error) ? 'refused' : 'unavailable';
      throw error;
    }
  };
}

/** The duration of a session in seconds, within the limits of STS. */
export function signInDuration({ sessionDurationMs }: Pick<ConsoleSettings, 'sessionDurationMs'>): number {
  return Math.min(maxDuration, Math.max(minDuration, Math.floor(sessionDurationMs / 1000)));
}
