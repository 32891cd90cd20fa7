import type { BucketResource } from './bucket-controller.ts';
import type { Resources } from './resources.ts';

/**
 * The Bucket resources that describe one bucket of one tenant, this one among them, oldest first: the first has the say, and the
 * others are refused, or each would undo what another did.
 */
export function claimants(bucket: BucketResource, { buckets }: Pick<Resources, 'buckets'>): readonly BucketResource[] {
  return [...buckets.values()]
    .filter(
      ({ metadata, spec }) =>
        metadata.name === bucket.metadata.name ||
        (spec.tenantRef.name === bucket.spec.tenantRef.name && nameOf({ metadata, spec }) === nameOf(bucket)),
    )
    .sort((a, b) => order(a).localeCompare(order(b), 'en'));
}

function nameOf({ metadata, spec }: Pick<BucketResource, 'metadata' | 'spec'>): string {
  return spec.bucketName ?? metadata.name;
}

/** Without a time, as manifests in a folder are, the name decides. */
function order({ metadata }: BucketResource): string {
  return `${metadata.creationTimestamp ?? ''} ${metadata.name}`;
}
