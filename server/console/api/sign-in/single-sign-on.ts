import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  buildEndSessionUrl,
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
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { signInScopes } from '../../../federation/openid-provider.ts';
import type { OpenIdProvider, ProviderStatus } from '../../../federation/openid-providers.ts';
import {
  triedMethods,
  withClientMethod,
  type ClientMethod,
} from '../../../../platform/openid/client-authentication.ts';
import type { LimitedFetchInit } from '../../../../platform/http/limited-fetch.ts';
import { explainFailure } from '../../../../platform/openid/explain-failure.ts';
import { consoleError, isConsoleError } from '../console-error.ts';
import type { RequestError } from '../../../../protocol/request-error.ts';

/** The parameters of the authorization request, which are kept until the provider answers. */
interface CodeFlow {
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface Tokens {
  /** The ID token, or the access token if a refresh returned no ID token. */
  readonly webIdentity: string;
  readonly accessToken: string;
  /** Present if the provider issued one. */
  readonly refreshToken?: string;
  /** Present if the provider issued one: it names the session that a sign-out ends. */
  readonly idToken?: string;
}

export function newCodeFlow(): CodeFlow {
  return { nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() };
}

/** Returns the URL of the provider's login page. Throws `SignInRefused` while the provider is unavailable. */
export async function authorizationUrl(
  provider: OpenIdProvider,
  request: CodeFlow & { readonly redirectUri: string; readonly state: string },
): Promise<URL> {
  return buildAuthorizationUrl(configurationOf(provider), {
    redirect_uri: request.redirectUri,
    scope: signInScopes(provider).join(' '),
    state: request.state,
    nonce: request.nonce,
    code_challenge: await calculatePKCECodeChallenge(request.codeVerifier),
    code_challenge_method: 'S256',
  });
}

/**
 * Exchanges the code for tokens. It checks state, nonce, issuer and audience; STS verifies the signature of the ID token. Throws
 * `SignInRefused` with the message of the provider or of the check.
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
    const tokens = await asClient(provider, (configuration) =>
      authorizationCodeGrant(configuration, answered, {
        expectedState: request.state,
        expectedNonce: request.nonce,
        pkceCodeVerifier: request.codeVerifier,
        idTokenExpected: true,
      }),
    );
    if (tokens.id_token === undefined) throw consoleError('SignInRefused', 'The provider sent no ID token.');
    return tokensOf(tokens, tokens.id_token);
  } catch (error) {
    throw refusal(provider, request.redirectUri, error);
  }
}

/**
 * Exchanges a refresh token for new tokens. Throws `SignInRefused`. Its cause is a `ResponseBodyError` if the provider refused, and
 * another error if the provider did not answer.
 */
export async function refreshTokens(provider: OpenIdProvider, refreshToken: string): Promise<Tokens> {
  try {
    const tokens = await asClient(provider, (configuration) => refreshTokenGrant(configuration, refreshToken));
    const refreshed = tokensOf(tokens, tokens.id_token ?? tokens.access_token);
    // A provider that does not rotate refresh tokens returns none.
    return { refreshToken, ...refreshed };
  } catch (error) {
    throw refusal(provider, 'none', error);
  }
}

/**
 * Returns the URL at which the provider ends its own session; undefined if it has none, or cannot be used now.
 *
 * @see https://openid.net/specs/openid-connect-rpinitiated-1_0.html#RPLogout
 */
export function signOutUrl(
  provider: OpenIdProvider,
  { idToken, redirectUri }: { readonly idToken: string; readonly redirectUri: string },
): string | undefined {
  const { status } = provider;
  const endpoint = status.kind === 'ready' ? status.metadata.endSessionEndpoint : undefined;
  if (endpoint === undefined || !/^https?:$/.test(new URL(endpoint, 'about:blank').protocol)) return undefined;
  const answer = { id_token_hint: idToken, post_logout_redirect_uri: redirectUri };
  return buildEndSessionUrl(configurationOf(provider), answer).href;
}

/**
 * The errors by which a provider refuses a refresh token or the client. Any other error, such as `temporarily_unavailable`, may pass.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-5.2
 */
const refusals: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

/** Reports whether the provider itself refused, so that a retry is useless. */
export function isFinal(error: unknown): boolean {
  if (!isConsoleError(error)) return false;
  const { cause } = error;
  return refusesClient(cause) || (cause instanceof ResponseBodyError && refusals.has(cause.error));
}

function tokensOf(tokens: TokenEndpointResponse, webIdentity: string): Tokens {
  return {
    webIdentity,
    accessToken: tokens.access_token,
    ...(tokens.refresh_token === undefined ? {} : { refreshToken: tokens.refresh_token }),
    ...(tokens.id_token === undefined ? {} : { idToken: tokens.id_token }),
  };
}

function refusal(provider: OpenIdProvider, redirectUri: string, error: unknown): RequestError {
  if (isConsoleError(error)) return error;
  const name = provider.displayName;
  const used = `The redirect address used was ${redirectUri}, the client ${provider.settings.clientId}.`;
  if (refusesClient(error)) {
    const tried = triedMethods(provider.settings);
    const message = `${name} refuses the client (invalid_client), ${tried}: check client_id and client_secret. ${used}`;
    return consoleError('SignInRefused', message, { cause: error });
  }
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const said = [error.error, error.error_description].filter((part) => part !== undefined && part !== '').join(': ');
    const scopes =
      error.error === 'invalid_scope'
        ? ` The scopes used were ${signInScopes(provider).join(' ')}: an administrator sets others by scopes (SCOPES), or assigns them to the client.`
        : '';
    return consoleError('SignInRefused', `${name} refused: ${said.slice(0, 400)}. ${used}${scopes}`, { cause: error });
  }
  const { code } = error as { code?: unknown };
  // Errors of fetch are wrapped by openid-client. Its own errors have a code that begins with OAUTH.
  if (typeof code === 'string' && code.startsWith('OAUTH')) {
    const said = error instanceof Error ? describeCheck(error) : code;
    return consoleError('SignInRefused', `The answer of ${name} cannot be trusted: ${said}. ${used}`, {
      cause: error,
    });
  }
  const endpoint = provider.status.kind === 'ready' ? provider.status.metadata.tokenEndpoint : '';
  return doesNotAnswer(provider, explainFailure('Unreachable', `the token endpoint of ${name}`, endpoint, error));
}

/** The library says in the cause which claim did not fit, and in the cause of that what it expected. */
function describeCheck({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message;
  const { claim, claims, expected } = (cause.cause ?? {}) as Readonly<Record<string, unknown>>;
  const isShown = typeof claim === 'string' && claim !== 'nonce' && typeof claims === 'object' && claims !== null;
  if (!isShown) return `${message} (${cause.message})`;
  const found = (claims as Readonly<Record<string, unknown>>)[claim];
  const values = `it is ${JSON.stringify(found ?? null)}, and ${JSON.stringify(expected ?? null)} was expected`;
  return `${message} (${cause.message}: ${values.slice(0, 400)})`;
}

/** The address of a provider may be internal: a person who has not signed in learns its name alone. The cause is for the log. */
function doesNotAnswer({ displayName }: OpenIdProvider, cause: Error | undefined): RequestError {
  const message = `${displayName} does not answer. Try again in a moment. The log of the server has the reason.`;
  return consoleError('SignInRefused', message, { cause });
}

/** Calls the token endpoint in the way of authentication that the provider accepts. */
async function asClient<T>(provider: OpenIdProvider, call: (configuration: Configuration) => Promise<T>): Promise<T> {
  const { metadata } = readyOf(provider);
  const attempt = (method: ClientMethod) =>
    call(configurationOf(provider, method)).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
  const result = await withClientMethod(
    metadata,
    provider.settings,
    attempt,
    (found) => 'error' in found && refusesClient(found.error),
  );
  if ('error' in result) throw result.error;
  return result.value;
}

/** An answer of 401 with a challenge has no other error: the library does not read its document. */
function refusesClient(error: unknown): boolean {
  return (
    (error instanceof ResponseBodyError && error.error === 'invalid_client') ||
    (error instanceof WWWAuthenticateChallengeError && error.status === 401)
  );
}

function readyOf(provider: OpenIdProvider): Extract<ProviderStatus, { kind: 'ready' }> {
  const { status } = provider;
  if (status.kind !== 'ready') throw doesNotAnswer(provider, status.issue);
  return status;
}

/** `method` matters for calls of the token endpoint alone. */
function configurationOf(provider: OpenIdProvider, method: ClientMethod = 'client_secret_basic'): Configuration {
  const { metadata } = readyOf(provider);
  const { clientId, clientSecret } = provider.settings;
  const configuration = new Configuration(
    metadata.document as unknown as ServerMetadata,
    clientId,
    {},
    clientAuthentication(clientSecret, method),
  );
  configuration[customFetch] = (url: string, init: LimitedFetchInit) => provider.fetch(url, init);
  // The configuration warns about a provider without TLS. The sign-in does not refuse it.
  if (!metadata.issuer.startsWith('https:') || !metadata.tokenEndpoint.startsWith('https:')) {
    allowInsecureRequests(configuration);
  }
  return configuration;
}

function clientAuthentication(secret: string | undefined, method: ClientMethod): ClientAuth {
  if (secret === undefined) return None();
  return method === 'client_secret_basic' ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}
