import type { KMSConfig, Tenant } from '../../api/object.ts';
import { canonical } from '../../render/restart-inputs.ts';
import { workloadName } from '../../render/render-context.ts';
import type { IssuedCertificate } from '../../contract/workload.ts';
import { keyServiceClientCertificate } from '../../render/certificates.ts';
import type { ConditionUpdate } from '../conditions.ts';
import { referencesOf } from '../affected-by.ts';
import type { Resources } from '../resources.ts';

/**
 * The result of the last reconcile of a KMSConfig, for its tenants. Each tenant looks up its own entry, so that the cost does not grow
 * with the number of tenants.
 */
export interface KeyServiceView {
  /** Digest of everything that it was rendered from, except its tenants. */
  readonly version: string;
  /** True when it is ready and has no rollout. */
  readonly settled: boolean;
  /** The part of each tenant that it was rendered with. */
  readonly admitted: ReadonlyMap<string, string>;
  /** Tenants that must not use it, each with the tenant that it would share keys with. */
  readonly overlapping: ReadonlyMap<string, string>;
  readonly conditions: readonly ConditionUpdate[];
}

/** Returns a digest of everything that the key service is rendered from, except its tenants. */
export function keyServiceVersion(
  kms: KMSConfig,
  { secrets, configMaps }: Resources,
  fingerprint: Fingerprint,
): string {
  const references = referencesOf(kms);
  return fingerprint(
    canonical([
      kms.spec,
      kms.metadata.annotations,
      [...references.secrets].map((name) => secrets.get(name)),
      [...references.configMaps].map((name) => configMaps.get(name)),
    ]),
  );
}

type Fingerprint = (value: string) => string;

/** Returns the part of a tenant that its key service must have before the server may go on. */
export function admission(tenant: Tenant, certificates: ReadonlyMap<string, IssuedCertificate>): string {
  const certificate = certificates.get(keyServiceClientCertificate(tenant.metadata.name));
  return canonical([tenant.spec.kmsConfigRef, certificate?.identity, certificate?.formerIdentity]);
}

/** Returns why the server of a tenant must wait for its key service; undefined when it need not. */
export function unsettledReason(
  tenant: Tenant,
  admitted: string,
  view: KeyServiceView | undefined,
  version: string,
): string | undefined {
  const ref = tenant.spec.kmsConfigRef;
  if (ref === undefined) return undefined;
  const name = workloadName({ kind: 'KMSConfig', name: ref.name });
  if (view === undefined || view.version !== version || !view.settled) return `waits for ${name} to be ready`;
  return view.admitted.get(tenant.metadata.name) === admitted ? undefined : `waits for ${name} to admit it`;
}

/** Returns the tenants for which the view of their key service has changed. */
export function concernedTenants(
  before: KeyServiceView | undefined,
  after: KeyServiceView,
  users: readonly Tenant[],
): readonly Tenant[] {
  const everyone =
    before === undefined ||
    before.version !== after.version ||
    before.settled !== after.settled ||
    canonical(before.conditions) !== canonical(after.conditions);
  if (everyone) return users;
  return users.filter(
    ({ metadata: { name } }) =>
      before.admitted.get(name) !== after.admitted.get(name) ||
      before.overlapping.get(name) !== after.overlapping.get(name),
  );
}
