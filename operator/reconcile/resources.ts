import type { IdentityProvider, KMSConfig, Secret, Tenant } from '../api/object.ts';
import type { BucketResource } from './bucket-controller.ts';

/** The last good state of everything that was read in one namespace. */
export interface Resources {
  readonly tenants: ReadonlyMap<string, Tenant>;
  readonly identityProviders: ReadonlyMap<string, IdentityProvider>;
  readonly kmsConfigs: ReadonlyMap<string, KMSConfig>;
  readonly buckets: ReadonlyMap<string, BucketResource>;
  readonly secrets: ReadonlyMap<string, Secret>;
  /** Their `data` by name. */
  readonly configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Manifests that are refused now, by `Kind/name`; the good state before, where there was one, is in the maps. */
  readonly invalid: ReadonlyMap<string, string>;
  /** Resources that are being deleted, by `Kind/name`, and still in the maps: nothing is made for them any more. */
  readonly deleting: ReadonlySet<string>;
}
