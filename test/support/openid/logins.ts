import { randomUUID, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Realm, RealmUser } from './realm.ts';
import { authenticateClient, type Grant, OAuthError, type IssuedCode } from './token-endpoint.ts';

interface PendingLogin {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly clientId: string;
  readonly scope: string;
  user?: RealmUser;
}

/** Logins by a code that a person enters elsewhere. @see https://www.rfc-editor.org/rfc/rfc8628 */
export class DeviceLogins {
  readonly #pending = new Map<string, PendingLogin>();

  begin(realm: Realm, issuer: string, headers: IncomingHttpHeaders, form: URLSearchParams): Record<string, unknown> {
    const client = authenticateClient(realm, headers, form);
    const login = {
      deviceCode: randomUUID(),
      userCode: randomUUID().slice(0, 8).toUpperCase(),
      clientId: client.id,
      scope: form.get('scope') ?? 'openid',
    };
    this.#pending.set(login.deviceCode, login);
    return {
      device_code: login.deviceCode,
      user_code: login.userCode,
      verification_uri: `${issuer}/device`,
      verification_uri_complete: `${issuer}/device?user_code=${login.userCode}`,
      expires_in: 600,
      interval: 0.05,
    };
  }

  userCodes(): string[] {
    return [...this.#pending.values()].map(({ userCode }) => userCode);
  }

  enter(userCode: string, user: RealmUser): boolean {
    const login = [...this.#pending.values()].find((known) => known.userCode === userCode);
    if (login !== undefined) login.user = user;
    return login !== undefined;
  }

  /** Good once. */
  take(deviceCode: string, clientId: string): { readonly user: RealmUser; readonly scope: string } {
    const login = this.#pending.get(deviceCode);
    if (login?.clientId !== clientId) throw new OAuthError(400, 'expired_token', 'Device code not valid');
    const { user, scope } = login;
    if (user === undefined) {
      throw new OAuthError(400, 'authorization_pending', 'The authorization request is still pending');
    }
    this.#pending.delete(deviceCode);
    return { user, scope };
  }
}

/** Undefined where the request is for a grant of another kind. */
export function deviceGrant(
  realm: Realm,
  logins: DeviceLogins,
  headers: IncomingHttpHeaders,
  form: URLSearchParams,
): Grant | undefined {
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:device_code') return undefined;
  const client = authenticateClient(realm, headers, form);
  const { user, scope } = logins.take(form.get('device_code') ?? '', client.id);
  return { kind: 'user', interactive: true, user, client, scope };
}

type LoginAnswer =
  | { readonly kind: 'page'; readonly status: number; readonly html: string }
  | { readonly kind: 'redirect'; readonly location: string };

/** The authorization endpoint: GET shows a form (`#username`, `#password`, `#login`), POST of it redirects with a code. */
export function authorize(
  realm: Realm,
  codes: Map<string, IssuedCode>,
  query: URLSearchParams,
  credentials: URLSearchParams | undefined,
): LoginAnswer {
  const client = realm.clients.get(query.get('client_id') ?? '');
  const redirectUri = query.get('redirect_uri') ?? '';
  // Never redirects to an address that is not registered.
  if (client === undefined) return page(400, 'Client not found.');
  if (!client.redirectUris.includes(redirectUri) && !client.redirectUris.includes(anyPort(redirectUri)))
    return page(400, 'Invalid parameter: redirect_uri');
  const refuse = (error: string): LoginAnswer => back(redirectUri, query, { error });
  if (query.get('response_type') !== 'code') return refuse('unsupported_response_type');
  if (!takesScopes(realm, query.get('scope'))) return refuse('invalid_scope');
  const challenge = query.get('code_challenge');
  // A client without a secret proves by PKCE that it began the login.
  if (client.secret === '' && challenge === null) return refuse('invalid_request');
  if (challenge !== null && query.get('code_challenge_method') !== 'S256') return refuse('invalid_request');
  if (credentials === undefined) return page(200, '');

  const user = [...realm.users.values()].find((known) => known.username === credentials.get('username'));
  if (user === undefined || user.password !== credentials.get('password')) {
    return page(200, 'Invalid username or password.');
  }
  if (!user.enabled) return page(200, 'Account is disabled, contact your administrator.');
  const code = randomBytes(16).toString('base64url');
  const nonce = query.get('nonce');
  codes.set(code, {
    userId: user.id,
    clientId: client.id,
    redirectUri,
    scope: query.get('scope') ?? '',
    ...(nonce === null ? {} : { nonce }),
    ...(challenge === null ? {} : { challenge }),
  });
  return back(redirectUri, query, { code });
}

/** As strict as Keycloak: a scope that the realm does not list ends the sign-in. */
function takesScopes({ discovery }: Pick<Realm, 'discovery'>, asked: string | null): boolean {
  const listed = discovery['scopes_supported'];
  const known = Array.isArray(listed) ? listed.map(String) : ['openid', 'email', 'profile', 'offline_access'];
  const scopes = (asked ?? '').split(' ');
  return scopes.includes('openid') && scopes.every((scope) => known.includes(scope));
}

/** A program listens on any port of the loopback interface. @see https://www.rfc-editor.org/rfc/rfc8252#section-7.3 */
function anyPort(redirectUri: string): string {
  return redirectUri.replace(/^(http:\/\/127\.0\.0\.1):\d+\//, '$1/');
}

function back(redirectUri: string, query: URLSearchParams, parameters: Record<string, string>): LoginAnswer {
  const location = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
  const state = query.get('state');
  if (state !== null) location.searchParams.set('state', state);
  return { kind: 'redirect', location: location.href };
}

function page(status: number, message: string): LoginAnswer {
  const form =
    status === 200
      ? `<form method="post"><input id="username" name="username"><input id="password" name="password" type="password">
         <button id="login">Sign in</button></form>`
      : '';
  return {
    kind: 'page',
    status,
    html: `<!doctype html><title>Test provider</title><h1>Test provider</h1><p id="message">${message}</p>${form}`,
  };
}
