import type { KubeObject, ResourceType } from './kube-api.ts';

/** The resource types that the operator works with. The table saves a discovery at start. */
export const resourceTypes = {
  tenant: { apiVersion: 'coffer.dev/v1alpha1', kind: 'Tenant', plural: 'tenants', namespaced: true },
  identityProvider: {
    apiVersion: 'coffer.dev/v1alpha1',
    kind: 'IdentityProvider',
    plural: 'identityproviders',
    namespaced: true,
  },
  kmsConfig: { apiVersion: 'coffer.dev/v1alpha1', kind: 'KMSConfig', plural: 'kmsconfigs', namespaced: true },
  bucket: { apiVersion: 'coffer.dev/v1alpha1', kind: 'Bucket', plural: 'buckets', namespaced: true },
  policy: { apiVersion: 'coffer.dev/v1alpha1', kind: 'Policy', plural: 'policies', namespaced: true },
  policyBinding: {
    apiVersion: 'coffer.dev/v1alpha1',
    kind: 'PolicyBinding',
    plural: 'policybindings',
    namespaced: true,
  },
  user: { apiVersion: 'coffer.dev/v1alpha1', kind: 'User', plural: 'users', namespaced: true },
  accessKey: { apiVersion: 'coffer.dev/v1alpha1', kind: 'AccessKey', plural: 'accesskeys', namespaced: true },
  statefulSet: { apiVersion: 'apps/v1', kind: 'StatefulSet', plural: 'statefulsets', namespaced: true },
  deployment: { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
  pod: { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true },
  secret: { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
  configMap: { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  service: { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true },
  serviceAccount: { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', namespaced: true },
  namespace: { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
  node: { apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false },
  persistentVolumeClaim: {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    namespaced: true,
  },
  podDisruptionBudget: {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    namespaced: true,
  },
  networkPolicy: {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    namespaced: true,
  },
  ingress: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', plural: 'ingresses', namespaced: true },
  serviceMonitor: {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    plural: 'servicemonitors',
    namespaced: true,
  },
  certificate: { apiVersion: 'cert-manager.io/v1', kind: 'Certificate', plural: 'certificates', namespaced: true },
  lease: { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases', namespaced: true },
  event: { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events', namespaced: true, hasBookmarks: false },
  /** Events of the older API, which can be selected by the object that they describe. */
  coreEvent: { apiVersion: 'v1', kind: 'Event', plural: 'events', namespaced: true, hasBookmarks: false },
  customResourceDefinition: {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    namespaced: false,
  },
} as const satisfies Readonly<Record<string, ResourceType>>;

const byKind: ReadonlyMap<string, ResourceType> = new Map(
  Object.values<ResourceType>(resourceTypes).map((type) => [`${type.apiVersion}/${type.kind}`, type]),
);

/** Returns the type of an object. Errors for a type that is not in the table: the operator sends no such object. */
export function typeOf(object: Pick<KubeObject, 'apiVersion' | 'kind'>): ResourceType {
  const type = byKind.get(`${object.apiVersion}/${object.kind}`);
  if (type === undefined)
    throw new TypeError(`${object.kind} (${object.apiVersion}) is no type that the operator knows`);
  return type;
}

interface PathParts {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string;
}

/**
 * Returns the path of a collection, an object or its subresource. Errors when a namespaced object has no namespace.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
 */
export function resourcePath(type: ResourceType, { namespace, name, subresource }: PathParts): string {
  if (type.namespaced && name !== undefined && namespace === undefined) {
    throw new TypeError(`${type.kind} ${name} needs a namespace`);
  }
  const parts = [type.apiVersion.includes('/') ? 'apis' : 'api', ...type.apiVersion.split('/')];
  if (type.namespaced && namespace !== undefined) parts.push('namespaces', namespace);
  parts.push(type.plural);
  if (name !== undefined) parts.push(name);
  if (subresource !== undefined) parts.push(subresource);
  return `/${parts.map(encodeURIComponent).join('/')}`;
}
