import { z } from 'zod';
import type { VaultKeyStoreSettings } from '../keystore-settings.ts';
import { KeyError } from '../keystore.ts';
import { readJson } from '../remote/json-answer.ts';
import type { Remote, RemoteAnswer, RemoteRequest } from '../remote/remote.ts';
import { TokenSource } from '../remote/token-source.ts';
import { askFollowing } from './standby.ts';
import { vaultError } from './vault-errors.ts';
import { VaultLogins, type VaultToken } from './vault-login.ts';

const healthAnswer = z.object({ sealed: z.literal(false) });

export interface VaultCall {
  readonly method: RemoteRequest['method'];
  /** The path without `/v1/`: `kv/data/my-key`. */
  readonly path: string;
  readonly query?: string;
  readonly body?: object;
  /** The capability that the policies must have. */
  readonly capability: 'create' | 'read' | 'update' | 'delete' | 'list';
  readonly key?: string;
  /** Sends the request once, with this timeout in milliseconds. */
  readonly onceWithinMs?: number;
}

/** Sends requests to one vault, with a token. */
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

  /** Returns the answer, whatever its status. A vault answers 403 for a rejected token and for a missing capability. */
  async ask(call: VaultCall): Promise<RemoteAnswer> {
    const token = await this.#tokens.current();
    const answer = await this.#askWith(token, call);
    if (answer.status !== 403 || (await this.#isTaken(token))) return answer;
    this.#tokens.drop(token);
    return this.#askWith(await this.#tokens.current(), call);
  }

  /** Like `ask`, but throws when the status is not expected. */
  async expect(call: VaultCall, ...statuses: readonly number[]): Promise<RemoteAnswer> {
    const answer = await this.ask(call);
    if (statuses.includes(answer.status)) return answer;
    throw this.error(call, answer);
  }

  error({ capability, path, key }: VaultCall, answer: RemoteAnswer): KeyError {
    return vaultError({ vault: this.#name, capability, path, key }, answer);
  }

  /**
   * Fails where the vault is sealed or not initialized. A standby is healthy, since it forwards.
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
    if (answer.status === 200) {
      readJson(answer.text, healthAnswer, `the vault ${endpoint}`);
      return;
    }
    const state = { 501: 'is not initialised', 503: 'is sealed or not available' }[answer.status];
    throw new KeyError('unavailable', `the vault ${endpoint} ${state ?? `answers ${answer.status}`}`);
  }

  /**
   * Checked before a new login, since secret IDs may have a limited number of uses.
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
    return askFollowing(this.remote, endpoint, {
      method,
      url: `${endpoint}/v1/${path}${query === undefined ? '' : `?${query}`}`,
      headers: {
        'x-vault-token': token,
        ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      of: `the vault ${this.#name}`,
      ...(onceWithinMs === undefined ? {} : { once: true, withinMs: onceWithinMs }),
    });
  }
}
