import { SignJWT, exportJWK, generateKeyPair, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { randomUUID } from 'node:crypto';

export type SigningAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'ES256' | 'ES384' | 'ES512';

interface SigningKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

/** The provider's keys: signs with the newest, publishes as many as it keeps. */
export class ProviderKeys {
  readonly #keys: SigningKey[] = [];
  #made = 0;

  static async create(alg: SigningAlgorithm): Promise<ProviderKeys> {
    const keys = new ProviderKeys();
    await keys.rotate(alg);
    return keys;
  }

  /** Makes a new key the signing one; those before it stay published unless `forget`. */
  async rotate(alg: SigningAlgorithm, { forget = false } = {}): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    this.#made += 1;
    const kid = `key-${this.#made}`;
    if (forget) this.#keys.length = 0;
    this.#keys.push({ kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } });
  }

  get published(): { keys: JWK[] } {
    return { keys: this.#keys.map((key) => key.jwk) };
  }

  /** The signing key, for what `sign` would not make. */
  get newest(): SigningKey {
    const key = this.#keys.at(-1);
    if (key === undefined) throw new Error('there is no signing key');
    return key;
  }

  sign(payload: JWTPayload, header: Record<string, unknown> = {}): Promise<string> {
    const key = this.newest;
    return new SignJWT(payload)
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })
      .sign(key.privateKey);
  }
}

/** A person at the provider. Set `enabled` to false, or delete them by `realm.users.delete`, as an administrator would. */
export interface RealmUser {
  readonly id: string;
  readonly username: string;
  password: string;
  enabled: boolean;
  /** Claims of every token, beside the standard ones: `policy`, `email`, `groups`. Change them as an administrator would. */
  claims: Record<string, unknown>;
}

export interface RealmClient {
  readonly id: string;
  /** Empty for a public client. */
  secret: string;
  /** Compared exactly, but for the port of 127.0.0.1. */
  redirectUris: string[];
  /** What its service account may do at the admin interface. */
  mayViewUsers: boolean;
  standardFlow: boolean;
  /** The only way of authentication that is registered for the client, as Authelia wants one. */
  authMethod?: 'client_secret_basic' | 'client_secret_post';
}

/** Where a fault strikes. */
export type FaultPoint = 'discovery' | 'jwks' | 'token' | 'userinfo' | 'admin';

export type Fault =
  /** Accepts the request and never answers. */
  | { readonly kind: 'hang' }
  /** Sends the status line and half of a body, then cuts the connection. */
  | { readonly kind: 'half-open' }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Record<string, string>;
    }
  /** Answers 200 with this body. */
  | { readonly kind: 'body'; readonly body: string };

/** What the double knows; tests change it while it runs. */
export interface Realm {
  readonly users: Map<string, RealmUser>;
  readonly clients: Map<string, RealmClient>;
  readonly faults: Map<FaultPoint, Fault>;
  /** Changes of the discovery document; `undefined` takes a field out. */
  discovery: Record<string, unknown>;
  /** Lifetime of tokens in seconds; negative for tokens that are expired when issued. */
  tokenLifetime: number;
  /** Whether access tokens carry the client in `aud`; Keycloak's do not, they have `azp` only. */
  audienceInAccessToken: boolean;
  /** Whether people who log in get refresh tokens too, each good once. */
  refreshTokens: boolean;
}

export function newUser(user: Partial<RealmUser> & { username: string }): RealmUser {
  return { id: randomUUID(), password: `${user.username}-password`, enabled: true, claims: {}, ...user };
}

export function newClient(client: Partial<RealmClient> & { id: string }): RealmClient {
  return { secret: `${client.id}-secret`, redirectUris: [], mayViewUsers: true, standardFlow: true, ...client };
}
