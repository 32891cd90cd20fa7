import type { IdentityProvider, KMSConfig, Secret, Tenant } from '../api/object.ts';

/** The last good state of everything that was read. */
export interface Resources {
  readonly tenants: ReadonlyMap<string, Tenant>;
  readonly identityProviders: ReadonlyMap<string, IdentityProvider>;
  readonly kmsConfigs: ReadonlyMap<string, KMSConfig>;
  readonly secrets: ReadonlyMap<string, Secret>;
  /** Manifests that are refused now, by `Kind/name`; the good state before, where there was one, is in the maps. */
  readonly invalid: ReadonlyMap<string, string>;
}
