import { randomBytes } from 'node:crypto';
import { clientAuthentication, triedMethods, withClientMethod, type ClientMethod } from './client-authentication.ts';
import type { ProviderMetadata } from './discovery.ts';
import { createLimitedFetch, type LimitedFetch } from '../http/limited-fetch.ts';
import { explainFailure } from './explain-failure.ts';
import { parseJsonObject } from './claims.ts';
import { OpenIdError } from './errors.ts';

interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly clientMethod?: ClientMethod | undefined;
}

interface ProbeOptions {
  readonly fetch?: LimitedFetch;
  /** CA certificates (PEM) to trust in addition to those of the system. */
  readonly ca?: string;
  /** Milliseconds, 10,000 by default. */
  readonly timeoutMs?: number;
  /** The value of `redirect_uri`. Any value works, because the code is not valid. */
  readonly redirectUri?: string;
}

/** The result of a probe. It is `unclear` if a provider refuses the invalid code in words of its own. */
type ProbeResult = { readonly kind: 'accepted' } | { readonly kind: 'unclear'; readonly message: string };

/**
 * Checks, without a user, whether the provider knows the client and its secret. It sends an invalid code to the token endpoint. The
 * provider answers `invalid_client` for a wrong client, and `invalid_grant` for the code of a known client. Rejects with `OpenIdError`
 * (`ClientRefused`, `Unreachable`, …).
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-5.2
 */
export async function probeClient(
  metadata: Pick<ProviderMetadata, 'tokenEndpoint' | 'tokenEndpointAuthMethods'>,
  client: ClientCredentials,
  options: ProbeOptions = {},
): Promise<ProbeResult> {
  const fetch = options.fetch ?? createLimitedFetch(options);
  const attempt = async (method: ClientMethod): Promise<Reply> => {
    const { headers, form } = clientAuthentication(method, client);
    form.set('grant_type', 'authorization_code');
    form.set('code', `probe-${randomBytes(12).toString('hex')}`);
    form.set('redirect_uri', options.redirectUri ?? 'http://127.0.0.1/oauth_callback');
    let response: Response;
    try {
      response = await fetch(metadata.tokenEndpoint, { method: 'POST', headers, body: form });
    } catch (error) {
      throw explainFailure('Unreachable', 'the token endpoint', metadata.tokenEndpoint, error);
    }
    return { status: response.status, body: await response.text() };
  };
  return judge(metadata.tokenEndpoint, client, await withClientMethod(metadata, client, attempt, refusesClient));
}

function refusesClient({ body }: Reply): boolean {
  return oauthError(body).error === 'invalid_client';
}

interface Reply {
  readonly status: number;
  readonly body: string;
}

function judge(endpoint: string, client: ClientCredentials, { status, body }: Reply): ProbeResult {
  const { clientId } = client;
  const { error, description } = oauthError(body);
  const said = [error, description].filter((part) => part !== undefined).join(': ') || 'no OAuth error';
  if (error === 'invalid_client' || (status === 401 && error !== undefined)) {
    throw new OpenIdError(
      'ClientRefused',
      `the provider refuses the client "${clientId}" (${status} ${said}); check client_id and client_secret. ` +
        `It was ${triedMethods(client)}.`,
    );
  }
  if (error === 'unauthorized_client') {
    throw new OpenIdError(
      'ClientRefused',
      `the provider does not let the client "${clientId}" log people in (${said}); turn its standard (authorization code) flow on.`,
    );
  }
  if (error === 'invalid_grant') return { kind: 'accepted' };
  // Keycloak answers this for a realm that is misspelt, or was removed after discovery.
  if (/realm does not exist/i.test(said)) {
    throw new OpenIdError(
      'NotFound',
      `the provider says that the realm of ${endpoint} does not exist; check the realm in config_url.`,
    );
  }
  if (status === 401 || status === 404 || status === 408 || status === 429 || status >= 500) {
    throw new OpenIdError(
      status === 404 ? 'NotFound' : 'UnexpectedStatus',
      `the token endpoint ${endpoint} answered ${status} (${said}); see the log of the provider.`,
    );
  }
  return {
    kind: 'unclear',
    message: `the token endpoint answered ${status} (${said}) to the check of the client "${clientId}": its secret could not be verified.`,
  };
}

function oauthError(body: string): { error?: string; description?: string } {
  const { error, error_description: description } = parseJsonObject(body) ?? {};
  return {
    ...(typeof error === 'string' ? { error: error.slice(0, 100) } : {}),
    ...(typeof description === 'string' ? { description: description.slice(0, 300) } : {}),
  };
}

/** The number of characters of an error page that are searched. */
const searched = 200_000;

interface AskedSignIn {
  readonly clientId: string;
  readonly redirectUri: string;
  /** `openid` alone without them. */
  readonly scopes?: readonly string[];
}

/** Errors of a provider that only says that a user must act: everything else is in order. */
const needsUser = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required'];

/**
 * Checks whether the provider accepts the redirect address and the scopes, by the request with which a sign-in begins. A provider must not
 * redirect to an address that is not registered for the client; it answers with an error page. It redirects there with an error for scopes
 * that the client does not have. Rejects with `OpenIdError` (`RedirectRefused`, `ScopeRefused`, `ClientRefused`, `Unreachable`).
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1
 */
export async function probeRedirect(
  { authorizationEndpoint }: Pick<ProviderMetadata, 'authorizationEndpoint'>,
  asked: AskedSignIn,
  fetch: LimitedFetch,
): Promise<ProbeResult> {
  const { clientId, redirectUri, scopes = ['openid'] } = asked;
  const url = new URL(authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state: randomBytes(12).toString('hex'),
    nonce: randomBytes(12).toString('hex'),
    // RFC 7636: providers may require it for every client.
    code_challenge: randomBytes(32).toString('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  let response: Response;
  try {
    response = await fetch(url.href, { headers: { accept: 'text/html' } });
  } catch (error) {
    throw explainFailure('Unreachable', 'the authorization endpoint', authorizationEndpoint, error);
  }
  const { status } = response;
  // The response is a sign-in page, a redirect to one, or a redirect back with an error.
  if (status < 400) return judgeRedirect(response.headers.get('location'), authorizationEndpoint, asked);
  const page = (await response.text()).slice(0, searched);
  if (/invalid[\s_-]scope/i.test(page)) throw scopeRefused(asked, 'its page says so');
  if (/redirect[\s_-]?ur[il]/i.test(page)) {
    throw new OpenIdError(
      'RedirectRefused',
      `the provider refuses the redirect address "${redirectUri}" for the client "${clientId}"; register it there among the valid redirect addresses.`,
    );
  }
  return {
    kind: 'unclear',
    message: `the authorization endpoint answered ${status} to the redirect address "${redirectUri}": look at ${url.origin}${url.pathname} in a browser.`,
  };
}

function judgeRedirect(location: string | null, endpoint: string, asked: AskedSignIn): ProbeResult {
  const url = location === null ? null : URL.parse(location, endpoint);
  const error = url?.searchParams.get('error') ?? new URLSearchParams(url?.hash.slice(1)).get('error');
  if (url === null || error === null || needsUser.includes(error)) return { kind: 'accepted' };
  const description = url.searchParams.get('error_description')?.slice(0, 300);
  const said = description === undefined ? error.slice(0, 100) : `${error.slice(0, 100)}: ${description}`;
  if (error === 'invalid_scope') throw scopeRefused(asked, said);
  if (error === 'unauthorized_client' || error === 'unsupported_response_type') {
    throw new OpenIdError(
      'ClientRefused',
      `the provider does not let the client "${asked.clientId}" log people in (${said}); turn its standard (authorization code) flow on.`,
    );
  }
  return { kind: 'unclear', message: `the authorization endpoint answered a sign-in of the client with ${said}.` };
}

function scopeRefused({ clientId, scopes = ['openid'] }: AskedSignIn, said: string): OpenIdError {
  return new OpenIdError(
    'ScopeRefused',
    `the provider refuses the scopes "${scopes.join(' ')}" for the client "${clientId}" (${said}); ` +
      'assign them to the client there, or set scopes (SCOPES) to those that it has.',
  );
}
