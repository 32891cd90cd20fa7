import {
  allowInsecureRequests,
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  Configuration,
  customFetch,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
  randomPKCECodeVerifier,
  refreshTokenGrant,
  ResponseBodyError,
  tokenRevocation,
  type ServerMetadata,
  type TokenEndpointResponse,
} from 'openid-client';
import { discover, type ProviderMetadata } from '../../../platform/openid/discovery.ts';
import { OpenIdError } from '../../../platform/openid/errors.ts';
import { createLimitedFetch, type LimitedFetchInit } from '../../../platform/http/limited-fetch.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { LoginProvider } from '../../config/logins.ts';
import { printable } from '../../../platform/text/printable.ts';
import type { Context } from '../context.ts';
import { trustedAuthorities } from './trusted-authorities.ts';

/** The tokens that the provider gave for a sign-in. */
export interface Tokens {
  /** The ID token; after a renewal without one, the access token. */
  readonly webIdentity: string;
  readonly accessToken: string;
  readonly refreshToken?: string;
}

/** A provider of which the discovery document was read. The client is public: it has no secret. */
export interface ProviderSession {
  readonly configuration: Configuration;
  readonly metadata: ProviderMetadata;
  readonly provider: LoginProvider;
  readonly scope: string;
}

/** Reads the discovery document of a provider. It trusts the authorities that the client trusts for servers. */
export async function openProvider(context: Context, provider: LoginProvider): Promise<ProviderSession> {
  const { configUrl, clientId, scopes } = provider;
  const ca = await trustedAuthorities(context);
  const fetch = createLimitedFetch(ca === '' ? {} : { ca });
  const metadata = await discover(configUrl, { fetch }).catch((error: unknown) => {
    throw explain(provider, error);
  });
  for (const warning of metadata.warnings) context.output.warn('provider', warning.replace(/\.$/, ''));
  const document = metadata.document as unknown as ServerMetadata;
  const configuration = new Configuration(document, clientId, {}, None());
  configuration[customFetch] = (url: string, init: LimitedFetchInit) =>
    fetch(url, { ...init, signal: init.signal ? AbortSignal.any([init.signal, context.signal]) : context.signal });
  // The warning has said what that means.
  if (!metadata.issuer.startsWith('https:') || !metadata.tokenEndpoint.startsWith('https:')) {
    allowInsecureRequests(configuration);
  }
  return { configuration, metadata, provider, scope: [...new Set(['openid', ...scopes])].join(' ') };
}

/**
 * Signs in by a code that the user enters in a browser on any machine. `show` prints the address and the code.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8628
 */
export async function tokensByDevice(
  { configuration, scope, provider }: ProviderSession,
  signal: AbortSignal,
  show: (login: { readonly address: string; readonly code: string; readonly seconds: number }) => void,
): Promise<Tokens> {
  try {
    // Keycloak demands PKCE of this flow too where the client requires it; other providers ignore it.
    const verifier = randomPKCECodeVerifier();
    const begun = await initiateDeviceAuthorization(configuration, {
      scope,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const address = begun.verification_uri_complete ?? begun.verification_uri;
    show({ address, code: begun.user_code, seconds: begun.expires_in });
    return tokensOf(await pollDeviceAuthorizationGrant(configuration, begun, { code_verifier: verifier }, { signal }));
  } catch (error) {
    throw explain(provider, error);
  }
}

/** Exchanges the refresh token for new tokens. A provider that does not rotate refresh tokens returns none. */
export async function renewTokens({ configuration, provider }: ProviderSession, refreshToken: string): Promise<Tokens> {
  try {
    return { refreshToken, ...tokensOf(await refreshTokenGrant(configuration, refreshToken)) };
  } catch (error) {
    throw explain(provider, error);
  }
}

/** Ends the use of a refresh token, where the provider can. @see https://www.rfc-editor.org/rfc/rfc7009 */
export async function revoke({ configuration, metadata }: ProviderSession, refreshToken: string): Promise<void> {
  if (metadata.document['revocation_endpoint'] === undefined) return;
  await tokenRevocation(configuration, refreshToken, { token_type_hint: 'refresh_token' });
}

export function tokensOf(tokens: TokenEndpointResponse): Tokens {
  const { id_token, access_token, refresh_token } = tokens;
  return {
    webIdentity: id_token ?? access_token,
    accessToken: access_token,
    ...(refresh_token === undefined ? {} : { refreshToken: refresh_token }),
  };
}

/** Says what the provider refused, with its words. */
export function explain(provider: LoginProvider, error: unknown): unknown {
  if (error instanceof ProgramError) return error;
  if (error instanceof OpenIdError) {
    return new ProgramError(
      'Failed',
      `The identity provider of the server cannot be used: ${error.message.replace(/\.$/, '')}`,
    );
  }
  if (!(error instanceof ResponseBodyError) && !(error instanceof AuthorizationResponseError)) {
    return new ProgramError('Failed', `The identity provider at ${provider.configUrl} gave no token`, { cause: error });
  }
  const said = [error.error, error.error_description].filter(Boolean).join(': ').slice(0, 400);
  const hint = hints[error.error] ?? `The client is \`${provider.clientId}\``;
  return new ProgramError('Failed', `The identity provider refused the login: ${printable(said)}. ${hint}`);
}

const hints: Readonly<Record<string, string>> = {
  access_denied: 'Somebody said no in the browser, or may not use this client',
  expired_token: 'The code was not entered in time: begin again',
  unauthorized_client:
    'Allow the client this flow: at Keycloak "standard flow", or "device authorization grant" for --device',
  invalid_client: 'The client of the command line must be a public one, without a secret',
};
