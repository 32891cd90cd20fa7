import type { CertificateTimes } from './certificate-times.ts';
import { X509Certificate } from 'node:crypto';
import type { CertificateAndKey } from '../../../../platform/tls/certificate-and-key.ts';
import type { KubeObject, OwnerReference } from '../../../kube-client/kube-api.ts';
import { authorityLabel, managedBy } from '../objects/labels.ts';
import { encodeData, secretData } from '../namespace/made-secret.ts';

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** The certificate and key of an authority during a rotation. Only `signing` signs; all peers trust both. */
export type AuthorityPhase =
  | { readonly kind: 'settled'; readonly signing: Validity }
  | { readonly kind: 'introducing'; readonly signing: Validity; readonly next: Validity; readonly since: Date }
  | { readonly kind: 'retiring'; readonly signing: Validity; readonly previous: Validity; readonly since: Date };

export type AuthorityStep =
  | { readonly kind: 'stay'; readonly until: Date }
  /** Make the next authority and publish it. `signing` still signs. */
  | { readonly kind: 'introduce' }
  /** All peers know the next authority, so it signs from now on. */
  | { readonly kind: 'switch' }
  /** No certificate of the previous authority is in use. */
  | { readonly kind: 'retire' };

/**
 * Decides the next step of an authority. A side that trusts an authority too late refuses its peer, and so does a side that stops too
 * early. So a new authority signs only after `spreadMs`, and the old one is dropped only when nothing signed by it was in use for
 * `graceMs`, or when it has expired.
 */
export function authorityStep(
  phase: AuthorityPhase,
  now: Date,
  times: Pick<CertificateTimes, 'spreadMs' | 'graceMs'>,
  signedByPrevious: boolean,
): AuthorityStep {
  switch (phase.kind) {
    case 'settled':
      return reached(twoThirds(phase.signing), now) ?? { kind: 'introduce' };
    case 'introducing':
      // Peers accept nothing that an expired authority signed, so there is no reason to wait.
      if (phase.signing.notAfter <= now) return { kind: 'switch' };
      return reached(after(phase.since, times.spreadMs), now) ?? { kind: 'switch' };
    case 'retiring':
      if (phase.previous.notAfter <= now) return { kind: 'retire' };
      if (signedByPrevious) return { kind: 'stay', until: phase.previous.notAfter };
      return reached(after(phase.since, times.graceMs), now) ?? { kind: 'retire' };
    default:
      return phase satisfies never;
  }
}

/** Returns the time when two thirds of a life are over. The last third is left for retries. */
export function twoThirds({ notBefore, notAfter }: Validity): Date {
  return new Date(notBefore.getTime() + ((notAfter.getTime() - notBefore.getTime()) * 2) / 3);
}

function after(since: Date, milliseconds: number): Date {
  return new Date(since.getTime() + milliseconds);
}

function reached(time: Date, now: Date): AuthorityStep | undefined {
  return now < time ? { kind: 'stay', until: time } : undefined;
}

/** An authority with its keys. They never leave its Secret, which no pod mounts. */
export type Authority =
  | { readonly kind: 'settled'; readonly signing: CertificateAndKey }
  | {
      readonly kind: 'introducing';
      readonly signing: CertificateAndKey;
      readonly next: CertificateAndKey;
      readonly since: Date;
    }
  | {
      readonly kind: 'retiring';
      readonly signing: CertificateAndKey;
      readonly previousPem: string;
      readonly since: Date;
    };

export function authoritySecretName(authority: string): string {
  return `${authority}-authority`;
}

/** Returns undefined when the Secret holds no authority; the caller then makes a new one. */
export function readAuthority(secret: KubeObject): Authority | undefined {
  const data = secretData(secret);
  const signing = pair(data['tls.crt'], data['tls.key']);
  if (signing === undefined) return undefined;
  const since = new Date(data['since'] ?? '');
  const next = pair(data['next.crt'], data['next.key']);
  if (Number.isNaN(since.getTime())) return { kind: 'settled', signing };
  if (next !== undefined) return { kind: 'introducing', signing, next, since };
  const previousPem = data['previous.crt'];
  return previousPem === undefined ? { kind: 'settled', signing } : { kind: 'retiring', signing, previousPem, since };
}

export function authoritySecret(
  name: string,
  namespace: string,
  authority: Authority,
  owners: readonly OwnerReference[],
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: authoritySecretName(name),
      namespace,
      labels: {
        'app.kubernetes.io/managed-by': managedBy,
        'app.kubernetes.io/name': 'coffer',
        [authorityLabel]: name,
      },
      ...(owners.length === 0 ? {} : { ownerReferences: owners }),
    },
    type: 'Opaque',
    data: encodeData({
      'tls.crt': authority.signing.certPem,
      'tls.key': authority.signing.keyPem,
      'ca.crt': bundleOf(authority),
      ...(authority.kind === 'settled' ? {} : { since: authority.since.toISOString() }),
      ...(authority.kind === 'introducing'
        ? { 'next.crt': authority.next.certPem, 'next.key': authority.next.keyPem }
        : {}),
      ...(authority.kind === 'retiring' ? { 'previous.crt': authority.previousPem } : {}),
    }),
  };
}

/** Returns the certificates that all peers trust. */
export function bundleOf(authority: Authority): string {
  switch (authority.kind) {
    case 'settled':
      return authority.signing.certPem;
    case 'introducing':
      return authority.signing.certPem + authority.next.certPem;
    case 'retiring':
      return authority.signing.certPem + authority.previousPem;
    default:
      return authority satisfies never;
  }
}

export function phaseOf(authority: Authority): AuthorityPhase {
  const signing = validityOf(authority.signing.certPem);
  switch (authority.kind) {
    case 'settled':
      return { kind: 'settled', signing };
    case 'introducing':
      return { kind: 'introducing', signing, next: validityOf(authority.next.certPem), since: authority.since };
    case 'retiring':
      return { kind: 'retiring', signing, previous: validityOf(authority.previousPem), since: authority.since };
    default:
      return authority satisfies never;
  }
}

export function validityOf(certPem: string): Validity {
  const { validFromDate, validToDate } = new X509Certificate(certPem);
  return { notBefore: validFromDate, notAfter: validToDate };
}

function pair(certPem: string | undefined, keyPem: string | undefined): CertificateAndKey | undefined {
  return certPem === undefined || keyPem === undefined ? undefined : { certPem, keyPem };
}
