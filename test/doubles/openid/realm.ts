import { randomUUID } from 'node:crypto';

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
  secret: string;
  /** Compared exactly. */
  redirectUris: string[];
  /** What its service account may do at the admin interface. */
  mayViewUsers: boolean;
  standardFlow: boolean;
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
