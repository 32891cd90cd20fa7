import { rotateAnnotation } from '../api/tenant.ts';
import type { KMSConfig, Tenant } from '../api/object.ts';
import type { CertificateNeed } from '../runtime/contract/workload.ts';
import { milliseconds } from './rendered-part.ts';
import { workloadName } from './render-context.ts';

/** The certificate of the key service itself. */
export function keyServiceCertificate(name: string): string {
  return `${name}-key-service`;
}

/** The certificate by which the key service knows a tenant's server. */
export function keyServiceClientCertificate(tenant: string): string {
  return `${tenant}-key-service-client`;
}

/** The certificate by which the operator asks a key service whether it holds the keys of tenants that are to move to it. */
export function keyProofCertificate(kms: string): string {
  return `${kms}-key-proof`;
}

export function keyProofNeed(kms: KMSConfig): CertificateNeed {
  const { name } = kms.metadata;
  const certificate = keyProofCertificate(name);
  return {
    name: certificate,
    owner: { kind: 'KMSConfig', name },
    commonName: certificate,
    authority: name,
    usages: ['client'],
    validFor: [],
    alsoValidFor: [],
    ...keyServiceMaking(kms),
  };
}

/** The certificate of a tenant's own S3 API and console, where the operator or cert-manager makes it. */
export function serverCertificate(tenant: string): string {
  return `${tenant}-server-tls`;
}

/** Every certificate that the resources need, before anything is rendered: policies hold the identities of their keys. */
export function certificateNeeds(
  tenants: readonly Tenant[],
  kmsConfigs: ReadonlyMap<string, KMSConfig>,
): readonly CertificateNeed[] {
  return [
    ...[...kmsConfigs.values()].map(keyServiceNeed),
    ...tenants.flatMap((tenant) => {
      const kms = kmsConfigs.get(tenant.spec.kmsConfigRef?.name ?? '');
      return kms === undefined ? [] : [clientNeed(tenant, kms)];
    }),
    ...tenants.flatMap(serverNeed),
  ];
}

function keyServiceNeed(kms: KMSConfig): CertificateNeed {
  const { name } = kms.metadata;
  const owner = { kind: 'KMSConfig', name } as const;
  const certificate = keyServiceCertificate(name);
  return {
    name: certificate,
    owner,
    commonName: certificate,
    authority: name,
    usages: ['server'],
    validFor: [workloadName(owner)],
    // The host is one of the local runtime, which has no cert-manager.
    alsoValidFor: kms.spec.certificates?.certManager === undefined ? [kms.spec.address.host] : [],
    ...keyServiceMaking(kms),
    ...rotationOf(kms),
  };
}

function clientNeed(tenant: Tenant, kms: KMSConfig): CertificateNeed {
  const { name } = tenant.metadata;
  const certificate = keyServiceClientCertificate(name);
  return {
    name: certificate,
    owner: { kind: 'Tenant', name },
    commonName: certificate,
    authority: kms.metadata.name,
    usages: ['client'],
    validFor: [],
    alsoValidFor: [],
    ...keyServiceMaking(kms),
    ...rotationOf(tenant),
  };
}

function serverNeed(tenant: Tenant): readonly CertificateNeed[] {
  const { tls, addresses } = tenant.spec;
  if (tls === undefined || tls.secretName !== undefined) return [];
  const owner = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const workload = workloadName(owner);
  const need = {
    name: serverCertificate(owner.name),
    owner,
    commonName: workload,
    // Another than that of any key service, whose names have another ending.
    authority: workload,
    usages: ['server'],
    validFor: [workload],
    ...rotationOf(tenant),
  } as const;
  const names = tls.dnsNames ?? [];
  if (tls.certManager === undefined) {
    return [{ ...need, alsoValidFor: [...new Set([...names, addresses.s3.host, addresses.console.host])] }];
  }
  const issuer = tls.certManager.issuerRef;
  const [first] = names;
  if (first === undefined) return [{ ...need, alsoValidFor: [], issuer }];
  // A public authority signs no name of a cluster, and takes no common name that is not among the names, or longer than this.
  return [{ ...need, ...(first.length > 64 ? {} : { commonName: first }), validFor: [], alsoValidFor: names, issuer }];
}

/** Who makes the certificates between a key service and its tenants, and for how long. */
function keyServiceMaking({ spec: { certificates } }: KMSConfig): Pick<CertificateNeed, 'issuer' | 'validForMs'> {
  return {
    ...(certificates?.life === undefined ? {} : { validForMs: milliseconds(certificates.life) }),
    ...(certificates?.certManager === undefined ? {} : { issuer: certificates.certManager.issuerRef }),
  };
}

function rotationOf({ metadata }: Tenant | KMSConfig): Pick<CertificateNeed, 'rotation'> {
  const rotation = metadata.annotations?.[rotateAnnotation];
  return rotation === undefined ? {} : { rotation };
}
