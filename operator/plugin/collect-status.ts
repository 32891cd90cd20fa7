import type { KubeObject } from '../kube-client/kube-api.ts';
import type { EventStatus, PodStatus, NamespaceStatus, ResourceState, TenantStatus } from './status-model.ts';
import { resourceTypes } from '../kube-client/resource-types.ts';
import type { ResourceStatus } from '../reconcile/conditions.ts';
import { managedSelector, ownerKindLabel, ownerLabel } from '../runtime/kubernetes/objects/labels.ts';
import { listAll, listIfAllowed, type Cluster } from './cluster.ts';

interface EventFields {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly eventTime?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly deprecatedCount?: number;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly regarding?: { readonly kind?: string; readonly name?: string };
}

/** An event of `events.k8s.io/v1`. Older writers set only the deprecated fields. */
function describeEvent(event: KubeObject): EventStatus {
  const fields = event as KubeObject & EventFields;
  const at = fields.series?.lastObservedTime ?? fields.deprecatedLastTimestamp ?? fields.eventTime;
  return {
    at: at ?? event.metadata.creationTimestamp ?? '',
    type: fields.type ?? 'Normal',
    reason: fields.reason ?? '',
    message: fields.note ?? '',
    count: fields.series?.count ?? fields.deprecatedCount ?? 1,
  };
}

function isAbout(event: KubeObject, kind: string, name: string): boolean {
  const { regarding } = event as KubeObject & EventFields;
  return regarding?.kind === kind && regarding.name === name;
}

interface ContainerStatus {
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly image?: string;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly terminated?: { readonly reason?: string; readonly message?: string; readonly exitCode?: number };
  };
}

interface PodFields {
  readonly spec?: { readonly nodeName?: string; readonly containers?: readonly { readonly image?: string }[] };
  readonly status?: {
    readonly startTime?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

/** Describes a pod for users. */
function describePod(pod: KubeObject): PodStatus {
  const { spec = {}, status = {} } = pod as KubeObject & PodFields;
  const containers = status.containerStatuses ?? [];
  const stopped = containers.map(({ state }) => state?.waiting ?? state?.terminated).find((why) => why !== undefined);
  const unscheduled = status.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  const ready = status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  const message = stopped?.message ?? unscheduled?.message;
  return {
    name: pod.metadata.name,
    state: stateOf(pod, ready, stopped?.reason ?? (unscheduled === undefined ? undefined : 'Unschedulable')),
    message,
    restarts: containers.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0),
    image: spec.containers?.[0]?.image ?? '',
    node: spec.nodeName,
    startedAt: status.startTime,
  };
}

function stateOf({ metadata }: KubeObject, ready: boolean, why: string | undefined): string {
  if (metadata.deletionTimestamp !== undefined) return 'stopping';
  if (ready) return 'ready';
  return why ?? 'starting';
}

/** The objects of a namespace that the status is made from. */
interface Observed {
  readonly namespace: string;
  readonly tenants: readonly KubeObject[];
  readonly kmsConfigs: readonly KubeObject[];
  readonly identityProviders: readonly KubeObject[];
  readonly buckets: readonly KubeObject[];
  readonly identities: readonly KubeObject[];
  readonly pods: readonly KubeObject[];
  readonly events: readonly KubeObject[];
  readonly missed: readonly string[];
}

const shownEvents = 5;
const identityTypes = ['policy', 'policyBinding', 'user', 'accessKey'] as const;

/** Reads the namespace. Errors with a `KubeError` when the Tenants cannot be read; other failures are listed in `missed`. */
export async function observe(cluster: Cluster, namespace: string): Promise<Observed> {
  const tenants = await listAll(cluster, resourceTypes.tenant, { namespace });
  const missed: string[] = [];
  const list = (type: keyof typeof resourceTypes, labelSelector?: string) =>
    listIfAllowed(cluster, resourceTypes[type], { namespace, labelSelector }, (issue) => missed.push(issue));
  const [kmsConfigs, identityProviders, buckets, pods, events, ...identities] = await Promise.all([
    list('kmsConfig'),
    list('identityProvider'),
    list('bucket'),
    list('pod', managedSelector),
    list('event'),
    ...identityTypes.map((type) => list(type)),
  ]);
  return {
    namespace,
    tenants,
    kmsConfigs,
    identityProviders,
    buckets,
    identities: identities.flat(),
    pods,
    events,
    missed,
  };
}

/** Returns the status of a namespace, or of one Tenant with the resources that it uses. */
export function statusOf(observed: Observed, tenantName?: string): NamespaceStatus {
  const tenants = observed.tenants
    .filter(({ metadata }) => tenantName === undefined || metadata.name === tenantName)
    .map((tenant) => tenantStatus(observed, tenant));
  const used = new Set(
    tenants.flatMap(({ keyService, identityProviders, buckets, identities }) =>
      [keyService, ...identityProviders, ...buckets, ...identities].flatMap((state) =>
        state === undefined ? [] : [keyOf(state)],
      ),
    ),
  );
  const others = [...observed.kmsConfigs, ...observed.identityProviders, ...observed.buckets, ...observed.identities]
    .map((object) => resourceState(observed, object))
    .filter((state) => !used.has(keyOf(state)));
  return {
    namespace: observed.namespace,
    tenants,
    unused: tenantName === undefined ? others : [],
    missed: observed.missed,
  };
}

/** Reports whether all shown resources are as their specs say. */
export function isSettled({ tenants, unused }: NamespaceStatus): boolean {
  const states = tenants.flatMap((tenant) => [
    tenant,
    ...(tenant.keyService === undefined ? [] : [tenant.keyService]),
    ...tenant.identityProviders,
    ...tenant.buckets,
    ...tenant.identities,
  ]);
  return [...states, ...unused].every(({ ready, upToDate }) => ready === 'True' && upToDate);
}

interface TenantFields {
  readonly identityProviders?: readonly { readonly name: string }[];
  readonly kmsConfigRef?: { readonly name: string };
}

function tenantStatus(observed: Observed, tenant: KubeObject): TenantStatus {
  const { identityProviders = [], kmsConfigRef } = (tenant['spec'] ?? {}) as TenantFields;
  const named = (objects: readonly KubeObject[], kind: string, name: string) => {
    const object = objects.find(({ metadata }) => metadata.name === name);
    return object === undefined ? missing(kind, name) : resourceState(observed, object);
  };
  const within = (objects: readonly KubeObject[]) =>
    objects
      .filter(
        (object) =>
          (object['spec'] as { readonly tenantRef?: { readonly name?: string } } | undefined)?.tenantRef?.name ===
          tenant.metadata.name,
      )
      .map((object) => resourceState(observed, object));
  return {
    ...resourceState(observed, tenant),
    keyService: kmsConfigRef === undefined ? undefined : named(observed.kmsConfigs, 'KMSConfig', kmsConfigRef.name),
    identityProviders: identityProviders.map(({ name }) => named(observed.identityProviders, 'IdentityProvider', name)),
    buckets: within(observed.buckets),
    identities: within(observed.identities),
  };
}

function resourceState(observed: Observed, object: KubeObject): ResourceState {
  const { kind, metadata } = object;
  const status = (object['status'] ?? {}) as Partial<ResourceStatus>;
  const { observedGeneration, conditions = [], certificates = [] } = status;
  const spec = (object['spec'] ?? {}) as { readonly paused?: boolean; readonly hibernated?: boolean };
  const owned = ({ metadata: { labels = {} } }: KubeObject) =>
    labels[ownerKindLabel] === kind && labels[ownerLabel] === metadata.name;
  const { servers, health, version, rollout, issuer, addresses } = status;
  return {
    kind,
    name: metadata.name,
    exists: true,
    ready: conditions.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
    upToDate: observedGeneration !== undefined && observedGeneration === metadata.generation,
    paused: spec.paused === true,
    hibernated: spec.hibernated === true,
    servers,
    health,
    version,
    rollout,
    issuer,
    addresses,
    conditions,
    pods: observed.pods.filter(owned).map(describePod),
    certificates,
    events: observed.events
      .filter((event) => isAbout(event, kind, metadata.name))
      .map(describeEvent)
      .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
      .slice(0, shownEvents),
  };
}

function missing(kind: string, name: string): ResourceState {
  const nothing = { conditions: [], pods: [], certificates: [], events: [] };
  return { kind, name, exists: false, ready: 'False', upToDate: true, paused: false, hibernated: false, ...nothing };
}

function keyOf({ kind, name }: ResourceState): string {
  return `${kind}/${name}`;
}
