import type { AzureKeyStoreSettings } from '../../config/keystore-settings.ts';
import { KeyStoreError } from '../keystore.ts';
import type { Remote, RemoteAnswer, RemoteRequest } from '../remote/remote.ts';
import { TokenSource } from '../remote/token-source.ts';
import { azureError, readFailure } from './azure-errors.ts';
import type { AzurePermission } from './azure-errors.ts';
import { describeLogin, logInToAzure } from './azure-login.ts';
import type { Environment } from './azure-login.ts';
import { readChallenge } from './challenge.ts';
import type { Challenge } from './challenge.ts';

/** The oldest that has all that is used here, so that every cloud of Azure has it. */
const apiVersion = '7.4';

/** A token may end between its check and its use; twice in a row it is wrong. */
const maxLogins = 2;

export interface AzureCall {
  readonly method: RemoteRequest['method'];
  /** `/secrets/NAME`, or the whole address of a following page. */
  readonly path: string;
  readonly body?: object;
  readonly permission: AzurePermission;
  readonly key?: string;
}

/** Requests to one key vault, with a token. */
export class AzureVault {
  readonly endpoint: string;
  readonly who: string;
  readonly remote: Remote;
  readonly #settings: AzureKeyStoreSettings;
  readonly #tokens: TokenSource;
  #challenge: Challenge | undefined;

  constructor(settings: AzureKeyStoreSettings, remote: Remote, environment: Environment) {
    this.endpoint = settings.endpoint;
    this.who = describeLogin(settings.login);
    this.remote = remote;
    this.#settings = settings;
    this.#tokens = new TokenSource(
      () => logInToAzure(settings.login, this.#challenge?.scope ?? '', remote, environment),
      remote.clock,
    );
  }

  /** The answer, whatever it says, but for one that takes no token: errors with `refused` then. */
  async ask(call: AzureCall): Promise<RemoteAnswer> {
    for (let logins = 0; ; logins++) {
      // As Azure's own clients do: the first request asks which token the vault wants, and carries nothing that is secret.
      const token = this.#challenge === undefined ? undefined : await this.#tokens.current();
      const answer = await this.remote.ask(this.#request(call, token));
      if (answer.status !== 401) return answer;
      this.#challenge = readChallenge(answer.headers.get('www-authenticate'), this.endpoint);
      if (token === undefined) continue;
      this.#tokens.drop(token);
      if (logins >= maxLogins) throw this.#notTaken(answer, this.#challenge);
    }
  }

  /** As `ask`, and errors with what the answer says where its status is not among those expected. */
  async expect(call: AzureCall, ...statuses: readonly number[]): Promise<RemoteAnswer> {
    const answer = await this.ask(call);
    if (statuses.includes(answer.status)) return answer;
    throw this.error(call, answer);
  }

  error({ permission, key }: AzureCall, answer: RemoteAnswer): KeyStoreError {
    const operation = { permission, who: this.who, endpoint: this.endpoint, ...(key === undefined ? {} : { key }) };
    return azureError(operation, readFailure(answer));
  }

  #request({ method, path, body }: AzureCall, token: string | undefined): RemoteRequest {
    const url = new URL(path, this.endpoint);
    if (url.origin !== new URL(this.endpoint).origin) {
      throw new KeyStoreError('unavailable', `the key vault ${this.endpoint} points to ${url.origin}: not followed`);
    }
    url.searchParams.set('api-version', apiVersion);
    const carried =
      token === undefined
        ? {}
        : {
            headers: {
              authorization: `Bearer ${token}`,
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            },
          };
    return {
      method,
      url: url.href,
      of: `the key vault ${this.endpoint}`,
      ...carried,
      ...(body === undefined || token === undefined ? {} : { body: JSON.stringify(body) }),
    };
  }

  #notTaken(answer: RemoteAnswer, { authority }: Challenge): KeyStoreError {
    const { login } = this.#settings;
    const tenant = 'tenantId' in login && login.tenantId !== undefined ? `, not of ${login.tenantId}` : '';
    return new KeyStoreError(
      'refused',
      `the key vault ${this.endpoint} does not take the token of ${this.who}: it wants one of ${authority}${tenant} (${readFailure(answer).message})`,
    );
  }
}
