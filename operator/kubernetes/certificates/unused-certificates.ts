import type { Cache, KubeObject } from '../../kube/kube-api.ts';
import type { ResourceReference } from '../../workload.ts';
import { authorityLabel, certificateLabel, ownerKindLabel, ownerLabel } from '../objects/labels.ts';

export interface CertificateObjects {
  readonly secrets: Cache;
  /** Certificates of cert-manager; undefined while the cluster does not know them. */
  readonly certificates: Cache | undefined;
}

/**
 * What was made for certificates of a resource that it has no more, such as after its TLS was turned off. `made` says who makes each
 * certificate that it has. What pods still mount is kept for them elsewhere: they hold copies.
 */
export function unusedCertificates(
  owner: ResourceReference,
  made: ReadonlyMap<string, 'operator' | 'cert-manager'>,
  namespace: string,
  { secrets, certificates }: CertificateObjects,
): { readonly secrets: readonly KubeObject[]; readonly certificates: readonly KubeObject[] } {
  const isOf = ({ metadata: { labels = {} } }: KubeObject): boolean =>
    labels[ownerKindLabel] === owner.kind && labels[ownerLabel] === owner.name;
  const kept = secrets.list(namespace);
  const leaves = kept.filter((secret) => isOf(secret) && isUnused(secret, made));
  const gone = new Set(leaves);
  const authorities = new Set(leaves.map(({ metadata }) => metadata.labels?.[authorityLabel]));
  const unsigned = kept.filter(({ metadata: { labels = {} } }) => {
    const authority = labels[authorityLabel];
    if (authority === undefined || labels[certificateLabel] !== undefined || !authorities.has(authority)) return false;
    return !kept.some(
      (other) =>
        !gone.has(other) &&
        other.metadata.labels?.[authorityLabel] === authority &&
        other.metadata.labels[certificateLabel] !== undefined,
    );
  });
  const requests = (certificates?.list(namespace) ?? []).filter(
    (request) => isOf(request) && made.get(request.metadata.labels?.[certificateLabel] ?? '') !== 'cert-manager',
  );
  return { secrets: [...leaves, ...unsigned], certificates: requests };
}

function isUnused({ metadata: { labels = {} } }: KubeObject, made: ReadonlyMap<string, unknown>): boolean {
  const certificate = labels[certificateLabel];
  return certificate !== undefined && !made.has(certificate);
}
