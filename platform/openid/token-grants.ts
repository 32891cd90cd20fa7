import type { ProviderMetadata } from './discovery.ts';
import { type LimitedFetch } from '../http/limited-fetch.ts';
import { explainFailure } from './explain-failure.ts';
import { parseJsonObject } from './claims.ts';
import {
  clientAuthentication,
  withClientMethod,
  type ClientMethod,
  type OAuthClient,
} from './client-authentication.ts';
import { OpenIdError } from './errors.ts';

export interface TokenClient extends OAuthClient {
  readonly scopes: readonly string[];
  readonly fetch: LimitedFetch;
}

type Endpoints = Pick<ProviderMetadata, 'tokenEndpoint' | 'tokenEndpointAuthMethods' | 'document'>;

/** The code that the user enters and its address, and the code with which the program polls. Seconds. */
export interface DeviceLogin {
  readonly userCode: string;
  readonly verificationUri: string;
  /** The address with the code in it. */
  readonly verificationUriComplete?: string;
  readonly deviceCode: string;
  readonly interval: number;
  readonly expiresIn: number;
}

type DeviceToken =
  | { readonly kind: 'token'; readonly token: string }
  /** The user has not answered yet. With `slower` the program must poll less often. */
  | { readonly kind: 'pending'; readonly slower: boolean };

/**
 * Requests an access token by name and password, which providers give if the client may use "direct access grants". Rejects with
 * `OpenIdError`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6749#section-4.3
 */
export async function passwordToken(
  metadata: Endpoints,
  client: TokenClient,
  credentials: { readonly user: string; readonly password: string },
): Promise<string> {
  const answer = await ask(metadata.tokenEndpoint, metadata, client, {
    grant_type: 'password',
    username: credentials.user,
    password: credentials.password,
    scope: client.scopes.join(' '),
  });
  return tokenIn(metadata.tokenEndpoint, answer);
}

/** @see https://www.rfc-editor.org/rfc/rfc8628#section-3.1 */
export async function beginDeviceLogin(metadata: Endpoints, client: TokenClient): Promise<DeviceLogin> {
  const endpoint = metadata.document['device_authorization_endpoint'];
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) {
    throw new OpenIdError(
      'EndpointMissing',
      'The provider offers no login by a code (no device_authorization_endpoint in its discovery document); use a name and password, or a token.',
    );
  }
  const answer = await ask(endpoint, metadata, client, { scope: client.scopes.join(' ') });
  const { device_code, user_code, verification_uri, verification_uri_complete, interval, expires_in } = answer.body;
  if (typeof device_code !== 'string' || typeof user_code !== 'string' || typeof verification_uri !== 'string') {
    throw rejected(endpoint, answer);
  }
  return {
    deviceCode: device_code,
    userCode: user_code,
    verificationUri: verification_uri,
    ...(typeof verification_uri_complete === 'string' ? { verificationUriComplete: verification_uri_complete } : {}),
    interval: typeof interval === 'number' && interval > 0 ? interval : 5,
    expiresIn: typeof expires_in === 'number' ? expires_in : 600,
  };
}

/** @see https://www.rfc-editor.org/rfc/rfc8628#section-3.4 */
export async function deviceToken(metadata: Endpoints, client: TokenClient, deviceCode: string): Promise<DeviceToken> {
  const answer = await ask(metadata.tokenEndpoint, metadata, client, {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: deviceCode,
  });
  const { error } = answer.body;
  if (error === 'authorization_pending' || error === 'slow_down') {
    return { kind: 'pending', slower: error === 'slow_down' };
  }
  return { kind: 'token', token: tokenIn(metadata.tokenEndpoint, answer) };
}

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function ask(
  endpoint: string,
  metadata: Pick<Endpoints, 'tokenEndpointAuthMethods'>,
  client: TokenClient,
  parameters: Readonly<Record<string, string>>,
): Promise<Reply> {
  const attempt = async (method: ClientMethod): Promise<Reply> => {
    const { headers, form } = clientAuthentication(method, client);
    // Providers want it in the form of a device's request even if the header has it.
    if (!form.has('client_id')) form.set('client_id', client.clientId);
    for (const [name, value] of Object.entries(parameters)) if (value !== '') form.set(name, value);
    let response: Response;
    try {
      response = await client.fetch(endpoint, { method: 'POST', headers, body: form });
    } catch (error) {
      throw explainFailure('Unreachable', 'the endpoint', endpoint, error);
    }
    return { status: response.status, body: parseJsonObject(await response.text()) ?? {} };
  };
  return withClientMethod(metadata, client, attempt, ({ body }) => body['error'] === 'invalid_client');
}

function tokenIn(endpoint: string, answer: Reply): string {
  const token = answer.body['access_token'];
  if (typeof token === 'string' && token !== '') return token;
  throw rejected(endpoint, answer);
}

const reasons: Readonly<Record<string, string>> = {
  invalid_client:
    'check client_id and client_secret, and that the client is registered for client_secret_basic or client_secret_post',
  invalid_grant: 'check name and password; the account may be disabled, or its password temporary',
  unauthorized_client:
    'allow the client this way: at Keycloak "direct access grants" for a password, "device authorization grant" for a code',
  access_denied: 'the person said no',
  expired_token: 'the code was not entered in time; begin again',
};

function rejected(endpoint: string, { status, body }: Reply): OpenIdError {
  const error = typeof body['error'] === 'string' ? body['error'].slice(0, 100) : undefined;
  const description =
    typeof body['error_description'] === 'string' ? body['error_description'].slice(0, 300) : undefined;
  const said = [error, description].filter((part) => part !== undefined).join(': ') || 'no OAuth error';
  const hint = error === undefined ? 'see the log of the provider' : (reasons[error] ?? 'see the log of the provider');
  return new OpenIdError('UnexpectedStatus', `${endpoint} gives no token (${status} ${said}): ${hint}.`);
}
