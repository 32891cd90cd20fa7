import type { RequestOrigin } from '../../../auth/condition-keys.ts';
import type { StoredCredentials } from '../../../auth/principal.ts';
import type { OpenIdProvider } from '../../../federation/openid-providers.ts';
import type { RequestWatch } from '../../../http/contract/request.ts';
import type { ConsoleServices, ConsoleSettings } from '../../services.ts';
import { ConsoleError } from '../console-error.ts';
import { isFinal, refreshTokens, type Tokens } from './single-sign-on.ts';
import { StsError } from '../../../sts/sts-error.ts';
import { longestDuration, shortestDuration } from '../../../sts/sts-request.ts';

export interface BoughtCredentials {
  readonly credentials: StoredCredentials;
  readonly refreshToken?: string;
}

/** Temporary credentials for the person whom the tokens are about; STS checks the token, and says in words what it refuses. */
export async function buyCredentials(
  services: Pick<ConsoleServices, 'assumeRoleWithWebIdentity' | 'settings'>,
  provider: OpenIdProvider,
  tokens: Tokens,
  asked: { readonly watch?: RequestWatch | undefined; readonly from?: RequestOrigin } = {},
): Promise<BoughtCredentials> {
  const { credentials } = await services.assumeRoleWithWebIdentity({
    token: tokens.webIdentity,
    accessToken: tokens.accessToken,
    providerId: provider.id,
    ...asked,
    durationSeconds: signInDuration(services.settings),
  });
  return { credentials, ...(tokens.refreshToken === undefined ? {} : { refreshToken: tokens.refreshToken }) };
}

/** New credentials by a refresh token: `refused` for good, or `unavailable` for now. */
export type Renew = (
  providerId: string,
  refreshToken: string,
) => Promise<BoughtCredentials | 'refused' | 'unavailable'>;

export function renewing(services: ConsoleServices): Renew {
  return async (providerId, refreshToken) => {
    const provider = services.providers.byId(providerId);
    if (provider === undefined) return 'refused';
    try {
      return await buyCredentials(services, provider, await refreshTokens(provider, refreshToken));
    } catch (error) {
      services.log.warn({ err: error, provider: providerId }, 'a session of the console could not be renewed');
      if (error instanceof StsError) return error.status < 500 ? 'refused' : 'unavailable';
      if (error instanceof ConsoleError) return isFinal(error) ? 'refused' : 'unavailable';
      throw error;
    }
  };
}

/** As long as a session of the console, within what STS gives. Seconds. */
export function signInDuration({ sessionDurationMs }: Pick<ConsoleSettings, 'sessionDurationMs'>): number {
  return Math.min(longestDuration, Math.max(shortestDuration, Math.floor(sessionDurationMs / 1000)));
}
