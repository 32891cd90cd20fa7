import { randomBytes, randomUUID } from 'node:crypto';
import {
  type DoubleAnswer,
  type DoubleRequest,
  type HttpDouble,
  startHttpDouble,
  type VirtualClock,
} from './http-double.ts';
import type { Capability, VaultUnderTest } from './vault.conformance.ts';

// A double of Vault. The tier `vault` runs the same tests against a real one.

export const vaultLogin = {
  roleId: 'role-id-value',
  secretId: 'secret-id-value',
  jwt: 'service.account.token-value',
  role: 'coffer',
} as const;

interface Version {
  readonly data: Record<string, unknown>;
  deletedAt?: string;
  destroyed?: boolean;
}

/** One engine at `kv`, in the namespace `team` where `namespaced`. */
export class VaultDouble implements VaultUnderTest {
  readonly clock: VirtualClock;
  readonly #version: 'v1' | 'v2';
  readonly #tokens = new Map<string, { until: number; maximum: number }>();
  /** The secrets by their paths below the engine. Version 1 has one version, which is overwritten. */
  #secrets = new Map<string, Version[]>();
  #engineId = randomUUID();
  /** An engine of another vault behind the same address. */
  #otherEngine = { id: randomUUID(), secrets: new Map<string, Version[]>() };
  /** False for a vault that does not show its engines to the role. */
  showsEngines = true;
  readonly login = vaultLogin;
  /** The policy of the guide never allows the role to overwrite. */
  readonly #denied = new Set<Capability>(['update']);
  /** The only secret that the policy is for; undefined for a policy on the engine. */
  #onlySecret: string | undefined;
  namespace: string | undefined;
  leaseSeconds = 1200;
  maximumSeconds = 7200;
  logins = 0;
  renewals = 0;
  #sealed = false;
  #http: HttpDouble | undefined;

  private constructor(clock: VirtualClock, version: 'v1' | 'v2') {
    this.clock = clock;
    this.#version = version;
  }

  static async start(clock: VirtualClock, version: 'v1' | 'v2'): Promise<VaultDouble> {
    const double = new VaultDouble(clock, version);
    double.#http = await startHttpDouble(clock, (request) => double.#answer(request));
    return double;
  }

  get http(): HttpDouble {
    if (this.#http === undefined) throw new Error('not started');
    return this.#http;
  }

  revokeTokens(): void {
    this.#tokens.clear();
  }

  /** Acts like `vault kv put`, without the store. */
  put(path: string, data: Record<string, unknown>): void {
    const versions = this.#secrets.get(path) ?? [];
    this.#secrets.set(path, this.#version === 'v1' ? [{ data }] : [...versions, { data }]);
  }

  /** Acts like `vault kv delete` or `vault kv destroy`. */
  softDelete(path: string, destroyed = false): void {
    const latest = this.#secrets.get(path)?.at(-1);
    if (latest !== undefined) Object.assign(latest, { deletedAt: new Date(this.clock.now()).toISOString(), destroyed });
  }

  /** Acts like `vault kv undelete`. */
  undelete(path: string): void {
    delete this.#secrets.get(path)?.at(-1)?.deletedAt;
  }

  paths(): readonly string[] {
    return [...this.#secrets.keys()];
  }

  deny(capability: Capability): void {
    this.#denied.add(capability);
  }

  allowOnly(path: string): void {
    this.#onlySecret = path;
  }

  seal(): void {
    this.#sealed = true;
  }

  /** Acts like `vault secrets disable` and `enable`: another engine is at the path, with these secrets. */
  replaceEngine(secrets: Readonly<Record<string, Record<string, unknown>>> = {}): void {
    this.#engineId = randomUUID();
    this.#secrets.clear();
    for (const [path, data] of Object.entries(secrets)) this.put(path, data);
  }

  /** Acts like a balancer that leads to another vault, and at the next call back to the first. */
  switchEngine(): void {
    const other = this.#otherEngine;
    this.#otherEngine = { id: this.#engineId, secrets: this.#secrets };
    this.#engineId = other.id;
    this.#secrets = other.secrets;
  }

  #answer(request: DoubleRequest): DoubleAnswer {
    const path = decodeURIComponent(request.url.pathname.replace(/^\/v1\//, ''));
    // @see https://developer.hashicorp.com/vault/api-docs/system/health
    if (path === 'sys/health') return { status: this.#sealed ? 503 : 200, body: { sealed: this.#sealed } };
    // @see https://developer.hashicorp.com/vault/api-docs#http-status-codes
    if (this.#sealed) return errors(503, 'Vault is sealed');
    if (request.headers['x-vault-namespace'] !== this.namespace) return errors(404, 'no handler for route');
    if (path.startsWith('auth/')) return this.#auth(path, request);
    const token = this.#tokens.get(String(request.headers['x-vault-token']));
    if (token === undefined || token.until <= this.clock.now())
      return errors(403, 'permission denied', 'invalid token');
    if (path === 'sys/internal/ui/mounts/kv' && this.showsEngines)
      return { status: 200, body: { data: { type: 'kv', path: 'kv/', uuid: this.#engineId } } };
    if (path.startsWith('sys/')) return errors(403, 'preflight capability check returned 403');
    if (path.startsWith('transit/')) return transit(path, JSON.parse(request.body) as Record<string, string>);
    if (!path.startsWith('kv/')) return errors(404, `no handler for route "${path}"`);
    if (this.#onlySecret !== undefined && path.split('/').at(-1) !== this.#onlySecret)
      return errors(403, '1 error occurred:\n\t* permission denied\n\n');
    return this.#version === 'v1' ? this.#v1(path.slice(3), request) : this.#v2(path.slice(3), request);
  }

  /**
   * @see https://developer.hashicorp.com/vault/api-docs/auth/approle#login-with-approle
   * @see https://developer.hashicorp.com/vault/api-docs/auth/kubernetes#login
   */
  #auth(path: string, { method, body, headers }: DoubleRequest): DoubleAnswer {
    // @see https://developer.hashicorp.com/vault/api-docs/auth/token#lookup-a-token-self
    if (path === 'auth/token/lookup-self' && method === 'GET') {
      const isTaken = (this.#tokens.get(String(headers['x-vault-token']))?.until ?? 0) > this.clock.now();
      return isTaken ? { status: 200, body: { data: {} } } : errors(403, 'permission denied');
    }
    // Where no login is mounted a vault checks the token first.
    if (!/^auth\/(approle|kubernetes|token)\//.test(path)) return errors(403, 'permission denied');
    if (method !== 'POST') return errors(405, 'unsupported operation');
    const given = JSON.parse(body) as Record<string, string>;
    if (path === 'auth/token/renew-self') return this.#renew(String(headers['x-vault-token']));
    if (path === 'auth/approle/login') {
      const isRight = given['role_id'] === vaultLogin.roleId && given['secret_id'] === vaultLogin.secretId;
      return isRight ? this.#issue() : errors(400, 'invalid role or secret ID');
    }
    if (path === 'auth/kubernetes/login') {
      if (given['role'] !== vaultLogin.role) return errors(400, 'invalid role name "other"');
      return given['jwt'] === vaultLogin.jwt ? this.#issue() : errors(403, 'permission denied');
    }
    return errors(404, `no handler for route "${path}"`);
  }

  /** @see https://developer.hashicorp.com/vault/docs/concepts/tokens#token-time-to-live-periodic-tokens-and-explicit-max-ttls */
  #renew(value: string): DoubleAnswer {
    const token = this.#tokens.get(value);
    if (token === undefined || token.until <= this.clock.now())
      return errors(403, 'permission denied', 'invalid token');
    this.renewals++;
    token.until = Math.min(this.clock.now() + this.leaseSeconds * 1000, token.maximum);
    return this.#tokenAnswer(value, (token.until - this.clock.now()) / 1000);
  }

  #issue(): DoubleAnswer {
    this.logins++;
    const value = `hvs.token-${randomBytes(8).toString('hex')}`;
    const now = this.clock.now();
    this.#tokens.set(value, { until: now + this.leaseSeconds * 1000, maximum: now + this.maximumSeconds * 1000 });
    return this.#tokenAnswer(value, this.leaseSeconds);
  }

  #tokenAnswer(client_token: string, lease_duration: number): DoubleAnswer {
    return { status: 200, body: { auth: { client_token, lease_duration, renewable: true } } };
  }

  #lacks(capability: Capability): DoubleAnswer | undefined {
    return this.#denied.has(capability) ? errors(403, '1 error occurred:\n\t* permission denied\n\n') : undefined;
  }

  /** @see https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v1 */
  #v1(path: string, { method, url, body }: DoubleRequest): DoubleAnswer {
    const found = this.#secrets.get(path);
    if (method === 'GET' && url.searchParams.get('list') === 'true') return this.#list(path);
    if (method === 'GET')
      return this.#lacks('read') ?? (found?.[0] ? { status: 200, body: { data: found[0].data } } : errors(404));
    if (method === 'POST') {
      // The capability depends on whether the secret exists.
      const lacking = this.#lacks(found === undefined ? 'create' : 'update');
      if (lacking !== undefined) return lacking;
      this.#secrets.set(path, [{ data: JSON.parse(body) as Record<string, unknown> }]);
      return { status: 204 };
    }
    if (method === 'DELETE') {
      const lacking = this.#lacks('delete');
      if (lacking === undefined) this.#secrets.delete(path);
      return lacking ?? { status: 204 };
    }
    return errors(405, 'unsupported operation');
  }

  /** @see https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2 */
  #v2(path: string, { method, url, body }: DoubleRequest): DoubleAnswer {
    const [kind = '', ...rest] = path.split('/');
    const name = rest.join('/');
    if (kind === 'metadata') return this.#metadata(name, method, url);
    if (kind !== 'data') return errors(404, `no handler for route "kv/${path}"`);
    const versions = this.#secrets.get(name) ?? [];
    if (method === 'GET')
      return this.#lacks('read') ?? readV2(versions, Number(url.searchParams.get('version') ?? versions.length));
    if (method !== 'POST') return errors(405, 'unsupported operation');
    // The policy is checked before the check-and-set.
    const lacking = this.#lacks(versions.length === 0 ? 'create' : 'update');
    if (lacking !== undefined) return lacking;
    const { data, options } = JSON.parse(body) as { data: Record<string, unknown>; options?: { cas?: number } };
    if (options?.cas !== undefined && options.cas !== versions.length) {
      return errors(400, 'check-and-set parameter did not match the current version');
    }
    this.#secrets.set(name, [...versions, { data }]);
    return { status: 200, body: { data: { version: versions.length + 1, deletion_time: '', destroyed: false } } };
  }

  #metadata(name: string, method: string, url: URL): DoubleAnswer {
    if (method === 'GET' && url.searchParams.get('list') === 'true') return this.#list(name);
    if (method === 'GET') {
      const versions = this.#secrets.get(name);
      return (
        this.#lacks('read') ??
        (versions ? { status: 200, body: { data: { current_version: versions.length } } } : errors(404))
      );
    }
    if (method !== 'DELETE') return errors(405, 'unsupported operation');
    const lacking = this.#lacks('delete');
    if (lacking === undefined) this.#secrets.delete(name);
    return lacking ?? { status: 204 };
  }

  #list(folder: string): DoubleAnswer {
    const lacking = this.#lacks('list');
    if (lacking !== undefined) return lacking;
    const prefix = folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
    const found = this.paths().flatMap((path) => (path.startsWith(prefix) ? [path.slice(prefix.length)] : []));
    const keys = [...new Set(found.map((name) => name.replace(/\/.*$/, '/')))];
    return keys.length === 0 ? errors(404) : { status: 200, body: { data: { keys } } };
  }
}

function readV2(versions: readonly Version[], number: number): DoubleAnswer {
  const version = versions[number - 1];
  if (version === undefined) return errors(404);
  const isGone = version.deletedAt !== undefined;
  const metadata = { version: number, deletion_time: version.deletedAt ?? '', destroyed: version.destroyed === true };
  return { status: isGone ? 404 : 200, body: { data: { data: isGone ? null : version.data, metadata } } };
}

/** @see https://developer.hashicorp.com/vault/api-docs/secret/transit */
function transit(path: string, body: Record<string, string>): DoubleAnswer {
  const prefix = 'vault:v1:';
  if (path === 'transit/encrypt/master')
    return {
      status: 200,
      body: { data: { ciphertext: `${prefix}${String(body['plaintext']).split('').reverse().join('')}` } },
    };
  if (path !== 'transit/decrypt/master') return errors(400, 'encryption key not found');
  const plaintext = String(body['ciphertext']).slice(prefix.length).split('').reverse().join('');
  return { status: 200, body: { data: { plaintext } } };
}

function errors(status: number, ...errors: readonly string[]): DoubleAnswer {
  return { status, body: { errors } };
}
