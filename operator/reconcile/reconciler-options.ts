import type { StoreHolder } from './tenant/store-holder.ts';
import type { ResourceRef, RestartReason } from '../contract/workload.ts';
import type { AccessKey, KMSConfig, Tenant, User } from '../api/object.ts';
import type { Secret } from '../contract/secret.ts';
import type { Runtime } from '../contract/runtime.ts';
import type { AcceptedProviders } from './identity-provider/accepted-providers.ts';
import type { ManagedControllers, ResourceFinalizer, TenantAccess } from './managed/controller.ts';
import type { ProviderCheck } from './identity-provider/check-provider.ts';
import type { ConditionUpdate, ResourceStatus } from './conditions.ts';
import type { KnownProvider } from './identity-provider/provider-checks.ts';
import type { Resources } from './resources.ts';
import type { ReadSealedKeys, StoredDeployment } from './tenant/read-sealed-keys.ts';
import type { TierController } from './tenant/tier-controller.ts';
import type { RolloutLimit } from './rollout-limit.ts';
import type { BlockerReason } from './rollout.ts';

/** An event of a resource, for users. */
export interface OperatorEvent {
  readonly ref: ResourceRef;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/**
 * The dependencies of the reconciler of one namespace.
 *
 * The caller owns the queue: it calls `start()` once, then `reconcile(ref)` for each key. It enqueues what `affectedBy` answers for each
 * change, and passes `enqueue`, by which a reconcile asks for other resources, or for itself later.
 */
export interface ReconcilerOptions {
  /** Empty in the local runtime, which has one namespace. */
  readonly namespace: string;
  readonly resources: () => Resources;
  readonly runtime: Runtime;
  readonly accepted: AcceptedProviders;
  /** Returns the Secret with the root credentials of a tenant, and makes one if needed. The answer is empty when a named Secret is missing. */
  readonly rootCredentials: (tenant: Tenant, secrets: ReadonlyMap<string, Secret>) => Promise<Secret>;
  readonly check: (provider: KnownProvider['provider'], clientSecret: string) => Promise<ProviderCheck>;
  /** Allowed hosts of providers, as `idp.example.com` or `*.example.com`; any by default. A check sends a client secret there. */
  readonly providerHosts?: readonly string[];
  readonly fingerprint: (value: string) => string;
  /** Returns why the pod options of a resource are not allowed; undefined when they are. */
  readonly rejectedPod?: (resource: Tenant | KMSConfig) => string | undefined;
  /** Image of servers and key services whose resource names no image. */
  readonly operandImage?: string;
  readonly status: StatusStore;
  /** Returns the conditions that every resource of the namespace has, beside its own. */
  readonly namespaceConditions?: () => readonly ConditionUpdate[];
  readonly event: (event: OperatorEvent) => void;
  /** Enqueues a resource of this namespace: once changes have settled, or after `afterMs`. */
  readonly enqueue: (ref: ResourceRef, afterMs?: number) => void;
  /** The limit of all namespaces together. */
  readonly rolloutLimit: RolloutLimit;
  readonly counters?: RolloutCounters;
  /** Returns the Secret with the keys of a User or an AccessKey, and makes one if needed. Errors with `ResourceError` when its keys are missing. */
  readonly credentials: (resource: User | AccessKey, secrets: ReadonlyMap<string, Secret>) => Promise<Secret>;
  /** Deletes the Secret that was made for a User or an AccessKey, with the resource. Undefined where it goes by itself. */
  readonly removeCredentials?: (resource: User | AccessKey) => Promise<void>;
  /** Undefined when managed resources are not reconciled. */
  readonly controllers?: ManagedControllers;
  /** Undefined when the tiers of tenants are not reconciled. */
  readonly tiers?: TierController;
  /** Asks the server of a tenant for the keys that sealed its data; undefined when that is not done. */
  readonly sealedKeys?: ReadSealedKeys;
  /** Asks the server of a tenant for the deployment whose store it has; undefined when that is not done. */
  readonly deploymentOf?: (access: TenantAccess) => Promise<StoredDeployment>;
  /** Returns the deployments in databases of the Tenants of other namespaces, by ID, with the Tenant. */
  readonly databasesElsewhere?: () => ReadonlyMap<string, StoreHolder>;
  readonly tenantUids: TenantUids;
  /** Lets the restored store of a tenant go on in place of the original. */
  readonly promoteStore?: (access: TenantAccess) => Promise<void>;
  readonly finalizer?: ResourceFinalizer;
  /**
   * Asks two key services whether the second holds every key of the first that a tenant can use. Returns why that is not proven, or
   * undefined when it is. Without this function, keys in another keystore are never proven.
   */
  readonly proveKeys?: (move: KeyMove) => Promise<string | undefined>;
  /** Returns the nodes with swap that run instances of a workload; none when swap is unknown. */
  readonly swapNodes?: (workload: string) => Promise<readonly string[]>;
  /** Stores the root credentials that the servers of tenants accept beyond the life of this process. */
  readonly acceptedRoots: AcceptedRootStore;
  readonly now: () => Date;
  readonly random: () => number;
}

/** The UIDs of Tenants, by which the records of a database name the one that has them. */
interface TenantUids {
  /** Returns the UID of a Tenant of this namespace; undefined once it is deleted. */
  uidOf(name: string): string | undefined;
  /** Returns the Tenant with a UID, of any namespace that this operator sees. */
  find(uid: string): TenantPlace | undefined;
}

export interface TenantPlace {
  readonly namespace: string;
  readonly name: string;
}

/** A tenant moves to another key service. */
export interface KeyMove {
  readonly from: KMSConfig;
  readonly to: KMSConfig;
  readonly tenant: string;
  /** Prefix of the names of the keys that the tenant could use so far. */
  readonly keyPrefix: string;
}

/** Stores conditions in status files or in the status subresource. `put` writes nothing when nothing changed. */
export interface StatusStore {
  get(ref: ResourceRef): ResourceStatus | undefined;
  put(ref: ResourceRef, status: ResourceStatus): Promise<void>;
  /** Returns the current generation, which grows with every change of a spec. */
  generation(ref: ResourceRef): number;
}

/** Counters for metrics. Each is called once for a rollout or for a new blocker, not in every reconcile. */
export interface RolloutCounters {
  rollout(reason: RestartReason): void;
  blocked(blocker: BlockerReason): void;
}

/** Stores the accepted credentials: in a Secret of the operator, or in files that only its user may read. */
export interface AcceptedRootStore {
  /** Returns the last saved data; undefined when there is none or it is incomplete. */
  load(tenant: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** The data is durable when it resolves. Errors with `ResourceError`. */
  save(tenant: string, data: Readonly<Record<string, string>>): Promise<void>;
  /** Removes the data of a tenant that is gone. */
  remove(tenant: string): Promise<void>;
}
