import { X509Certificate } from 'node:crypto';
import type { CertificateAndKey } from '../../../platform/certificates/certificate-and-key.ts';
import { identityOfCertificate } from '../../../platform/certificates/certificate-identity.ts';
import type { KubeObject, OwnerReference } from '../../kube/kube-api.ts';
import type { CertificateNeed, IssuedCertificate } from '../../workload.ts';
import { authorityLabel, certificateLabel, ownedLabels } from '../objects/labels.ts';
import { validityOf } from './authority-secret.ts';
import type { CertificateNames } from './certificate-names.ts';
import type { KeyPhase, LeafFacts } from './leaf-phases.ts';
import { encodeData, secretData } from './secret-data.ts';

/** A certificate with its key, and the next or former one while a key is exchanged. */
export interface Leaf {
  readonly current: CertificateAndKey;
  /** The value of the need's `rotation` that `current`, or else `next`, was made for. */
  readonly rotation: string;
  /** What `current` was made for, as `purposeOf` writes it. */
  readonly purpose: string;
  readonly exchange:
    | undefined
    | { readonly kind: 'announced'; readonly nextKeyPem: string; readonly nextIdentity: string; readonly since: Date }
    | { readonly kind: 'overlapping'; readonly formerIdentity: string; readonly since: Date };
}

export function leafSecretName(certificate: string): string {
  return `${certificate}-certificate`;
}

export function readLeaf(secret: KubeObject): Leaf | undefined {
  const data = secretData(secret);
  const { 'tls.crt': certPem, 'tls.key': keyPem } = data;
  if (certPem === undefined || keyPem === undefined) return undefined;
  const since = new Date(data['since'] ?? '');
  const { 'next.key': nextKeyPem, 'next.identity': nextIdentity, 'former.identity': formerIdentity } = data;
  const leaf = { current: { certPem, keyPem }, rotation: data['rotation'] ?? '', purpose: data['purpose'] ?? '' };
  if (Number.isNaN(since.getTime())) return { ...leaf, exchange: undefined };
  if (nextKeyPem !== undefined && nextIdentity !== undefined) {
    return { ...leaf, exchange: { kind: 'announced', nextKeyPem, nextIdentity, since } };
  }
  const exchange = formerIdentity === undefined ? undefined : ({ kind: 'overlapping', formerIdentity, since } as const);
  return { ...leaf, exchange };
}

export function leafSecret(
  need: CertificateNeed,
  namespace: string,
  leaf: Leaf,
  bundle: string,
  owner: OwnerReference,
): KubeObject {
  const { current, rotation, purpose, exchange } = leaf;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: leafSecretName(need.name),
      namespace,
      labels: { ...ownedLabels(need.owner), [authorityLabel]: need.authority, [certificateLabel]: need.name },
      ownerReferences: [owner],
    },
    type: 'kubernetes.io/tls',
    data: encodeData({
      'tls.crt': current.certPem,
      'tls.key': current.keyPem,
      'ca.crt': bundle,
      rotation,
      purpose,
      ...(exchange === undefined ? {} : { since: exchange.since.toISOString() }),
      ...(exchange?.kind === 'announced'
        ? { 'next.key': exchange.nextKeyPem, 'next.identity': exchange.nextIdentity }
        : {}),
      ...(exchange?.kind === 'overlapping' ? { 'former.identity': exchange.formerIdentity } : {}),
    }),
  };
}

/** What others must know: while a key is exchanged both identities, whichever the programs use. */
export function issuedBy({ current, exchange }: Leaf): IssuedCertificate {
  const { notAfter } = validityOf(current.certPem);
  const identity = identityOfCertificate(current.certPem);
  if (exchange === undefined) return { identity, notAfter };
  if (exchange.kind === 'announced') return { identity: exchange.nextIdentity, formerIdentity: identity, notAfter };
  return { identity, formerIdentity: exchange.formerIdentity, notAfter };
}

export function phaseOfKey({ exchange }: Leaf): KeyPhase {
  return exchange === undefined ? { kind: 'settled' } : { kind: exchange.kind, since: exchange.since };
}

export function factsOf(leaf: Leaf, need: CertificateNeed, names: CertificateNames, signingPem: string): LeafFacts {
  const certificate = new X509Certificate(leaf.current.certPem);
  const signing = new X509Certificate(signingPem);
  return {
    validity: validityOf(leaf.current.certPem),
    // The names of two authorities that follow each other are the same: only the signature tells them apart.
    signed: certificate.checkIssued(signing) && certificate.verify(signing.publicKey),
    fits: leaf.purpose === purposeOf(need, names),
    keyWanted: leaf.rotation === (need.rotation ?? ''),
  };
}

/**
 * Names and uses of a certificate as text. Kept beside it and compared, rather than read from it: two spellings of one name would be
 * signed again for ever.
 */
export function purposeOf({ commonName, usages }: CertificateNeed, names: CertificateNames): string {
  return JSON.stringify({ commonName, usages, ...names });
}
