import { KubeError, type KubeApi, type KubeObject, type ResourceType } from '../../kube-client/kube-api.ts';
import { Reflector } from '../../kube-client/reflector.ts';
import { ResourceCache } from '../../kube-client/resource-cache.ts';
import { resourceTypes } from '../../kube-client/resource-types.ts';
import type { RuntimeCaches } from './workload/kubernetes-runtime.ts';
import { managedSelector } from './objects/labels.ts';

interface ClusterCachesOptions {
  readonly api: KubeApi;
  /** All namespaces without them. */
  readonly namespaces: readonly string[] | undefined;
  readonly random: () => number;
  /** A list failed, or a watch ended otherwise than by its time. */
  readonly restarted: (type: ResourceType, error: unknown) => void;
  /** A listener threw. */
  readonly failed: (error: unknown) => void;
}

export type CacheName = keyof typeof watched;

interface Watched {
  readonly type: ResourceType;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly keep?: (object: KubeObject) => KubeObject;
  /** What others write into its spec is put back. */
  readonly foreignFields?: true;
  /** The cluster may not know the type. */
  readonly optional?: true;
}

/** What is followed, and how little of it: of most types only what the operator made. */
const watched = {
  tenants: { type: resourceTypes.tenant },
  identityProviders: { type: resourceTypes.identityProvider },
  kmsConfigs: { type: resourceTypes.kmsConfig },
  buckets: { type: resourceTypes.bucket },
  policies: { type: resourceTypes.policy },
  policyBindings: { type: resourceTypes.policyBinding },
  users: { type: resourceTypes.user },
  accessKeys: { type: resourceTypes.accessKey },
  // Resources name Secrets and ConfigMaps of their users; those of Helm's releases and of every namespace's CA are never named.
  secrets: { type: resourceTypes.secret, fieldSelector: 'type!=helm.sh/release.v1', keep: withoutCredentials },
  configMaps: { type: resourceTypes.configMap, fieldSelector: 'metadata.name!=kube-root-ca.crt' },
  statefulSets: { type: resourceTypes.statefulSet, labelSelector: managedSelector, foreignFields: true },
  pods: { type: resourceTypes.pod, labelSelector: managedSelector },
  services: { type: resourceTypes.service, labelSelector: managedSelector, foreignFields: true },
  persistentVolumeClaims: { type: resourceTypes.persistentVolumeClaim, labelSelector: managedSelector },
  podDisruptionBudgets: {
    type: resourceTypes.podDisruptionBudget,
    labelSelector: managedSelector,
    foreignFields: true,
  },
  networkPolicies: { type: resourceTypes.networkPolicy, labelSelector: managedSelector, foreignFields: true },
  ingresses: { type: resourceTypes.ingress, labelSelector: managedSelector, foreignFields: true },
  serviceAccounts: { type: resourceTypes.serviceAccount, labelSelector: managedSelector },
  // Why a StatefulSet could not make a pod or its claim; an older Role may not grant it.
  failedCreates: {
    type: resourceTypes.coreEvent,
    fieldSelector: 'involvedObject.kind=StatefulSet,reason=FailedCreate',
    optional: true,
  },
  serviceMonitors: {
    type: resourceTypes.serviceMonitor,
    labelSelector: managedSelector,
    foreignFields: true,
    optional: true,
  },
  certificates: { type: resourceTypes.certificate, labelSelector: managedSelector, optional: true },
} as const satisfies Readonly<Record<string, Watched>>;

/** Of the custom resources. */
export const resourceCaches = [
  'tenants',
  'identityProviders',
  'kmsConfigs',
  'buckets',
  'policies',
  'policyBindings',
  'users',
  'accessKeys',
] as const;

/** Milliseconds between looks for a type that the cluster did not know. */
const unknownTypeMs = 300_000;

/** Everything that the operator follows in the cluster: one list and one watch for each type. */
export class ClusterCaches {
  readonly #caches: ReadonlyMap<CacheName, ResourceCache>;
  readonly #reflectors: readonly Reflector[];
  /** Of optional types: resolves when the first list came, or was refused. */
  readonly #looked: readonly Promise<void>[];

  constructor(options: ClusterCachesOptions) {
    const caches = new Map<CacheName, ResourceCache>();
    const reflectors: Reflector[] = [];
    const looked: Promise<void>[] = [];
    for (const [name, what] of Object.entries<Watched>(watched) as [CacheName, Watched][]) {
      const cache = new ResourceCache(what.type, {
        ...(what.keep && { keep: what.keep }),
        ...(what.foreignFields && { foreignFields: true }),
        ...(options.namespaces && { namespaces: options.namespaces }),
        failed: (error) => options.failed(error),
      });
      const { promise, resolve } = Promise.withResolvers<void>();
      if (what.optional) looked.push(Promise.race([cache.synced(), promise]));
      reflectors.push(
        new Reflector({
          api: options.api,
          cache,
          ...(what.labelSelector && { labelSelector: what.labelSelector }),
          ...(what.fieldSelector && { fieldSelector: what.fieldSelector }),
          random: options.random,
          restarted: (error) => {
            const unknown = what.optional === true && isUnknownType(error);
            if (unknown) resolve();
            else options.restarted(what.type, error);
          },
          ...(what.optional && { timing: { mostMs: unknownTypeMs } }),
        }),
      );
      caches.set(name, cache);
    }
    this.#caches = caches;
    this.#reflectors = reflectors;
    this.#looked = looked;
  }

  get(name: CacheName): ResourceCache {
    return this.#caches.get(name) as ResourceCache;
  }

  entries(): readonly (readonly [CacheName, ResourceCache])[] {
    return [...this.#caches];
  }

  /** As the runtime takes them. */
  forRuntime(): RuntimeCaches {
    const optional = (name: CacheName) => () => (this.get(name).isSynced ? this.get(name) : undefined);
    return {
      statefulSets: this.get('statefulSets'),
      pods: this.get('pods'),
      secrets: this.get('secrets'),
      services: this.get('services'),
      persistentVolumeClaims: this.get('persistentVolumeClaims'),
      podDisruptionBudgets: this.get('podDisruptionBudgets'),
      networkPolicies: this.get('networkPolicies'),
      ingresses: this.get('ingresses'),
      serviceAccounts: this.get('serviceAccounts'),
      failedCreates: optional('failedCreates'),
      serviceMonitors: optional('serviceMonitors'),
      certificates: optional('certificates'),
    };
  }

  start(): void {
    for (const reflector of this.#reflectors) reflector.start();
  }

  /** Resolves when everything that the cluster knows was listed once. */
  async synced(): Promise<void> {
    const needed = [...this.#caches].filter(([name]) => !isOptional(name)).map(([, cache]) => cache.synced());
    await Promise.all([...needed, ...this.#looked]);
  }

  /** Types that were not listed yet, for people. */
  missing(): readonly string[] {
    return [...this.#caches]
      .filter(([name, cache]) => !isOptional(name) && !cache.isSynced)
      .map(([, cache]) => cache.type.plural);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.stop()));
  }
}

function isOptional(name: CacheName): boolean {
  const what: Watched = watched[name];
  return what.optional === true;
}

/** There is no such type, or the operator was not granted what it needs only where there is. */
function isUnknownType(error: unknown): boolean {
  return error instanceof KubeError && (error.status === 404 || error.status === 403);
}

/** What the operator has no use for and should not hold: tokens of service accounts, passwords of registries. */
function withoutCredentials(secret: KubeObject): KubeObject {
  const type = secret['type'];
  if (typeof type !== 'string') return secret;
  if (type !== 'kubernetes.io/service-account-token' && !type.startsWith('kubernetes.io/dockerc')) return secret;
  const { data: _data, ...rest } = secret;
  return rest;
}
