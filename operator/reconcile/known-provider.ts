import type { IdentityProvider } from '../api/object.ts';
import type { ProviderState } from './provider-checks.ts';

/** What is known of a provider when a pass renders. */
export interface KnownProvider {
  readonly provider: IdentityProvider;
  readonly state: ProviderState;
  /** Of the version that is written now; empty where something of it is missing. */
  readonly digest: string;
  /** Whether the version that servers would run with is the one that is written now. */
  readonly current: boolean;
}
