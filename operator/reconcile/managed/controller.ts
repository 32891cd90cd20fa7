import type { ManagedResource, Tenant } from '../../api/object.ts';
import type { Secret } from '../../contract/secret.ts';
import type { ManagedKind } from '../../contract/workload.ts';
import type { ConditionUpdate, ResourceStatus } from '../conditions.ts';

/** The address of a tenant's server and the credentials of its root user. */
export interface TenantAccess {
  readonly tenant: Tenant;
  /** HOST:PORT of the S3 API, which also serves the admin API. */
  readonly address: string;
  readonly rootUser: string;
  readonly rootPassword: string;
  /** PEM of the authorities of its certificate when `spec.tls` is set; the authorities of the system by default. */
  readonly ca?: string;
}

/** The dependencies of a reconcile, apart from the resource itself. */
export interface ManagedContext {
  readonly access: TenantAccess;
  /** Other resources of the tenant that are not being deleted. */
  readonly others: readonly ManagedResource[];
  /** The last written status. */
  readonly status: ManagedStatus;
  /** Writes a part of the status before a change that must not be forgotten. */
  readonly remember: (status: ManagedStatus) => Promise<void>;
  /** The Secrets of the namespace that resources name, with the uses that their owners allow. */
  readonly secrets: ReadonlyMap<string, Secret>;
  /** Returns a keyed digest, so that values can be compared and recorded without being stored. */
  readonly fingerprint: (value: string) => string;
  /** Returns the Secret with the keys of a User or an AccessKey, and makes one if needed. Errors with `ResourceError` when its keys are missing. */
  readonly credentials: () => Promise<Secret>;
}

/** The fields of a managed resource's status, apart from its conditions. */
export type ManagedStatus = Pick<
  ResourceStatus,
  | 'bucketName'
  | 'policyName'
  | 'accessKey'
  | 'credentialsSecret'
  | 'credentials'
  | 'attached'
  | 'settings'
  | 'replicationTargets'
>;

/** The conditions after a reconcile, and the time until the next one, which repairs drift. */
export interface ManagedResult {
  readonly conditions: readonly ConditionUpdate[];
  readonly afterMs: number;
  /** Undefined leaves the status as it was. */
  readonly status?: ManagedStatus;
  /** True when something was changed in the tenant. */
  readonly changed?: boolean;
}

/** Makes a tenant's server match the resources of one kind. */
export interface ManagedController<Resource extends ManagedResource = ManagedResource> {
  /** Errors only when no condition can report the problem; then the queue retries. */
  reconcile(resource: Resource, context: ManagedContext): Promise<ManagedResult>;
  /**
   * Removes or keeps the external resource of a deleted resource, as `deletionPolicy` says. `context` is undefined when its tenant is
   * gone. Resolves with `done` when nothing is left to do, so that the finalizer may go.
   */
  remove(resource: Resource, context: ManagedContext | undefined): Promise<ManagedResult & { readonly done: boolean }>;
}

/** A controller for each kind of managed resource. */
export type ManagedControllers = {
  readonly [Kind in ManagedKind]: ManagedController<Extract<ManagedResource, { kind: Kind }>>;
};

/** A managed resource, by kind and name. */
export interface ManagedRef {
  readonly kind: ManagedKind;
  readonly name: string;
}

/** A resource that may get a finalizer: a managed resource, or the KMSConfig with the keys of a tenant. */
export interface FinalizedRef {
  readonly kind: ManagedKind | 'KMSConfig';
  readonly name: string;
}

/** Sets and removes the finalizer that holds a deleted resource until its external resource is removed. */
export interface ResourceFinalizer {
  /** Adds the finalizer if it is missing. */
  hold(ref: FinalizedRef): Promise<void>;
  /** Removes the finalizer if it is present. */
  release(ref: FinalizedRef): Promise<void>;
}
