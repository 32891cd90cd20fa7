import type { Declared, Secret, Tenant } from '../../api/object.ts';
import type { DeclaredKind } from '../../runtime/contract/workload.ts';
import type { Finding, ResourceStatus } from '../conditions.ts';

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
export interface DeclaredContext {
  readonly access: TenantAccess;
  /** Other resources of the tenant that are not being deleted. */
  readonly others: readonly Declared[];
  /** What was written to the status last. */
  readonly status: DeclaredStatus;
  /** Keeps a part of the status before something is done that must not be forgotten. */
  readonly remember: (status: DeclaredStatus) => Promise<void>;
  /** The Secret with the keys of a User or an AccessKey, made where there is none. Errors with `ForeignObject` where its keys are missing. */
  readonly credentials: () => Promise<Secret>;
}

/** What a resource's status tells beside its conditions. */
export type DeclaredStatus = Pick<
  ResourceStatus,
  'bucketName' | 'policyName' | 'accessKey' | 'credentialsSecret' | 'attached'
>;

/** What a pass found, and when the resource is to be looked at again so that drift is repaired. */
export interface DeclaredOutcome {
  readonly findings: readonly Finding[];
  readonly afterMs: number;
  /** As it was where it is left out. */
  readonly status?: DeclaredStatus;
}

/** Makes what is in a tenant's server what resources of one kind say. */
export interface DeclaredController<Resource extends Declared = Declared> {
  /** Errors only where no condition can tell; then the pass is tried again. */
  reconcile(resource: Resource, context: DeclaredContext): Promise<DeclaredOutcome>;
  /**
   * The resource is being deleted: does with what it describes what `deletionPolicy` says. `context` is undefined where its tenant is
   * gone. Resolves with `done` when nothing is left to do, so that the finalizer may go.
   */
  remove(
    resource: Resource,
    context: DeclaredContext | undefined,
  ): Promise<DeclaredOutcome & { readonly done: boolean }>;
}

/** What `operator/buckets` and `operator/identities` give, and the reconciler calls. */
export type DeclaredControllers = {
  readonly [Kind in DeclaredKind]: DeclaredController<Extract<Declared, { kind: Kind }>>;
};

/** A resource of one of these kinds, by name. */
export interface DeclaredReference {
  readonly kind: DeclaredKind;
  readonly name: string;
}

/** What may have to wait when it is deleted: what is in a tenant's server, and the keys of a tenant. */
export interface HeldReference {
  readonly kind: DeclaredKind | 'KMSConfig';
  readonly name: string;
}

/** Holds a deleted resource until what it describes is dealt with. */
export interface DeclaredFinalizer {
  /** Adds the finalizer where it is missing. */
  hold(about: HeldReference): Promise<void>;
  /** Removes it where it is there. */
  release(about: HeldReference): Promise<void>;
}
