import { rotateAnnotation } from '../api/tenant.ts';
import type { KMSConfig, Tenant } from '../api/object.ts';
import type { CertificateNeed } from '../contract/workload.ts';
import { milliseconds } from './rendered-part.ts';
import { workloadName } from './render-context.ts';

/** Names the certificate of the key service. */
export function keyServiceCertificate(name: string): string {
  return `${name}-key-service`;
}

/** Names the certificate by which the key service identifies a tenant's server. */
export function keyServiceClientCertificate(tenant: string): string {
  return `${tenant}-key-service-client`;
}

/** Names the certificate with which the operator asks a key service whether it holds the keys of tenants that move to it. */
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

/** Names the certificate of a tenant's S3 API and console, when the operator or cert-manager makes it. */
export function serverCertificate(tenant: string): string {
  return `${tenant}-server-tls`;
}

/**
 * Returns every certificate that the resources need. They are made before anything is rendered, since policies hold the identities of their
 * keys.
 */
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
    // Only the local runtime, which has no cert-manager, uses the host.
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
    // The name differs from that of any key service, which has another ending.
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
  // A public authority signs no name of a cluster, and no common name that is longer than this or not among the names.
  return [{ ...need, ...(first.length > 64 ? {} : { commonName: first }), validFor: [], alsoValidFor: names, issuer }];
}

/** Returns the issuer and the life of the certificates between a key service and its tenants. */
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
