/** Identity providers as administrators configure them over the console's HTTP API. */

export interface ProviderKinds {
  readonly kinds: readonly ProviderKind[];
  /** What is registered at a provider as the address that people come back to. */
  readonly redirectUri: string;
}

export interface ProviderKind {
  /** `openid`, `ldap`. */
  readonly type: string;
  readonly description: string;
  /** Whether there can be several. */
  readonly multiple: boolean;
  readonly testable: boolean;
  readonly keys: readonly ProviderKey[];
  readonly configurations: readonly ProviderRow[];
}

export interface ProviderKey {
  readonly key: string;
  readonly help: string;
  readonly type: string;
  readonly optional: boolean;
  readonly secret: boolean;
}

export interface ProviderRow {
  /** `_` where it has none. */
  readonly name: string;
  readonly enabled: boolean;
  /** What comes from the environment is changed there. */
  readonly origin: 'environment' | 'stored';
  readonly displayName?: string;
  readonly roleArn?: string;
  readonly state: ProviderState;
}

export type ProviderState =
  | { readonly kind: 'ready'; readonly issuer?: string }
  | { readonly kind: 'unavailable'; readonly reason: string }
  | { readonly kind: 'off' }
  /** Nothing is known before somebody comes by it. */
  | { readonly kind: 'unknown' };

export interface ProviderAnswer extends ProviderRow {
  /** Secrets are shown as `*REDACTED*`; given back so, they stay. */
  readonly values: Readonly<Record<string, string>>;
}

export interface ProviderTest {
  readonly steps: readonly {
    readonly step: string;
    readonly outcome: 'ok' | 'failed' | 'unclear' | 'skipped';
    readonly message: string;
  }[];
}
