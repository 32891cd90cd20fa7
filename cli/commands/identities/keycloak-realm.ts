import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { LimitedFetch } from '../../../platform/http/limited-fetch.ts';
import { explainFailure } from '../../../platform/openid/explain-failure.ts';

export interface Administrator {
  /** The address of Keycloak, without `/realms`. */
  readonly url: string;
  /** The realm that the administrator signs in to; `master` for that of the whole server. */
  readonly realm: string;
  readonly user: string;
  readonly password: string;
}

/**
 * The admin API of one realm. Paths are below the realm. Its calls reject with `ProgramError` for an answer that is no success.
 *
 * @see https://www.keycloak.org/docs-api/latest/rest-api/index.html
 */
export class KeycloakRealm {
  readonly #base: string;
  readonly #bearer: string;
  readonly #fetch: LimitedFetch;

  private constructor(base: string, bearer: string, fetch: LimitedFetch) {
    this.#base = base;
    this.#bearer = bearer;
    this.#fetch = fetch;
  }

  static async open(administrator: Administrator, realm: string, fetch: LimitedFetch): Promise<KeycloakRealm> {
    const { url, user, password } = administrator;
    const address = `${url}/realms/${encodeURIComponent(administrator.realm)}/protocol/openid-connect/token`;
    const form = { grant_type: 'password', client_id: 'admin-cli', username: user, password };
    const answer = await send(fetch, 'POST', address, {
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams(form).toString(),
    });
    const { access_token: bearer } = await read<{ readonly access_token?: unknown }>(answer, address);
    if (answer.status !== 200 || typeof bearer !== 'string') {
      const cure =
        answer.status === 404
          ? 'there is no such realm: check url, and --admin-realm'
          : `check the name and the password of ${user}, and --admin-realm; a second factor is not asked for here`;
      throw new ProgramError('Failed', `${address} answered ${answer.status} without a token: ${cure}`);
    }
    return new KeycloakRealm(`${url}/admin/realms/${encodeURIComponent(realm)}`, bearer, fetch);
  }

  async get<T>(path: string): Promise<T> {
    const found = await this.find<T>(path);
    if (found === undefined) throw refused('GET', `${this.#base}${path}`, 404, '');
    return found;
  }

  /** Returns undefined for an answer of 404, or without content. */
  async find<T>(path: string): Promise<T | undefined> {
    const answer = await this.#send('GET', path, undefined);
    if (answer.status === 404 || answer.status === 204) return undefined;
    if (answer.status !== 200) throw refused('GET', `${this.#base}${path}`, answer.status, await answer.text());
    return read<T>(answer, `${this.#base}${path}`);
  }

  async post(path: string, body: unknown): Promise<void> {
    await this.#change('POST', path, body);
  }

  async put(path: string, body: unknown): Promise<void> {
    await this.#change('PUT', path, body);
  }

  async #change(method: string, path: string, body: unknown): Promise<void> {
    const answer = await this.#send(method, path, body);
    if ([200, 201, 204].includes(answer.status)) return;
    throw refused(method, `${this.#base}${path}`, answer.status, await answer.text());
  }

  async #send(method: string, path: string, body: unknown): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#bearer}`, accept: 'application/json' };
    return send(this.#fetch, method, `${this.#base}${path}`, {
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }
}

async function send(
  fetch: LimitedFetch,
  method: string,
  url: string,
  init: { readonly headers: Readonly<Record<string, string>>; readonly body?: string },
): Promise<Response> {
  try {
    return await fetch(url, { method, ...init });
  } catch (error) {
    throw new ProgramError(
      'Failed',
      explainFailure('Unreachable', 'Keycloak', url, error).message.replace(/\.$/u, ''),
      {
        cause: error,
      },
    );
  }
}

async function read<T>(answer: Response, url: string): Promise<T> {
  try {
    return (await answer.json()) as T;
  } catch (error) {
    throw new ProgramError('Failed', `${url} answered ${answer.status} with something other than JSON`, {
      cause: error,
    });
  }
}

function refused(method: string, url: string, status: number, text: string): ProgramError {
  const said = text === '' ? '' : ` (${text.slice(0, 200)})`;
  const cure =
    status === 401 || status === 403
      ? 'the administrator needs the role admin, or realm-admin of the realm'
      : status === 404
        ? 'there is no such realm, or no admin API: check url and realm'
        : 'the log of Keycloak has the reason';
  return new ProgramError('Failed', `${method} ${url} answered ${status}${said}: ${cure}`);
}
