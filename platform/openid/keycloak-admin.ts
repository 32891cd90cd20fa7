import { type LimitedFetch } from '../http/limited-fetch.ts';
import { explainFailure } from './explain-failure.ts';
import { parseJsonObject } from './claims.ts';
import { OpenIdError } from './errors.ts';

export type UserState =
  | { readonly kind: 'active' }
  /** `enabled` is false in Keycloak. */
  | { readonly kind: 'disabled' }
  /** The user does not exist any more. */
  | { readonly kind: 'gone' };

export interface KeycloakAdminOptions {
  /** The address of the admin interface, with or without `/admin` at its end. */
  readonly adminUrl: string;
  readonly realm: string;
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly fetch: LimitedFetch;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/**
 * Milliseconds. Up to version 25 a token contains the roles at the time of its creation. A younger token is not replaced to get new roles.
 */
const youngToken = 10_000;

/** The admin interface of Keycloak, with the rights of the client's service account. */
export interface KeycloakAdmin {
  /** Rejects with `OpenIdError` if the response is not clear: an odd response must not count as an absent user. */
  stateOf(userId: string): Promise<UserState>;
  /** Resolves if users can be looked up. Rejects with `OpenIdError` if not. */
  check(): Promise<void>;
}

/** @see https://www.keycloak.org/docs-api/latest/rest-api/index.html#_users */
export function createKeycloakAdmin(options: KeycloakAdminOptions): KeycloakAdmin {
  const { realm, fetch } = options;
  const base = `${adminBase(options.adminUrl)}/realms/${encodeURIComponent(realm)}/users`;
  const now = options.now ?? (() => performance.now());
  let bearer: Promise<string> | undefined;
  let loggedInAt = 0;

  const logIn = (): Promise<string> => {
    bearer = newBearer(options);
    loggedInAt = now();
    bearer.catch(() => {
      bearer = undefined;
    });
    return bearer;
  };

  /** Replaces a refused token once: it expired, the provider was restarted, or the role was given after its creation. */
  async function get(url: string): Promise<Response> {
    const ask = async (token: string) =>
      call('the admin interface', url, fetch, {
        headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
      });
    const first = await ask(await (bearer ?? logIn()));
    const isOld = now() - loggedInAt > youngToken;
    if (first.status !== 401 && !(first.status === 403 && isOld)) return first;
    return ask(await logIn());
  }

  function throwUnless(there: boolean, { status }: Response, url: string): void {
    if (there) return;
    if (status === 401 || status === 403) throw forbidden(base, status, options.clientId);
    throw new OpenIdError(
      'AdminRefused',
      status === 404
        ? `${base} answered 404: there is no such realm or no admin interface; check keycloak_admin_url and keycloak_realm ("${realm}").`
        : `${url} answered ${status}; see the log of the provider.`,
    );
  }

  return {
    async check() {
      const url = `${base}?max=1`;
      const answer = await get(url);
      throwUnless(answer.status === 200, answer, url);
    },

    async stateOf(userId) {
      const url = `${base}/${encodeURIComponent(userId)}`;
      const answer = await get(url);
      // Keycloak also answers 404 for a wrong realm and a wrong path. A user is gone only if the list of users exists.
      const gone = answer.status === 404 && (await get(`${base}?max=1`)).status === 200;
      if (gone) return { kind: 'gone' };
      throwUnless(answer.status === 200 || answer.status === 206, answer, url);
      return stateIn(await answer.text(), url);
    },
  };
}

function adminBase(adminUrl: string): string {
  const url = adminUrl.replace(/\/+$/, '');
  return url.endsWith('/admin') ? url : `${url}/admin`;
}

function stateIn(text: string, url: string): UserState {
  if (text.trim() === 'null') return { kind: 'gone' };
  const enabled = parseJsonObject(text)?.['enabled'];
  if (typeof enabled === 'boolean') return { kind: enabled ? 'active' : 'disabled' };
  throw new OpenIdError('AdminRefused', `${url} answered something other than a user: it has no "enabled".`);
}

function forbidden(url: string, status: number, clientId: string): OpenIdError {
  return new OpenIdError(
    'AdminRefused',
    `${url} answered ${status} to the service account of the client "${clientId}": give it the role view-users of realm-management (or the realm role admin), and the client the default scope roles.`,
  );
}

async function newBearer({ tokenEndpoint, clientId, clientSecret, fetch }: KeycloakAdminOptions): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const answer = await call('the token endpoint', tokenEndpoint, fetch, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams(form),
  });
  const body = parseJsonObject(await answer.text()) ?? {};
  const token = body['access_token'];
  if (answer.status === 200 && typeof token === 'string') return token;
  const error = typeof body['error'] === 'string' ? body['error'] : String(answer.status);
  throw new OpenIdError(
    'AdminRefused',
    `${tokenEndpoint} gives the client "${clientId}" no token of its own (${error}): switch service accounts on for it, and check client_secret.`,
  );
}

async function call(
  what: string,
  url: string,
  fetch: LimitedFetch,
  init: Parameters<LimitedFetch>[1],
): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    throw explainFailure('Unreachable', what, url, error);
  }
}
