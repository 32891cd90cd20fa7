import type { ManagedResource } from '../../api/object.ts';
import type { Resources } from '../resources.ts';

/** The object in a tenant's server that a managed resource describes: a bucket, a policy, the owner of an access key. */
interface ExternalResource {
  readonly what: 'bucket' | 'policy' | 'access key';
  readonly name: string;
  /** The field with its name. */
  readonly field: string;
}

/** Returns the external resource; undefined for a PolicyBinding, since several may attach the same policy. */
export function externalResourceOf({ kind, spec, metadata }: ManagedResource): ExternalResource | undefined {
  switch (kind) {
    case 'Bucket':
      return { what: 'bucket', name: spec.bucketName ?? metadata.name, field: 'spec.bucketName' };
    case 'Policy':
      return { what: 'policy', name: spec.policyName ?? metadata.name, field: 'spec.policyName' };
    case 'User':
    case 'AccessKey':
      // A user is known by its access key, so users and access keys share one set of names.
      return { what: 'access key', name: spec.accessKey ?? metadata.name, field: 'spec.accessKey' };
    case 'PolicyBinding':
      return undefined;
    default:
      return kind satisfies never;
  }
}

/**
 * Returns the managed resources that describe one external resource, oldest first, with this one among them. The first one counts and
 * the others are refused; otherwise each would revert the changes of another.
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

/** The name decides between manifests in a folder, which have no time. */
function order({ kind, metadata }: ManagedResource): string {
  return `${metadata.creationTimestamp ?? ''} ${metadata.name} ${kind}`;
}
