import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  refreshTokenGrant,
  ResponseBodyError,
  type ClientAuth,
  type ServerMetadata,
  type TokenEndpointResponse,
} from 'openid-client';
import type { OpenIdProvider } from '../../../federation/openid-providers.ts';
import { type ProviderFetchInit, explainFailure } from '../../../../platform/openid/provider-fetch.ts';
import { ConsoleError } from '../console-error.ts';

/** What the provider was asked with, to be kept until it answers. */
interface CodeFlow {
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface Tokens {
  /** Of the person: the ID token, or the access token where a refresh brought no ID token. */
  readonly webIdentity: string;
  readonly accessToken: string;
  /** Where the provider lets sessions be prolonged without the person. */
  readonly refreshToken?: string;
}

export function newCodeFlow(): CodeFlow {
  return { nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() };
}

/** Where the browser goes to log in. Errors with `SignInRefused` while the provider is unavailable. */
export async function authorizationUrl(
  provider: OpenIdProvider,
  request: CodeFlow & { readonly redirectUri: string; readonly state: string },
): Promise<URL> {
  return buildAuthorizationUrl(configurationOf(provider), {
    redirect_uri: request.redirectUri,
    scope: scopesOf(provider).join(' '),
    state: request.state,
    nonce: request.nonce,
    code_challenge: await calculatePKCECodeChallenge(request.codeVerifier),
    code_challenge_method: 'S256',
  });
}

/**
 * Redeems the code of an answer. State, nonce, issuer and audience are checked here; the ID token's signature is checked where it
 * buys credentials. Errors with `SignInRefused`, whose message says what the provider or the check said.
 *
 * @see https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth
 */
export async function redeemCode(
  provider: OpenIdProvider,
  request: CodeFlow & { readonly redirectUri: string; readonly state: string; readonly query: string },
): Promise<Tokens> {
  const answered = new URL(request.redirectUri);
  answered.search = request.query;
  try {
    const tokens = await authorizationCodeGrant(configurationOf(provider), answered, {
      expectedState: request.state,
      expectedNonce: request.nonce,
      pkceCodeVerifier: request.codeVerifier,
      idTokenExpected: true,
    });
    if (tokens.id_token === undefined) throw new ConsoleError('SignInRefused', 'The provider sent no ID token.');
    return tokensOf(tokens, tokens.id_token);
  } catch (error) {
    throw refusal(provider, request.redirectUri, error);
  }
}

/**
 * New tokens for a person who is away from the provider. Errors with `SignInRefused`; its cause is a `ResponseBodyError` when the
 * provider itself said no, and anything else when it could not be asked.
 */
export async function refreshTokens(provider: OpenIdProvider, refreshToken: string): Promise<Tokens> {
  try {
    const tokens = await refreshTokenGrant(configurationOf(provider), refreshToken);
    const refreshed = tokensOf(tokens, tokens.id_token ?? tokens.access_token);
    // A provider that does not rotate refresh tokens names none.
    return { refreshToken, ...refreshed };
  } catch (error) {
    throw refusal(provider, 'none', error);
  }
}

/** Whether the provider itself refused, so that asking again is of no use. */
export function isFinal(error: unknown): boolean {
  return error instanceof ConsoleError && error.cause instanceof ResponseBodyError;
}

function tokensOf(tokens: TokenEndpointResponse, webIdentity: string): Tokens {
  return {
    webIdentity,
    accessToken: tokens.access_token,
    ...(tokens.refresh_token === undefined ? {} : { refreshToken: tokens.refresh_token }),
  };
}

function refusal(provider: OpenIdProvider, redirectUri: string, error: unknown): ConsoleError {
  if (error instanceof ConsoleError) return error;
  const name = provider.displayName;
  const used = `The redirect address used was ${redirectUri}, the client ${provider.settings.clientId}.`;
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const said = [error.error, error.error_description].filter((part) => part !== undefined && part !== '').join(': ');
    return new ConsoleError('SignInRefused', `${name} refused: ${said.slice(0, 400)}. ${used}`, { cause: error });
  }
  const { code } = error as { code?: unknown };
  // openid-client wraps what its fetch threw; its own findings carry a code that begins with OAUTH.
  if (typeof code === 'string' && code.startsWith('OAUTH')) {
    const said = error instanceof Error ? error.message : code;
    return new ConsoleError('SignInRefused', `The answer of ${name} cannot be trusted: ${said}. ${used}`, {
      cause: error,
    });
  }
  const endpoint = provider.status.kind === 'ready' ? provider.status.metadata.tokenEndpoint : '';
  const problem = explainFailure('Unreachable', `the token endpoint of ${name}`, endpoint, error);
  return new ConsoleError('SignInRefused', `${problem.message} ${used}`, { cause: error });
}

function configurationOf(provider: OpenIdProvider): Configuration {
  const { status, settings } = provider;
  if (status.kind !== 'ready') {
    const reason = status.problem?.message ?? 'it has not answered yet';
    throw new ConsoleError('SignInRefused', `${provider.displayName} cannot be used now: ${reason}`);
  }
  const { metadata } = status;
  const configuration = new Configuration(
    metadata.document as unknown as ServerMetadata,
    settings.clientId,
    {},
    clientAuthentication(settings.clientSecret, metadata.tokenEndpointAuthMethods),
  );
  configuration[customFetch] = (url: string, init: ProviderFetchInit) => provider.fetch(url, init);
  // A provider without TLS is a warning where it is set up, not a refusal where people log in.
  if (!metadata.issuer.startsWith('https:') || !metadata.tokenEndpoint.startsWith('https:')) {
    allowInsecureRequests(configuration);
  }
  return configuration;
}

function clientAuthentication(secret: string | undefined, methods: readonly string[]): ClientAuth {
  if (secret === undefined) return None();
  const basic = methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
  return basic ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

/** Those set, else all that discovery lists; `openid` always, without which no ID token comes. */
function scopesOf(provider: OpenIdProvider): string[] {
  const listed = provider.status.kind === 'ready' ? provider.status.metadata.scopesSupported : [];
  const wanted = provider.settings.scopes.length > 0 ? provider.settings.scopes : listed;
  // Asking for it where nobody set it makes providers issue long-lived tokens, or ask the person.
  const scopes = provider.settings.scopes.length > 0 ? wanted : wanted.filter((scope) => scope !== 'offline_access');
  return [...new Set(['openid', ...scopes])];
}
