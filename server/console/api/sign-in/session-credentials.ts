import type { RequestOrigin } from '../../../auth/condition-keys.ts';
import type { StoredCredentials } from '../../../auth/principal.ts';
import type { OpenIdProvider } from '../../../federation/openid-providers.ts';
import type { AuditContext } from '../../../http/contract/request.ts';
import type { ConsoleServices, ConsoleSettings } from '../../services.ts';
import { isFinal, refreshTokens, type Tokens } from './single-sign-on.ts';
import { maxDuration, minDuration } from '../../../sts/sts-request.ts';
import { isStsError, type StsErrorCode } from '../../../sts/sts-error.ts';
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

/** No credentials can be given now. A later attempt needs the refresh token, which may be another one: providers let each be used once. */
interface RenewalUnavailable {
  readonly kind: 'unavailable';
  readonly refreshToken: string | undefined;
}

/** Gets new credentials by a refresh token. `refused` is final. */
export type Renew = (
  providerId: string,
  refreshToken: string,
) => Promise<
  { readonly kind: 'issued'; readonly issued: IssuedCredentials } | RenewalUnavailable | { readonly kind: 'refused' }
>;

/** The errors of STS by which it refuses the token or its user. An outage of the provider has the status 400 too. */
const refusals: ReadonlySet<string> = new Set<StsErrorCode>([
  'AccessDenied',
  'ExpiredTokenException',
  'InvalidIdentityToken',
  'InvalidParameterValue',
]);

export function createRenewal(services: ConsoleServices): Renew {
  return async (providerId, refreshToken) => {
    const provider = services.providers.byId(providerId);
    if (provider === undefined) return { kind: 'refused' };
    let current: string | undefined = refreshToken;
    try {
      const tokens = await refreshTokens(provider, refreshToken);
      current = tokens.refreshToken;
      return { kind: 'issued', issued: await issueCredentials(services, provider, tokens) };
    } catch (error) {
      services.log.warn({ err: error, provider: providerId }, 'a session of the console could not be renewed');
      if (!isStsError(error) && !isConsoleError(error)) throw error;
      const isRefused = isStsError(error) ? refusals.has(error.code) : isFinal(error);
      return isRefused ? { kind: 'refused' } : { kind: 'unavailable', refreshToken: current };
    }
  };
}

/** The duration of a session in seconds, within the limits of STS. */
export function signInDuration({ sessionDurationMs }: Pick<ConsoleSettings, 'sessionDurationMs'>): number {
  return Math.min(maxDuration, Math.max(minDuration, Math.floor(sessionDurationMs / 1000)));
}
