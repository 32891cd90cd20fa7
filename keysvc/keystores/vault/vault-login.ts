import { fileErrorReason } from '../../../platform/errors/system-error.ts';
import { readTokenFile } from '../../../platform/settings/read-setting-file.ts';
import { z } from 'zod';
import type { VaultLogin } from '../keystore-settings.ts';
import { KeyError } from '../keystore.ts';
import { readJson } from '../remote/json-answer.ts';
import type { Remote, RemoteAnswer } from '../remote/remote.ts';
import type { Token } from '../remote/token-source.ts';
import { askFollowing } from './standby.ts';
import { isVaultFailure, vaultSays } from './vault-errors.ts';

const authAnswer = z.object({
  auth: z.object({
    client_token: z.string().min(1),
    /** Seconds; 0 for a token that does not expire. */
    lease_duration: z.number(),
    renewable: z.boolean().optional(),
  }),
});

export interface VaultToken extends Token {
  readonly leaseMs: number;
  readonly renewable: boolean;
}

/** Logs in to a vault, and extends the lifetime of a token while the vault allows it. */
export class VaultLogins {
  readonly #endpoint: string;
  readonly #login: VaultLogin;
  readonly #remote: Remote;
  readonly #namespace: string | undefined;
  /** The lifetime of a new token. */
  #fullLeaseMs = 0;

  constructor(endpoint: string, login: VaultLogin, namespace: string | undefined, remote: Remote) {
    this.#endpoint = endpoint;
    this.#login = login;
    this.#remote = remote;
    this.#namespace = login.namespace ?? namespace;
  }

  /**
   * Returns a token: the previous one with a longer lifetime where that works.
   *
   * @throws KeyError `refused` when the login is rejected
   */
  async acquire(previous: VaultToken | undefined): Promise<VaultToken> {
    const renewed = previous?.renewable === true ? await this.#renew(previous) : undefined;
    // Near its maximum the vault extends a token by less each time, so a new one is requested.
    if (renewed !== undefined && renewed.leaseMs * 2 >= this.#fullLeaseMs) return renewed;
    const token = await this.#logIn();
    this.#fullLeaseMs = token.leaseMs;
    return token;
  }

  /** @see https://developer.hashicorp.com/vault/api-docs/auth/token#renew-a-token-self */
  async #renew(previous: VaultToken): Promise<VaultToken | undefined> {
    const answer = await this.#post('auth/token/renew-self', {}, { 'x-vault-token': previous.value });
    return answer.status === 200 ? this.#tokenOf(answer) : undefined;
  }

  /**
   * @see https://developer.hashicorp.com/vault/api-docs/auth/approle#login-with-approle
   * @see https://developer.hashicorp.com/vault/api-docs/auth/kubernetes#login
   */
  async #logIn(): Promise<VaultToken> {
    const login = this.#login;
    const body =
      login.kind === 'approle'
        ? { role_id: login.roleId, secret_id: login.secretId }
        : { role: login.role, jwt: await readJwt(login.jwt) };
    const path = `auth/${login.engine}/login`;
    const answer = await this.#post(path, body, {});
    if (answer.status === 200) return this.#tokenOf(answer);
    const isOutage =
      !isVaultFailure(answer) || answer.status === 429 || (answer.status >= 500 && !isInvalidSecretId(answer));
    const code = isOutage ? 'unavailable' : 'refused';
    const way = login.kind === 'approle' ? 'AppRole' : `the Kubernetes role "${login.role}"`;
    throw new KeyError(
      code,
      `the vault ${this.#endpoint} takes no login by ${way} at "${path}": ${vaultSays(answer)}${advice(answer, login)}`,
    );
  }

  #post(path: string, body: object, headers: Readonly<Record<string, string>>): Promise<RemoteAnswer> {
    return askFollowing(this.#remote, this.#endpoint, {
      // A retry would be another failed login, and a vault locks a role after five.
      isFinal: isInvalidSecretId,
      method: 'POST',
      url: `${this.#endpoint}/v1/${path}`,
      headers: {
        'content-type': 'application/json',
        ...(this.#namespace === undefined ? {} : { 'x-vault-namespace': this.#namespace }),
        ...headers,
      },
      body: JSON.stringify(body),
      of: `the vault ${this.#endpoint}`,
    });
  }

  #tokenOf(answer: RemoteAnswer): VaultToken {
    const { auth } = readJson(answer.text, authAnswer, `the login at the vault ${this.#endpoint}`);
    const leaseMs = auth.lease_duration === 0 ? Infinity : auth.lease_duration * 1000;
    const expiresAt = this.#remote.clock.now() + leaseMs;
    return { value: auth.client_token, expiresAt, leaseMs, renewable: auth.renewable === true };
  }
}

/** A text with a slash is a path, since Kubernetes renews the token in its file. */
async function readJwt(jwt: string): Promise<string> {
  if (!jwt.includes('/')) return jwt;
  try {
    return await readTokenFile(jwt);
  } catch (cause) {
    const reason = fileErrorReason(cause);
    throw new KeyError('refused', `cannot read the service account's token ${jwt} for the vault: ${reason}`, {
      cause,
    });
  }
}

/** Vault 1.13 answers 500 to a wrong secret ID, other versions 400. */
function isInvalidSecretId({ text }: Pick<RemoteAnswer, 'text'>): boolean {
  return /invalid (secret id|role or secret id)/i.test(text);
}

function advice({ status }: RemoteAnswer, login: VaultLogin): string {
  const enabled = `is an auth method enabled at "${login.engine}", in this namespace?`;
  if (status === 404) return ` (${enabled})`;
  // AppRole answers 400 for wrong IDs. Without an enabled auth method the vault demands a token and answers 403.
  if (login.kind === 'approle' && status === 403)
    return ` (${enabled} Is the address of this machine allowed? After several failed logins a vault locks the role for some time)`;
  if (login.kind === 'approle')
    return ' (are role ID and secret ID right, is the secret ID neither used up nor expired, and the address of this machine allowed?)';
  return ` (is the role bound to this service account and its namespace, may the vault review tokens, and ${enabled})`;
}
