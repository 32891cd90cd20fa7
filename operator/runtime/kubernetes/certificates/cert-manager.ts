import { X509Certificate } from 'node:crypto';
import { identityOfCertificate } from '../../../../protocol/key-service/identity.ts';
import type { KubeObject, OwnerReference } from '../../../kube-client/kube-api.ts';
import type { CertificateNeed, IssuedCertificate } from '../../../contract/workload.ts';
import { authorityLabel, certificateLabel, ownedLabels } from '../objects/labels.ts';
import { type CertificateNames, leafSecretName } from './leaf.ts';
import { secretData } from '../namespace/made-secret.ts';

const hourMs = 3_600_000;

/**
 * The Certificate object for cert-manager. A renewal keeps the key, since the key service identifies a client by its key.
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
  // The operator's own certificates have the same keys in their Secrets: the maker may change.
  const labels = { ...ownedLabels(need.owner), [authorityLabel]: need.authority, [certificateLabel]: need.name };
  const { name, kind, group } = need.issuer ?? { name: '', kind: 'Issuer', group: undefined };
  return {
    apiVersion: 'cert-manager.io/v1',
    kind: 'Certificate',
    metadata: { name: need.name, namespace, labels, ownerReferences: [owner] },
    spec: {
      secretName: leafSecretName(need.name),
      // The label makes the Secret one of those that the operator watches.
      secretTemplate: { labels },
      commonName: need.commonName,
      ...(names.dnsNames.length === 0 ? {} : { dnsNames: names.dnsNames }),
      ...(names.ipAddresses.length === 0 ? {} : { ipAddresses: names.ipAddresses }),
      // cert-manager requires at least an hour.
      duration: `${Math.max(1, Math.round(lifeMs / hourMs))}h0m0s`,
      usages: ['digital signature', ...need.usages.map((usage) => `${usage} auth`)],
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Never' },
      issuerRef: { name, kind, ...(group === undefined ? {} : { group }) },
    },
  };
}

/** Returns the certificate that cert-manager made; undefined before that. */
export function issuedInSecret(secret: KubeObject | undefined): IssuedCertificate | undefined {
  const pem = secretData(secret)['tls.crt'];
  if (pem === undefined || pem === '') return undefined;
  return { identity: identityOfCertificate(pem), notAfter: new X509Certificate(pem).validToDate };
}
