import type { ManagedResource } from '../../api/object.ts';
import type { Resources } from '../resources.ts';

/** What a resource describes in its tenant, which no other may: a bucket, a policy, the holder of an access key. */
interface ExternalResource {
  readonly what: 'bucket' | 'policy' | 'access key';
  readonly name: string;
  /** The field that names it. */
  readonly field: string;
}

/** Undefined for a PolicyBinding: several may give the same. */
export function externalResourceOf({ kind, spec, metadata }: ManagedResource): ExternalResource | undefined {
  switch (kind) {
    case 'Bucket':
      return { what: 'bucket', name: spec.bucketName ?? metadata.name, field: 'spec.bucketName' };
    case 'Policy':
      return { what: 'policy', name: spec.policyName ?? metadata.name, field: 'spec.policyName' };
    case 'User':
    case 'AccessKey':
      // Users are known by their access keys, so that one name is for both.
      return { what: 'access key', name: spec.accessKey ?? metadata.name, field: 'spec.accessKey' };
    case 'PolicyBinding':
      return undefined;
    default:
      return kind satisfies never;
  }
}

/**
 * The resources that describe one thing of one tenant, this one among them, oldest first: the first has the say, and the others are
 * refused, or each would undo what another did.
 */
export function claimants(
  resource: ManagedResource,
  { managed }: Pick<Resources, 'managed'>,
): readonly ManagedResource[] {
  const thing = externalResourceOf(resource);
  if (thing === undefined) return [resource];
  return [...managed.values()]
    .filter((other) => {
      if (other.kind === resource.kind && other.metadata.name === resource.metadata.name) return true;
      const its = externalResourceOf(other);
      return (
        other.spec.tenantRef.name === resource.spec.tenantRef.name &&
        its?.what === thing.what &&
        its.name === thing.name
      );
    })
    .sort((a, b) => order(a).localeCompare(order(b), 'en'));
}

/** Without a time, as manifests in a folder are, the name decides. */
function order({ kind, metadata }: ManagedResource): string {
  return `${metadata.creationTimestamp ?? ''} ${metadata.name} ${kind}`;
}
