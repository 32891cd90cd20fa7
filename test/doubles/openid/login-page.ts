import { randomBytes } from 'node:crypto';
import type { Realm } from './realm.ts';
import type { IssuedCode } from './token-endpoint.ts';

export type LoginAnswer =
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
  if (!client.redirectUris.includes(redirectUri)) return page(400, 'Invalid parameter: redirect_uri');
  const refuse = (error: string): LoginAnswer => back(redirectUri, query, { error });
  if (query.get('response_type') !== 'code') return refuse('unsupported_response_type');
  if (!(query.get('scope') ?? '').split(' ').includes('openid')) return refuse('invalid_scope');
  const challenge = query.get('code_challenge');
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
