import type { KMSConfig, Tenant } from '../api/object.ts';
import type { CertificateNeed } from '../workload.ts';
import { workloadName } from './render-context.ts';

/** The certificate of the key service itself. */
export function keyServiceCertificate(name: string): string {
  return `${name}-key-service`;
}

/** The certificate by which the key service knows a tenant's server. */
export function keyServiceClientCertificate(tenant: string): string {
  return `${tenant}-key-service-client`;
}

/** Every certificate that the resources need, before anything is rendered: policies hold the identities of their keys. */
export function certificateNeeds(
  tenants: readonly Tenant[],
  kmsConfigs: ReadonlyMap<string, KMSConfig>,
): readonly CertificateNeed[] {
  const servers = [...kmsConfigs.values()].map(({ metadata: { name }, spec }): CertificateNeed => {
    const owner = { kind: 'KMSConfig', name } as const;
    const certificate = keyServiceCertificate(name);
    return {
      name: certificate,
      owner,
      commonName: certificate,
      authority: name,
      usages: ['server'],
      validFor: [workloadName(owner)],
      alsoValidFor: [spec.address.host],
    };
  });
  const clients = tenants.flatMap(({ metadata: { name }, spec }): CertificateNeed[] => {
    if (spec.kmsConfigRef === undefined || !kmsConfigs.has(spec.kmsConfigRef.name)) return [];
    const certificate = keyServiceClientCertificate(name);
    return [
      {
        name: certificate,
        owner: { kind: 'Tenant', name },
        commonName: certificate,
        authority: spec.kmsConfigRef.name,
        usages: ['client'],
        validFor: [],
        alsoValidFor: [],
      },
    ];
  });
  return [...servers, ...clients];
}
