import { KubeError, type KubeApi, type KubeObject, type ResourceType } from '../../kube-client/kube-api.ts';
import { Reflector } from '../../kube-client/reflector.ts';
import { ResourceCache } from '../../kube-client/resource-cache.ts';
import { resourceTypes } from '../../kube-client/resource-types.ts';
import type { RuntimeCaches } from './workload/workload-writer.ts';
import { managedSelector } from './objects/labels.ts';

interface ClusterCachesOptions {
  readonly api: KubeApi;
  /** All namespaces when undefined. */
  readonly namespaces: readonly string[] | undefined;
  readonly random: () => number;
  /** Called when a list fails or a watch ends before its time. */
  readonly restarted: (type: ResourceType, error: unknown) => void;
  /** Called when a listener throws. */
  readonly failed: (error: unknown) => void;
}

export type CacheName = keyof typeof watched;

interface Watched {
  readonly type: ResourceType;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly keep?: (object: KubeObject) => KubeObject;
  /** The operator reverts fields of the spec that others write. */
  readonly foreignFields?: true;
  /** The cluster may not know the type. */
  readonly optional?: true;
}

/** The watched types. Of most types only the objects of the operator are read. */
const watched = {
  tenants: { type: resourceTypes.tenant },
  identityProviders: { type: resourceTypes.identityProvider },
  kmsConfigs: { type: resourceTypes.kmsConfig },
  buckets: { type: resourceTypes.bucket },
  policies: { type: resourceTypes.policy },
  policyBindings: { type: resourceTypes.policyBinding },
  users: { type: resourceTypes.user },
  accessKeys: { type: resourceTypes.accessKey },
  // Resources name Secrets and ConfigMaps of their users. They never name those of Helm's releases or the CA of a namespace.
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
  // The reasons why a StatefulSet could not make a pod or its claim. An older Role may not allow these events.
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

/** The caches of the custom resources. */
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

/** Milliseconds between tries to list a type that the cluster does not know. */
const unknownTypeMs = 300_000;

/** The caches of all watched types: one list and one watch for each. */
export class ClusterCaches {
  readonly #caches: ReadonlyMap<CacheName, ResourceCache>;
  readonly #reflectors: readonly Reflector[];
  /** Promises of the optional types, which resolve after the first list or its refusal. */
  readonly #looked: readonly Promise<void>[];

  constructor(options: ClusterCachesOptions) {
    const caches = new Map<CacheName, ResourceCache>();
    const reflectors: Reflector[] = [];
    const looked: Promise<void>[] = [];
    for (const [name, what] of Object.entries<Watched>(watched) as [CacheName, Watched][]) {
      const cache = new ResourceCache(what.type, {
        keep: what.keep,
        foreignFields: what.foreignFields,
        namespaces: options.namespaces,
        failed: (error) => options.failed(error),
      });
      const { promise, resolve } = Promise.withResolvers<void>();
      if (what.optional) looked.push(Promise.race([cache.synced(), promise]));
      reflectors.push(
        new Reflector({
          api: options.api,
          cache,
          labelSelector: what.labelSelector,
          fieldSelector: what.fieldSelector,
          random: options.random,
          restarted: (error) => {
            const unknown = what.optional === true && isUnknownType(error);
            if (unknown) resolve();
            else options.restarted(what.type, error);
          },
          timing: what.optional && { maxMs: unknownTypeMs },
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

  /** Returns the caches that the runtime reads. */
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

  /** Resolves when every known type was listed once. */
  async synced(): Promise<void> {
    const needed = [...this.#caches].filter(([name]) => !isOptional(name)).map(([, cache]) => cache.synced());
    await Promise.all([...needed, ...this.#looked]);
  }

  /** Returns the types that were not listed yet, for messages. */
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

/** The type does not exist, or the Role does not allow it. */
function isUnknownType(error: unknown): boolean {
  return error instanceof KubeError && (error.status === 404 || error.status === 403);
}

/** Drops data that the operator does not need and should not hold: tokens of service accounts, passwords of registries. */
function withoutCredentials(secret: KubeObject): KubeObject {
  const type = secret['type'];
  if (typeof type !== 'string') return secret;
  if (type !== 'kubernetes.io/service-account-token' && !type.startsWith('kubernetes.io/dockerc')) return secret;
  const { data: _data, ...rest } = secret;
  return rest;
}
