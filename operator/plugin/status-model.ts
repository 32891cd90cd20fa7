import type { Condition } from '../api/object.ts';
import type { CertificateStatus, RolloutStatus } from '../reconcile/conditions.ts';

/** The output of `kubectl coffer status -o json`. Times are ISO 8601. */
export interface NamespaceStatus {
  readonly namespace: string;
  readonly tenants: readonly TenantStatus[];
  /** Resources that none of the shown Tenants uses. */
  readonly unused: readonly ResourceState[];
  /** Objects that could not be read, with the reason. */
  readonly missed: readonly string[];
}

export interface TenantStatus extends ResourceState {
  readonly keyService: ResourceState | undefined;
  readonly identityProviders: readonly ResourceState[];
  readonly buckets: readonly ResourceState[];
  /** Policies, their users, and access keys. */
  readonly identities: readonly ResourceState[];
}

export interface ResourceState {
  readonly kind: string;
  readonly name: string;
  /** A name that is used, but does not exist. */
  readonly exists: boolean;
  readonly ready: 'True' | 'False' | 'Unknown';
  /** True when the operator has observed the last change. */
  readonly upToDate: boolean;
  readonly paused: boolean;
  readonly hibernated: boolean;
  readonly servers?: string;
  readonly health?: string;
  readonly version?: string;
  /** Present while pods are replaced. */
  readonly rollout?: RolloutStatus;
  readonly issuer?: string;
  readonly addresses?: Readonly<Record<string, string>>;
  readonly conditions: readonly Condition[];
  readonly pods: readonly PodStatus[];
  readonly certificates: readonly CertificateStatus[];
  /** The latest event first. */
  readonly events: readonly EventStatus[];
}

export interface PodStatus {
  readonly name: string;
  /** `ready`, `starting`, `stopping`, or the reason of a container that does not run: `CrashLoopBackOff`. */
  readonly state: string;
  readonly message?: string;
  readonly restarts: number;
  readonly image: string;
  readonly node?: string;
  readonly startedAt?: string;
}

export interface EventStatus {
  readonly at: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}
