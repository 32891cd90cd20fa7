import type { VaultKeyStoreSettings } from '../keystore-settings.ts';
import { KeyStoreError } from '../keystore.ts';
import type { Remote, RemoteAnswer, RemoteRequest } from '../remote/remote.ts';
import { TokenSource } from '../remote/token-source.ts';
import { vaultError } from './vault-errors.ts';
import { VaultLogins, type VaultToken } from './vault-login.ts';

export interface VaultCall {
  readonly method: RemoteRequest['method'];
  /** Without `/v1/`: `kv/data/my-key`. */
  readonly path: string;
  readonly query?: string;
  readonly body?: object;
  /** What the policies must allow for it. */
  readonly capability: 'create' | 'read' | 'delete' | 'list';
  readonly key?: string;
  /** Tried once, for so many milliseconds. */
  readonly onceWithinMs?: number;
}

/** Requests to one vault, with a token. */
export class VaultClient {
  readonly remote: Remote;
  readonly #settings: VaultKeyStoreSettings;
  readonly #tokens: TokenSource<VaultToken>;
  readonly #name: string;

  constructor(settings: VaultKeyStoreSettings, remote: Remote) {
    const { endpoint, login, namespace } = settings;
    this.remote = remote;
    this.#settings = settings;
    this.#name = namespace === undefined ? endpoint : `${endpoint} (namespace ${namespace})`;
    const logins = new VaultLogins(endpoint, login, namespace, remote);
    this.#tokens = new TokenSource((previous) => logins.acquire(previous), remote.clock);
  }

  get name(): string {
    return this.#name;
  }

  /** The answer, whatever it says. A vault answers a token that it no longer takes and a lacking capability alike, by 403. */
  async ask(call: VaultCall): Promise<RemoteAnswer> {
    const token = await this.#tokens.current();
    const answer = await this.#askWith(token, call);
    if (answer.status !== 403 || (await this.#isTaken(token))) return answer;
    this.#tokens.drop(token);
    return this.#askWith(await this.#tokens.current(), call);
  }

  /** As `ask`, and errors with what the answer says where its status is not among those expected. */
  async expect(call: VaultCall, ...statuses: readonly number[]): Promise<RemoteAnswer> {
    const answer = await this.ask(call);
    if (statuses.includes(answer.status)) return answer;
    throw this.error(call, answer);
  }

  error({ capability, path, key }: VaultCall, answer: RemoteAnswer): KeyStoreError {
    return vaultError({ vault: this.#name, capability, path, ...(key === undefined ? {} : { key }) }, answer);
  }

  /**
   * Errors where the vault is sealed or not set up. A standby is fine, since it forwards.
   *
   * @see https://developer.hashicorp.com/vault/api-docs/system/health
   */
  async health(): Promise<void> {
    const { endpoint } = this.#settings;
    const answer = await this.remote.ask({
      method: 'GET',
      url: `${endpoint}/v1/sys/health?standbyok=true&perfstandbyok=true`,
      of: `the vault ${endpoint}`,
      once: true,
    });
    if (answer.status < 400) return;
    const state = { 501: 'is not initialised', 503: 'is sealed or not available' }[answer.status];
    throw new KeyStoreError('unavailable', `the vault ${endpoint} ${state ?? `answers ${answer.status}`}`);
  }

  /**
   * Asked before a new login, which may be one of few: secret IDs can be made to be used up.
   *
   * @see https://developer.hashicorp.com/vault/api-docs/auth/token#lookup-a-token-self
   */
  async #isTaken(token: string): Promise<boolean> {
    const path = 'auth/token/lookup-self';
    return (await this.#askWith(token, { method: 'GET', path, capability: 'read' })).status === 200;
  }

  #askWith(token: string, call: VaultCall): Promise<RemoteAnswer> {
    const { endpoint, namespace } = this.#settings;
    const { method, path, query, body, onceWithinMs } = call;
    return this.remote.ask({
      method,
      url: `${endpoint}/v1/${path}${query === undefined ? '' : `?${query}`}`,
      headers: {
        'x-vault-token': token,
        ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      of: `the vault ${this.#name}`,
      ...(onceWithinMs === undefined ? {} : { once: true, withinMs: onceWithinMs }),
    });
  }
}
