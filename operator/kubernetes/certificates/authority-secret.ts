import { X509Certificate } from 'node:crypto';
import type { CertificateAndKey } from '../../../platform/certificates/certificate-and-key.ts';
import type { KubeObject, OwnerReference } from '../../kube/kube-api.ts';
import { authorityLabel, managedBy } from '../objects/labels.ts';
import type { AuthorityPhase, Validity } from './authority-phases.ts';
import { encodeData, secretData } from './secret-data.ts';

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

/** Undefined where the Secret holds no authority: one is made anew. */
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

/** What everybody trusts. */
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
