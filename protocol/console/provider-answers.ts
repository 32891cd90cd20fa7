/** The configuration of identity providers in the console's HTTP API. */

export interface ProviderKinds {
  readonly kinds: readonly ProviderKind[];
  /** The redirect URI to register at a provider. */
  readonly redirectUri: string;
}

export interface ProviderKind {
  /** `openid` or `ldap`. */
  readonly type: string;
  readonly description: string;
  /** Several configurations are allowed. */
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
  /** `_` for the default configuration. */
  readonly name: string;
  readonly enabled: boolean;
  /** Configurations of the environment are read only. */
  readonly origin: 'environment' | 'stored';
  readonly displayName?: string;
  readonly roleArn?: string;
  readonly state: ProviderState;
}

export type ProviderState =
  | { readonly kind: 'ready'; readonly issuer?: string }
  | { readonly kind: 'unavailable'; readonly reason: string }
  | { readonly kind: 'off' }
  /** The first sign-in finds out. */
  | { readonly kind: 'unknown' };

export interface ProviderAnswer extends ProviderRow {
  /** Secrets are `*REDACTED*`. A redacted value in a change keeps the secret. */
  readonly values: Readonly<Record<string, string>>;
}

export interface ProviderTest {
  readonly steps: readonly {
    readonly step: string;
    readonly outcome: 'ok' | 'failed' | 'unclear' | 'skipped';
    readonly message: string;
  }[];
}
