import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Realm, RealmClient, RealmUser } from './realm.ts';

/** What a code of the authorization endpoint stands for; good once. */
export interface IssuedCode {
  readonly userId: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly nonce?: string;
  readonly challenge?: string;
}

export type Grant =
  | {
      readonly kind: 'user';
      /** Whether a person was at the login page, now or when the refresh token came to be. */
      readonly interactive: boolean;
      readonly user: RealmUser;
      readonly client: RealmClient;
      readonly scope: string;
      readonly nonce?: string;
    }
  | { readonly kind: 'service-account'; readonly client: RealmClient };

/** An OAuth error answer. @see https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
export class OAuthError extends Error {
  readonly status: number;
  readonly error: string;
  constructor(status: number, error: string, description: string) {
    super(description);
    this.status = status;
    this.error = error;
  }
}

/** Decides what a token request is entitled to, as strictly as the standards allow. */
export function grantFor(
  realm: Realm,
  codes: Map<string, IssuedCode>,
  refreshTokens: Map<string, IssuedCode>,
  headers: IncomingHttpHeaders,
  form: URLSearchParams,
): Grant {
  const client = authenticateClient(realm, headers, form);
  switch (form.get('grant_type') ?? '') {
    case 'password':
      return { ...passwordGrant(realm, client, form), scope: form.get('scope') ?? 'openid' };
    case 'client_credentials':
      return { kind: 'service-account', client };
    case 'authorization_code':
      return codeGrant(realm, client, codes, form);
    case 'refresh_token':
      return refreshGrant(realm, client, refreshTokens, form);
    default:
      throw new OAuthError(400, 'unsupported_grant_type', 'Unsupported grant_type');
  }
}

export function authenticateClient(realm: Realm, headers: IncomingHttpHeaders, form: URLSearchParams): RealmClient {
  const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1];
  if (basic !== undefined && form.has('client_secret')) {
    throw new OAuthError(400, 'invalid_request', 'The client authenticates in two ways at once');
  }
  let id = form.get('client_id') ?? '';
  let secret = form.get('client_secret') ?? '';
  if (basic !== undefined) {
    const pair = Buffer.from(basic, 'base64').toString();
    const colon = pair.indexOf(':');
    [id, secret] = [formDecode(pair.slice(0, colon)), formDecode(pair.slice(colon + 1))];
  }
  const client = realm.clients.get(id);
  if (client === undefined || secret !== client.secret) {
    throw new OAuthError(401, 'invalid_client', 'Invalid client or Invalid client credentials');
  }
  const method = basic === undefined ? 'client_secret_post' : 'client_secret_basic';
  if (client.authMethod !== undefined && client.authMethod !== method) {
    throw new OAuthError(401, 'invalid_client', `The client is registered for '${client.authMethod}'`);
  }
  return client;
}

function passwordGrant(realm: Realm, client: RealmClient, form: URLSearchParams) {
  const user = [...realm.users.values()].find((known) => known.username === form.get('username'));
  if (user === undefined || user.password !== form.get('password')) {
    throw new OAuthError(401, 'invalid_grant', 'Invalid user credentials');
  }
  if (!user.enabled) throw new OAuthError(400, 'invalid_grant', 'Account disabled');
  return { kind: 'user' as const, interactive: false, user, client };
}

function codeGrant(realm: Realm, client: RealmClient, codes: Map<string, IssuedCode>, form: URLSearchParams): Grant {
  if (!client.standardFlow) throw new OAuthError(400, 'unauthorized_client', 'Client not allowed for standard flow');
  const code = form.get('code') ?? '';
  const issued = codes.get(code);
  codes.delete(code);
  if (issued === undefined) throw new OAuthError(400, 'invalid_grant', 'Code not valid');
  if (issued.clientId !== client.id) throw new OAuthError(400, 'invalid_grant', 'Code was issued to another client');
  if (issued.redirectUri !== form.get('redirect_uri')) {
    throw new OAuthError(400, 'invalid_grant', 'Incorrect redirect_uri');
  }
  if (issued.challenge !== undefined) {
    const verifier = form.get('code_verifier') ?? '';
    if (createHash('sha256').update(verifier).digest('base64url') !== issued.challenge) {
      throw new OAuthError(400, 'invalid_grant', 'PKCE verification failed');
    }
  }
  const user = realm.users.get(issued.userId);
  if (user === undefined || !user.enabled) throw new OAuthError(400, 'invalid_grant', 'User not found or disabled');
  const nonce = issued.nonce === undefined ? {} : { nonce: issued.nonce };
  return { kind: 'user', interactive: true, user, client, scope: issued.scope, ...nonce };
}

/** Rotates: a refresh token is good once, as providers that detect stolen ones have it. */
function refreshGrant(
  realm: Realm,
  client: RealmClient,
  refreshTokens: Map<string, IssuedCode>,
  form: URLSearchParams,
): Grant {
  const token = form.get('refresh_token') ?? '';
  const issued = refreshTokens.get(token);
  refreshTokens.delete(token);
  if (issued?.clientId !== client.id) throw new OAuthError(400, 'invalid_grant', 'Invalid refresh token');
  const user = realm.users.get(issued.userId);
  if (user === undefined || !user.enabled) throw new OAuthError(400, 'invalid_grant', 'User not found or disabled');
  return { kind: 'user', interactive: true, user, client, scope: issued.scope };
}

function formDecode(text: string): string {
  return new URLSearchParams(`v=${text}`).get('v') ?? '';
}
