import type { Condition } from '../api/object.ts';
import type { CertificateStatus, RolloutStatus } from '../reconcile/conditions.ts';

/** What `kubectl coffer status -o json` prints. Times are ISO 8601. */
export interface NamespaceStatus {
  readonly namespace: string;
  readonly tenants: readonly TenantStatus[];
  /** Resources that no Tenant of those shown uses. */
  readonly unused: readonly ResourceState[];
  /** What could not be read, and why. */
  readonly missed: readonly string[];
}

export interface TenantStatus extends ResourceState {
  readonly keyService: ResourceState | undefined;
  readonly identityProviders: readonly ResourceState[];
  readonly buckets: readonly ResourceState[];
  /** Policies, who has them, users and access keys. */
  readonly identities: readonly ResourceState[];
}

export interface ResourceState {
  readonly kind: string;
  readonly name: string;
  /** A name that is used, but belongs to nothing. */
  readonly exists: boolean;
  readonly ready: 'True' | 'False' | 'Unknown';
  /** Changes are observed once this is so; false: the operator has not seen the last one yet. */
  readonly upToDate: boolean;
  readonly paused: boolean;
  readonly hibernated: boolean;
  readonly servers?: string;
  readonly health?: string;
  readonly version?: string;
  /** While pods are replaced. */
  readonly rollout?: RolloutStatus;
  readonly issuer?: string;
  readonly addresses?: Readonly<Record<string, string>>;
  readonly conditions: readonly Condition[];
  readonly pods: readonly PodStatus[];
  readonly certificates: readonly CertificateStatus[];
  /** The latest first. */
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
