import { X509Certificate } from 'node:crypto';
import { identityOfCertificate } from '../../../../protocol/key-service/identity.ts';
import type { KubeObject, OwnerReference } from '../../../kube-client/kube-api.ts';
import type { CertificateNeed, IssuedCertificate } from '../../contract/workload.ts';
import { authorityLabel, certificateLabel, ownedLabels } from '../objects/labels.ts';
import { type CertificateNames, leafSecretName } from './leaf.ts';
import { secretData } from '../namespace/made-secret.ts';

const hourMs = 3_600_000;

/**
 * What cert-manager makes the certificate from. The key stays when it renews: the key service knows a client by its key.
 *
 * @see https://cert-manager.io/docs/reference/api-docs/#cert-manager.io/v1.CertificateSpec
 */
export function certificateObject(
  need: CertificateNeed,
  names: CertificateNames,
  namespace: string,
  lifeMs: number,
  owner: OwnerReference,
): KubeObject {
  // Those that the Secret of a certificate always has, whoever makes it: the maker may change.
  const labels = { ...ownedLabels(need.owner), [authorityLabel]: need.authority, [certificateLabel]: need.name };
  const { name, kind, group } = need.issuer ?? { name: '', kind: 'Issuer', group: undefined };
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name: need.name, namespace, labels, ownerReferences: [owner] },
    spec: {
      secretName: leafSecretName(need.name),
      // So that its Secret is among those that the operator looks at.
      secretTemplate: { labels },
      commonName: need.commonName,
      ...(names.dnsNames.length === 0 ? {} : { dnsNames: names.dnsNames }),
      ...(names.ipAddresses.length === 0 ? {} : { ipAddresses: names.ipAddresses }),
      // It takes hours at least.
      duration: `${Math.max(1, Math.round(lifeMs / hourMs))}h0m0s`,
      usages: ['digital signature', ...need.usages.map((usage) => `${usage} auth`)],
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Never' },
      issuerRef: { name, kind, ...(group === undefined ? {} : { group }) },
    },
  };
}

/** What cert-manager made; undefined while it has not. */
export function issuedInSecret(secret: KubeObject | undefined): IssuedCertificate | undefined {
  const pem = secretData(secret)['tls.crt'];
  if (pem === undefined || pem === '') return undefined;
  return { identity: identityOfCertificate(pem), notAfter: new X509Certificate(pem).validToDate };
}
