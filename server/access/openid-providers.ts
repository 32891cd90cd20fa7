import type { ProviderMetadata } from '../../platform/openid/discovery.ts';
import type { OpenIdProblem } from '../../platform/openid/openid-problem.ts';
import type { ProviderFetch } from '../../platform/openid/provider-fetch.ts';
import type { KeySet } from '../../platform/openid/key-set.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';

export type ProviderStatus =
  | { readonly kind: 'ready'; readonly metadata: ProviderMetadata; readonly keys: KeySet }
  /** Discovery was not done yet, or failed; it is tried again in the background. */
  | { readonly kind: 'unavailable'; readonly problem: OpenIdProblem | undefined };

export interface OpenIdProvider {
  /** The name of the configuration, e.g. `PRIMARY_IAM`. */
  readonly id: string;
  readonly settings: OpenIdProviderSettings;
  /** Label of the sign-in button. */
  readonly displayName: string;
  /** `arn:minio:iam:<region>:role/…`, where the provider has a role policy. */
  readonly roleArn: string | undefined;
  readonly status: ProviderStatus;
  /** Bounded, and trusting the provider's CA: for every other call to this provider (code exchange, userinfo). */
  readonly fetch: ProviderFetch;
}

export interface OpenIdProviders {
  /** The enabled ones, in the order of the settings. */
  readonly list: readonly OpenIdProvider[];
  byId(id: string): OpenIdProvider | undefined;
  /** Resolves when each provider was tried once; never rejects. Goes on retrying those that failed, until `close`. */
  start(): Promise<void>;
  close(): void;
}
