import type { ResourceRef, RestartReason } from '../runtime/contract/workload.ts';
import type { AccessKey, KMSConfig, Secret, Tenant, User } from '../api/object.ts';
import type { Runtime } from '../runtime/contract/runtime.ts';
import type { AcceptedProviders } from './identity-provider/accepted-providers.ts';
import type { AcceptedRootStore } from './tenant/accepted-roots.ts';
import type { ManagedControllers, ResourceFinalizer } from './managed/controller.ts';
import type { ProviderCheck } from './identity-provider/check-provider.ts';
import type { ResourceStatus } from './conditions.ts';
import type { KnownProvider } from './identity-provider/provider-checks.ts';
import type { Resources } from './resources.ts';
import type { RolloutLimit } from './rollout-limit.ts';
import type { BlockerReason } from './rollout.ts';

/** Something that happened to a resource, for people. */
export interface OperatorEvent {
  readonly ref: ResourceRef;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/**
 * What the passes of one namespace need.
 *
 * The wiring owns the queue: it calls `start()` once, then `reconcile(about)` for each key, adds what `affectedBy` answers for each
 * change it sees, and gives `enqueue` so that a pass can ask for others, or for itself later.
 */
export interface ReconcilerOptions {
  /** Empty where there is only one. */
  readonly namespace: string;
  readonly resources: () => Resources;
  readonly runtime: Runtime;
  readonly accepted: AcceptedProviders;
  /** The Secret with the root credentials of a tenant, made where there is none; an empty one where the one it names is missing. */
  readonly rootCredentials: (tenant: Tenant, secrets: ReadonlyMap<string, Secret>) => Promise<Secret>;
  readonly check: (provider: KnownProvider['provider'], clientSecret: string) => Promise<ProviderCheck>;
  /** Hosts that providers may be at, as `idp.example.com` or `*.example.com`; without it any. A check sends a client secret there. */
  readonly providerHosts?: readonly string[];
  readonly fingerprint: (value: string) => string;
  /** Why what a resource asks of its pods is not allowed; undefined where it is. */
  readonly refusedPod?: (resource: Tenant | KMSConfig) => string | undefined;
  /** Image of servers and key services whose resource names none. */
  readonly operandImage?: string;
  readonly status: StatusStore;
  readonly event: (event: OperatorEvent) => void;
  /** Asks for a pass of a resource of this namespace: as soon as changes have settled, or after `afterMs`. */
  readonly enqueue: (ref: ResourceRef, afterMs?: number) => void;
  /** One for all namespaces. */
  readonly rolloutLimit: RolloutLimit;
  readonly counters?: RolloutCounters;
  /** The Secret with the keys of a User or an AccessKey, made where there is none. Errors with `ForeignObject` where its keys are missing. */
  readonly credentials: (resource: User | AccessKey, secrets: ReadonlyMap<string, Secret>) => Promise<Secret>;
  /** Undefined where nothing is looked after that is in servers. */
  readonly controllers?: ManagedControllers;
  readonly finalizer?: ResourceFinalizer;
  /**
   * Asks two key services whether the second holds every key of the first that a tenant can use. Answers why that is not proven;
   * undefined where it is. Without it, keys in another keystore are never proven.
   */
  readonly proveKeys?: (move: KeyMove) => Promise<string | undefined>;
  /** Nodes with swap that run instances of a workload; none where nothing is known of swap. */
  readonly swapNodes?: (workload: string) => Promise<readonly string[]>;
  /** Root credentials that the servers of tenants accept, kept beyond the life of this process. */
  readonly acceptedRoots: AcceptedRootStore;
  readonly now: () => Date;
  readonly random: () => number;
}

/** A tenant is to use another key service. */
export interface KeyMove {
  readonly from: KMSConfig;
  readonly to: KMSConfig;
  readonly tenant: string;
  /** Of the names of the keys that the tenant could use so far. */
  readonly keyPrefix: string;
}

/** Where conditions are kept: status files, or the status subresource. `put` writes nothing when nothing changed. */
export interface StatusStore {
  get(ref: ResourceRef): ResourceStatus | undefined;
  put(ref: ResourceRef, status: ResourceStatus): Promise<void>;
  /** The generation of what is written now; grows with every change of a spec. */
  generation(ref: ResourceRef): number;
}

/** For metrics. Each is called once for a rollout, or for a time of being blocked, not once a pass. */
export interface RolloutCounters {
  rollout(reason: RestartReason): void;
  blocked(blocker: BlockerReason): void;
}
