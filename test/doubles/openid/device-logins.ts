import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Realm, RealmUser } from './realm.ts';
import { authenticateClient, type Grant, OAuthError } from './token-endpoint.ts';

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
