import { isConflict } from '../../../api/resource-error.ts';
import { type KubeApi, type KubeObject, type OwnerReference } from '../../../kube-client/kube-api.ts';
import type { KMSConfig, Tenant } from '../../../api/object.ts';
import { AcceptedProviders } from '../../../reconcile/identity-provider/accepted-providers.ts';
import { affectedBy } from '../../../reconcile/affected-by.ts';
import type { TierController } from '../../../reconcile/tenant/tier-controller.ts';
import type { TenantAccess } from '../../../reconcile/managed/controller.ts';
import type { ReadSealedKeys, StoredDeployment } from '../../../reconcile/tenant/read-sealed-keys.ts';
import type { ManagedControllers } from '../../../reconcile/managed/controller.ts';
import type { OperatorEvent, RolloutCounters, TenantPlace } from '../../../reconcile/reconciler-options.ts';
import { usersOfKeyService } from '../../../reconcile/key-service/key-service-in-use.ts';
import { setConflictCondition } from '../../../reconcile/set-conflict-condition.ts';
import type { ConditionUpdate } from '../../../reconcile/conditions.ts';
import { Reconciler } from '../../../reconcile/reconciler.ts';
import type { RolloutLimit } from '../../../reconcile/rollout-limit.ts';
import { StatusWriter } from '../../../reconcile/status-writer.ts';
import { hasRun } from '../../../reconcile/tenant/observe-store.ts';
import { resourceKinds, type ResourceKind, type ResourceRef } from '../../../contract/workload.ts';
import { KubernetesAcceptedRoots, AcceptedStore } from './accepted-secrets.ts';
import type { CertificateExpiry } from '../certificates/certificate-keeper.ts';
import type { CertificateTimes } from '../certificates/certificate-times.ts';
import type { CacheName, ClusterCaches } from '../cluster-caches.ts';
import { KubernetesFinalizer } from './finalizer.ts';
import { fingerprintKey, fingerprintWith } from './fingerprint-key.ts';
import { KubernetesRuntime } from '../workload/kubernetes-runtime.ts';
import { type RuntimeLog } from '../workload/pod-files.ts';
import { madeCredentials, removeCredentials, rootCredentials } from './credentials.ts';
import { NamespaceResources, checkPodOptions } from './namespace-resources.ts';
import { rejectedPod, type PodBounds } from '../pod-bounds.ts';
import { connectKeyService, proveKeys, type ConnectKeyService } from '../../../reconcile/key-service/prove-keys.ts';
import { openKeyServices } from '../open-key-service.ts';
import { PodProviderCheck } from '../provider-check/provider-check.ts';
import type { AskHealth } from '../workload/store-health.ts';
import { NamespaceLease, type NamespaceLeaseOptions } from './namespace-lease.ts';
import { KubernetesStatus } from './status-store.ts';
import { databasesElsewhere } from './databases-elsewhere.ts';
import type { SwapNodes } from '../swap-nodes.ts';
import { isContentChange, ownersToNotify } from './watching.ts';

/** The dependencies that all namespaces share. */
export interface NamespaceScopeOptions {
  readonly api: KubeApi;
  readonly leases: Pick<NamespaceLeaseOptions, 'api' | 'identity' | 'timing'>;
  readonly caches: ClusterCaches;
  readonly rolloutLimit: RolloutLimit;
  readonly counters: RolloutCounters;
  readonly controllers: ManagedControllers;
  readonly tiers: TierController;
  readonly sealedKeys: ReadSealedKeys;
  readonly deploymentOf: (access: TenantAccess) => Promise<StoredDeployment>;
  readonly promoteStore: (access: TenantAccess) => Promise<void>;
  readonly certificateTimes: CertificateTimes;
  /** Replaces requests to servers over the network, for tests. */
  readonly askHealth: AskHealth | undefined;
  /** Replaces calls to key services over the network, for tests. */
  readonly connectKeyService: ConnectKeyService | undefined;
  readonly swapNodes: SwapNodes;
  /** The image of the operator: the default of workloads and of provider checks. */
  readonly image: string;
  /** Undefined when resources may ask anything of their pods. */
  readonly bounds: PodBounds | undefined;
  /** Allowed hosts of identity providers; an empty list allows any. */
  readonly providerHosts: readonly string[];
  readonly operatorNamespace: string | undefined;
  readonly enqueue: (namespace: string, ref: ResourceRef, afterMs?: number) => void;
  readonly event: (event: OperatorEvent, object: KubeObject | undefined) => void;
  readonly log: RuntimeLog;
  readonly now: () => Date;
  readonly random: () => number;
}

/** The operator's work in one namespace: its resources, its runtime and its reconciler. */
export class NamespaceScope {
  readonly namespace: string;
  readonly #options: NamespaceScopeOptions;
  readonly #resources: NamespaceResources;
  readonly #status: KubernetesStatus;
  readonly #lease: NamespaceLease;
  readonly #pendingAdds = new Set<Promise<void>>();
  #active = 0;
  #fingerprint: ((value: string) => string) | undefined;
  /** The error that keeps the key of fingerprints from being made. */
  #noFingerprint: unknown;
  #parts: Parts | undefined;
  #opening: Promise<Parts> | undefined;

  constructor(namespace: string, options: NamespaceScopeOptions) {
    this.namespace = namespace;
    this.#options = options;
    const { api, caches, now } = options;
    const source = (name: CacheName) => caches.get(name);
    this.#resources = new NamespaceResources(namespace, {
      resources: (kind) => source(cacheOfKind[kind]),
      secrets: source('secrets'),
      configMaps: source('configMaps'),
    });
    this.#status = new KubernetesStatus({
      api,
      object: (ref) => this.#resources.object(ref),
      cache: ({ kind }) => caches.get(cacheOfKind[kind]),
      now,
    });
    this.#lease = new NamespaceLease({
      ...options.leases,
      namespace,
      changed: () => this.#leaseChanged(),
      failed: (error) =>
        options.log.warn({ err: error, namespace }, `the Lease of namespace ${namespace} was not written`),
      now,
      random: options.random,
    });
  }

  /** Reports whether there is no resource and no reconcile under way. */
  get isDone(): boolean {
    return this.#resources.isEmpty && this.#active === 0;
  }

  has(ref: ResourceRef): boolean {
    return this.#resources.object(ref) !== undefined;
  }

  certificateExpiries(): readonly CertificateExpiry[] {
    return this.#parts?.runtime.certificateExpiries() ?? [];
  }

  /** Enqueues a new resource, and writes a first status, in case its reconcile comes later. */
  onAdd(ref: ResourceRef): void {
    this.#firstStatus(ref);
    if (this.#lease.isHeld) this.#enqueue(ref, 0);
  }

  #firstStatus(ref: ResourceRef): void {
    if (!this.#lease.isHeld) return this.#reportHolder(ref);
    const added = this.#onAdd(ref).finally(() => this.#pendingAdds.delete(added));
    this.#pendingAdds.add(added);
  }

  /** Reconciles a resource once. Errors when the queue has to retry. */
  async reconcile(ref: ResourceRef): Promise<void> {
    // Another operator acts. All resources are enqueued when this one does.
    if (!this.#lease.isHeld) return;
    this.#active += 1;
    try {
      await this.#status.during(ref, async () => {
        const parts = await this.#openOr(ref);
        await parts?.reconciler.reconcile(ref);
      });
    } finally {
      this.#active -= 1;
    }
  }

  /** Handles a change of an object of this namespace. */
  onEvent(name: CacheName, before: KubeObject | undefined, after: KubeObject | undefined): void {
    const kind = kindOfCache(name);
    if (kind !== undefined) return this.#resourceChanged(kind, (after ?? before)?.metadata.name ?? '');
    if (name === 'secrets' || name === 'configMaps') this.#contentChanged(name, before, after);
    for (const owner of ownersToNotify(before, after)) this.#enqueue(owner);
    this.#parts?.runtime.onEvent(before, after);
  }

  /** Ends timers and checks. Call it when no reconcile is under way. Nothing is written once it has resolved. Workloads run on. */
  async close(): Promise<void> {
    if (this.#parts !== undefined) closeParts(this.#parts);
    await Promise.all(this.#pendingAdds);
    // The next operator must not see a write of this one.
    await this.#lease.close();
  }

  /** The namespace came to this operator, or went to another, or a second operator came or went. */
  #leaseChanged(): void {
    const { isHeld } = this.#lease;
    if (!isHeld && this.#parts !== undefined) {
      closeParts(this.#parts);
      this.#parts = undefined;
    }
    const { caches } = this.#options;
    for (const kind of resourceKinds) {
      for (const { metadata } of caches.get(cacheOfKind[kind]).list(this.namespace))
        this.onAdd({ kind, name: metadata.name });
    }
  }

  /** Tells of the operator that acts on a resource instead of this one. */
  #reportHolder(ref: ResourceRef): void {
    const { holder } = this.#lease;
    if (holder === undefined || !this.has(ref)) return;
    const message =
      `the operator ${this.#options.leases.identity} does nothing in namespace ${this.namespace}, which the operator ${holder} looks after: ` +
      'give one of them other namespaces, or remove it';
    this.#options.event({ ref, type: 'Warning', reason: 'OtherOperator', message }, this.#resources.object(ref));
  }

  #namespaceConditions(): readonly ConditionUpdate[] {
    const { second } = this.#lease;
    if (second === undefined) return [];
    const message =
      `the operator ${second} wants to look after namespace ${this.namespace} too, and does nothing there while ` +
      `${this.#options.leases.identity} does: give one of them other namespaces, or remove it`;
    return [{ type: 'OtherOperator', status: 'True', reason: 'NamespaceTaken', message }];
  }

  async #onAdd(ref: ResourceRef): Promise<void> {
    try {
      await this.#status.initialStatus(ref);
    } catch (error) {
      // The reconcile writes the status too, and is retried.
      this.#options.log.warn({ err: error, namespace: this.namespace, ...ref }, 'the first status was not written');
    }
  }

  #resourceChanged(kind: ResourceKind, name: string): void {
    const isNew = this.#status.get({ kind, name }) === undefined;
    const updated = this.#resources.update(kind, name);
    if (updated === undefined) return;
    this.#enqueue({ kind, name });
    if (isNew) this.#firstStatus({ kind, name });
    const change = { kind: 'object', before: updated.before, after: updated.after } as const;
    for (const ref of affectedBy(change, this.#resources.resources())) this.#enqueue(ref);
  }

  #contentChanged(name: 'secrets' | 'configMaps', before: KubeObject | undefined, after: KubeObject | undefined): void {
    this.#resources.invalidate();
    const object = after ?? before;
    if (object === undefined || !isContentChange(before, after)) return;
    const change = { kind: name === 'secrets' ? 'Secret' : 'ConfigMap', name: object.metadata.name } as const;
    for (const ref of affectedBy(change, this.#resources.resources())) this.#enqueue(ref);
  }

  #enqueue(ref: ResourceRef, afterMs?: number): void {
    this.#options.enqueue(this.namespace, ref, afterMs);
  }

  /** Returns undefined when a conflict keeps the namespace from starting. The resource then has the condition. */
  async #openOr(ref: ResourceRef): Promise<Parts | undefined> {
    try {
      await this.#ensureFingerprint(ref);
      return await this.#open();
    } catch (error) {
      if (!isConflict(error)) throw error;
      const options = {
        status: this.#status,
        event: (event: OperatorEvent) => this.#options.event(event, this.#resources.object(event.ref)),
        enqueue: (other: ResourceRef, afterMs?: number) => this.#enqueue(other, afterMs),
        namespaceConditions: () => this.#namespaceConditions(),
        now: () => this.#options.now(),
      };
      await setConflictCondition(ref, error, { status: new StatusWriter(options), options });
      return undefined;
    }
  }

  /**
   * Makes the key of the namespace's fingerprints. A namespace that is being deleted refuses it, and so may a quota. A resource that is
   * being deleted is released without it; only a reconcile that computes a fingerprint errors.
   */
  async #ensureFingerprint(ref: ResourceRef): Promise<void> {
    if (this.#fingerprint !== undefined) return;
    const { api, caches } = this.#options;
    try {
      const key = await fingerprintKey({ api, secrets: caches.get('secrets') }, this.namespace);
      this.#fingerprint = fingerprintWith(key);
    } catch (error) {
      if (this.#resources.object(ref)?.metadata.deletionTimestamp === undefined) throw error;
      this.#noFingerprint = error;
    }
  }

  #fingerprintOf(value: string): string {
    if (this.#fingerprint === undefined) throw this.#noFingerprint;
    return this.#fingerprint(value);
  }

  /** Starts the parts with the first reconcile. The start may have to write, and is retried. */
  async #open(): Promise<Parts> {
    if (this.#parts !== undefined) return this.#parts;
    this.#opening ??= this.#make();
    try {
      this.#parts = await this.#opening;
      return this.#parts;
    } finally {
      this.#opening = undefined;
    }
  }

  /** References to the tenants that use a key service, or to some of them, which are enough to keep it. */
  #tenantsOf(kms: string): readonly OwnerReference[] {
    return usersOfKeyService(kms, this.#resources.resources(), { status: this.#status })
      .map(({ metadata }) => metadata.name)
      .toSorted()
      .slice(0, maxCoOwners)
      .flatMap((name) => ownerReference(this.#resources.object({ kind: 'Tenant', name })) ?? [])
      .map((reference) => ({ ...reference, controller: false }));
  }

  async #make(): Promise<Parts> {
    const { namespace } = this;
    const { api, caches, image, operatorNamespace, certificateTimes, askHealth, log, now, random } = this.#options;
    const secrets = caches.get('secrets');
    const { bounds } = this.#options;
    const rejected = (resource: Tenant | KMSConfig) => bounds && rejectedPod(resource, bounds);
    const owner = (ref: ResourceRef) => ownerReference(this.#resources.object(ref));
    const coOwners = ({ kind, name }: OwnerReference) => (kind === 'KMSConfig' ? this.#tenantsOf(name) : []);
    const fingerprint = (value: string) => this.#fingerprintOf(value);
    const runtime = new KubernetesRuntime({
      api,
      caches: caches.forRuntime(),
      namespace,
      owner,
      coOwners,
      images: { default: image },
      operatorNamespace,
      fingerprint,
      certificateTimes,
      askHealth,
      event: (event) => this.#options.event(event, this.#resources.object(event.ref)),
      now,
      random,
      log,
    });
    const check = new PodProviderCheck({
      pods: runtime.checkPods,
      namespace,
      owner,
      image,
      pod: ({ metadata }) =>
        checkPodOptions(metadata.name, this.#resources.resources(), (tenant) => rejected(tenant) === undefined),
    });
    const acceptedRoots = new KubernetesAcceptedRoots({ api, secrets, namespace, owner });
    const reconciler = new Reconciler({
      namespace,
      resources: () => this.#resources.resources(),
      runtime,
      accepted: new AcceptedProviders(new AcceptedStore({ api, secrets, namespace, owner })),
      rootCredentials: (tenant, known) =>
        rootCredentials(tenant, known, {
          api,
          secrets,
          namespace,
          owner,
          accepted: () => acceptedRoots.load(tenant.metadata.name),
          hasRun: () => hasRun(tenant, { status: this.#status, runtime }),
        }),
      check: (provider, clientSecret) => check.check(provider, clientSecret),
      providerHosts: this.#options.providerHosts,
      fingerprint,
      operandImage: image,
      rejectedPod: rejected,
      status: this.#status,
      namespaceConditions: () => this.#namespaceConditions(),
      event: (event) => this.#options.event(event, this.#resources.object(event.ref)),
      enqueue: (ref, afterMs) => this.#enqueue(ref, afterMs),
      rolloutLimit: this.#options.rolloutLimit,
      counters: this.#options.counters,
      controllers: this.#options.controllers,
      tiers: this.#options.tiers,
      sealedKeys: this.#options.sealedKeys,
      deploymentOf: this.#options.deploymentOf,
      promoteStore: this.#options.promoteStore,
      databasesElsewhere: () => databasesElsewhere(caches.get('tenants').list(), namespace),
      tenantUids: {
        uidOf: (name) => this.#resources.object({ kind: 'Tenant', name })?.metadata.uid,
        find: (uid) => tenantWithUid(caches.get('tenants').list(), uid),
      },
      finalizer: new KubernetesFinalizer({ api, cache: (kind) => caches.get(cacheOfKind[kind]), namespace }),
      credentials: (resource) => madeCredentials(resource, { api, secrets, namespace, owner }),
      removeCredentials: (resource) => removeCredentials(resource, { api, secrets, namespace }),
      proveKeys: (move) => {
        const connect = this.#options.connectKeyService ?? connectKeyService;
        return proveKeys(move, openKeyServices({ namespace, secrets, connect }));
      },
      swapNodes: (workload) => this.#options.swapNodes.of(caches.get('pods').ofWorkload(namespace, workload)),
      acceptedRoots,
      now,
      random,
    });
    const parts = { runtime, reconciler };
    try {
      await runtime.checkPods.cleanUp();
      await reconciler.start();
    } catch (error) {
      // The next reconcile starts new parts.
      closeParts(parts);
      throw error;
    }
    return parts;
  }
}

function tenantWithUid(tenants: readonly KubeObject[], uid: string): TenantPlace | undefined {
  const found = tenants.find(({ metadata }) => metadata.uid === uid)?.metadata;
  return found && { namespace: found.namespace ?? '', name: found.name };
}

interface Parts {
  readonly runtime: KubernetesRuntime;
  readonly reconciler: Reconciler;
}

function closeParts({ reconciler, runtime }: Parts): void {
  reconciler.close();
  runtime.close();
}

/** The cache of each kind of resource. */
export const cacheOfKind = {
  Tenant: 'tenants',
  IdentityProvider: 'identityProviders',
  KMSConfig: 'kmsConfigs',
  Bucket: 'buckets',
  Policy: 'policies',
  PolicyBinding: 'policyBindings',
  User: 'users',
  AccessKey: 'accessKeys',
} as const satisfies Readonly<Record<ResourceKind, CacheName>>;

/** Returns the kind of resource that a cache holds; undefined for other objects. */
export function kindOfCache(name: CacheName): ResourceKind | undefined {
  return (Object.keys(cacheOfKind) as ResourceKind[]).find((kind) => cacheOfKind[kind] === name);
}

/** Every object of a key service lists them. */
const maxCoOwners = 10;

/** The reference does not block the deletion of the owner: a deletion must not hang while the operator is away. */
function ownerReference(object: KubeObject | undefined): OwnerReference | undefined {
  if (object?.metadata.uid === undefined) return undefined;
  const { apiVersion, kind, metadata } = object;
  return {
    apiVersion,
    kind,
    name: metadata.name,
    uid: object.metadata.uid,
    controller: true,
    blockOwnerDeletion: false,
  };
}
