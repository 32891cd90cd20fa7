import type { ManagedResource, Secret, Tenant } from '../../api/object.ts';
import type { ManagedKind } from '../../runtime/contract/workload.ts';
import type { ConditionUpdate, ResourceStatus } from '../conditions.ts';

/** How a tenant's server is reached, as its root user. */
export interface TenantAccess {
  readonly tenant: Tenant;
  /** HOST:PORT of the S3 API, which is that of the admin API too. */
  readonly address: string;
  readonly rootUser: string;
  readonly rootPassword: string;
  /** PEM of the authorities of its certificate, where `spec.tls` is set; the system's without it. */
  readonly ca?: string;
}

/** What a pass may need besides the resource itself. */
export interface ManagedContext {
  readonly access: TenantAccess;
  /** Other resources of the tenant that are not being deleted. */
  readonly others: readonly ManagedResource[];
  /** What was written to the status last. */
  readonly status: ManagedStatus;
  /** Keeps a part of the status before something is done that must not be forgotten. */
  readonly remember: (status: ManagedStatus) => Promise<void>;
  /** The Secret with the keys of a User or an AccessKey, made where there is none. Errors with `ForeignObject` where its keys are missing. */
  readonly credentials: () => Promise<Secret>;
}

/** What a resource's status tells beside its conditions. */
export type ManagedStatus = Pick<
  ResourceStatus,
  'bucketName' | 'policyName' | 'accessKey' | 'credentialsSecret' | 'attached'
>;

/** What a pass found, and when the resource is to be looked at again so that drift is repaired. */
export interface ManagedResult {
  readonly conditions: readonly ConditionUpdate[];
  readonly afterMs: number;
  /** As it was where it is left out. */
  readonly status?: ManagedStatus;
}

/** Makes what is in a tenant's server what resources of one kind say. */
export interface ManagedController<Resource extends ManagedResource = ManagedResource> {
  /** Errors only where no condition can tell; then the pass is tried again. */
  reconcile(resource: Resource, context: ManagedContext): Promise<ManagedResult>;
  /**
   * The resource is being deleted: does with what it describes what `deletionPolicy` says. `context` is undefined where its tenant is
   * gone. Resolves with `done` when nothing is left to do, so that the finalizer may go.
   */
  remove(resource: Resource, context: ManagedContext | undefined): Promise<ManagedResult & { readonly done: boolean }>;
}

/** What `operator/buckets` and `operator/identities` give, and the reconciler calls. */
export type ManagedControllers = {
  readonly [Kind in ManagedKind]: ManagedController<Extract<ManagedResource, { kind: Kind }>>;
};

/** A resource of one of these kinds, by name. */
export interface ManagedRef {
  readonly kind: ManagedKind;
  readonly name: string;
}

/** What may have to wait when it is deleted: what is in a tenant's server, and the keys of a tenant. */
export interface FinalizedRef {
  readonly kind: ManagedKind | 'KMSConfig';
  readonly name: string;
}

/** Holds a deleted resource until what it describes is dealt with. */
export interface ResourceFinalizer {
  /** Adds the finalizer where it is missing. */
  hold(ref: FinalizedRef): Promise<void>;
  /** Removes it where it is there. */
  release(ref: FinalizedRef): Promise<void>;
}
