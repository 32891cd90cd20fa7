import { isIP } from 'node:net';
import { headlessServiceName } from '../objects/network.ts';
import type { CertificateNeed, IssuedCertificate } from '../../../contract/workload.ts';
import { twoThirds, type Validity, validityOf } from './authority.ts';
import type { CertificateTimes } from './certificate-times.ts';
import { X509Certificate } from 'node:crypto';
import type { CertificateAndKey } from '../../../../platform/tls/certificate-and-key.ts';
import { identityOfCertificate } from '../../../../protocol/key-service/identity.ts';
import type { KubeObject, OwnerReference } from '../../../kube-client/kube-api.ts';
import { authorityLabel, certificateLabel, ownedLabels } from '../objects/labels.ts';
import { encodeData, secretData } from '../namespace/made-secret.ts';

export interface CertificateNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** Returns every name of a workload in the namespace: its Service, its pods, and this machine for `kubectl port-forward`. */
export function certificateNames(need: CertificateNeed, namespace: string): CertificateNames {
  const given = need.alsoValidFor.filter((name) => name !== '0.0.0.0' && name !== '::');
  const inCluster = need.validFor.flatMap((workload) => [
    workload,
    `${workload}.${namespace}`,
    `${workload}.${namespace}.svc`,
    `${workload}.${namespace}.svc.cluster.local`,
    `*.${headlessServiceName(workload)}.${namespace}.svc`,
    `*.${headlessServiceName(workload)}.${namespace}.svc.cluster.local`,
  ]);
  const loopback = need.validFor.length === 0 ? [] : ['localhost', '127.0.0.1', '::1'];
  // A DNS name is the same in any case; cert-manager takes small letters alone.
  const names = [...new Set([...inCluster, ...loopback, ...given.map((name) => name.toLowerCase())])];
  return {
    dnsNames: names.filter((name) => isIP(name) === 0),
    ipAddresses: names.filter((name) => isIP(name) !== 0),
  };
}

/** Facts about the certificate that its programs use now. */
interface LeafFacts {
  readonly validity: Validity;
  /** True when the signing authority signed it. */
  readonly signed: boolean;
  /** True when it covers every needed name and use. */
  readonly fits: boolean;
  /** True when its key was made for the current `rotation`. */
  readonly keyWanted: boolean;
}

/** The state of a key rotation. */
export type KeyPhase =
  | { readonly kind: 'settled' }
  /** Peers learn the identity of the next key; programs use the old one. */
  | { readonly kind: 'announced'; readonly since: Date }
  /** Programs get the new key; the old identity is still known. */
  | { readonly kind: 'overlapping'; readonly since: Date };

export type LeafStep =
  | { readonly kind: 'stay'; readonly until: Date }
  /** Sign again for the same key. */
  | { readonly kind: 'renew' }
  /** Make the next key and publish its identity. */
  | { readonly kind: 'announce' }
  /** Give the next key to the programs. */
  | { readonly kind: 'switch' }
  /** Drop the old identity. */
  | { readonly kind: 'forget' };

/**
 * Decides the next step of a certificate. A renewal goes first, since it changes no identity and need not wait. A key is rotated in three
 * steps, since a peer refuses an identity that it does not know yet.
 */
export function leafStep(
  facts: LeafFacts,
  phase: KeyPhase,
  now: Date,
  times: Pick<CertificateTimes, 'spreadMs'>,
): LeafStep {
  const due = twoThirds(facts.validity);
  if (!facts.signed || !facts.fits || due <= now) return { kind: 'renew' };
  switch (phase.kind) {
    case 'settled':
      return facts.keyWanted ? { kind: 'stay', until: due } : { kind: 'announce' };
    case 'announced':
      return waited(phase.since, times.spreadMs, due, now) ?? { kind: 'switch' };
    case 'overlapping':
      return waited(phase.since, times.spreadMs, due, now) ?? { kind: 'forget' };
    default:
      return phase satisfies never;
  }
}

function waited(since: Date, spreadMs: number, due: Date, now: Date): LeafStep | undefined {
  const over = since.getTime() + spreadMs;
  return now.getTime() < over ? { kind: 'stay', until: new Date(Math.min(over, due.getTime())) } : undefined;
}

/** A certificate with its key, and the next or former key during a rotation. */
export interface Leaf {
  readonly current: CertificateAndKey;
  /** The value of the need's `rotation` for which `current` was made, or `next` during a rotation. */
  readonly rotation: string;
  /** Names and uses of `current`, as `purposeOf` writes them. */
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

/** Returns the identities that peers must know: during a rotation both, whichever the programs use. */
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
    // Successive authorities have the same name, so only the signature distinguishes them.
    signed: certificate.checkIssued(signing) && certificate.verify(signing.publicKey),
    fits: leaf.purpose === purposeOf(need, names),
    keyWanted: leaf.rotation === (need.rotation ?? ''),
  };
}

/**
 * Writes names and uses of a certificate as text. The text is stored and compared, instead of read from the certificate: two spellings of
 * one name would cause a new signature every time.
 */
export function purposeOf({ commonName, usages }: CertificateNeed, names: CertificateNames): string {
  return JSON.stringify({ commonName, usages, ...names });
}
