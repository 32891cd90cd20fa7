import type { ResourceType } from '../../../operator/kube-client/kube-api.ts';
import { groupOf } from './api-object.ts';

/** What a path names. `resource` is `plural` or `plural.group`. */
export interface ResourcePath {
  readonly apiVersion: string;
  readonly plural: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** Undefined where the path names no resource. @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris */
export function parsePath(path: string): ResourcePath | undefined {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const apiVersion = parts[0] === 'api' ? parts[1] : parts[0] === 'apis' ? parts.slice(1, 3).join('/') : undefined;
  if (apiVersion === undefined) return undefined;
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const scoped = rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] ?? '');
  const [plural, name, subresource] = scoped ? rest.slice(2) : rest;
  if (plural === undefined) return undefined;
  const group = groupOf(apiVersion);
  const resource = group === '' ? plural : `${plural}.${group}`;
  return { apiVersion, plural, resource, namespace: scoped ? rest[1] : undefined, name, subresource };
}

const clusterScoped: ReadonlySet<string> = new Set([
  'namespaces',
  'nodes',
  'persistentvolumes',
  'clusterroles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'storageclasses.storage.k8s.io',
  'customresourcedefinitions.apiextensions.k8s.io',
  'priorityclasses.scheduling.k8s.io',
  'clusterissuers.cert-manager.io',
]);

export function isClusterScoped(resource: string): boolean {
  return clusterScoped.has(resource);
}

/** Kinds without a status subresource: what they hold is one piece. */
const withoutStatus: ReadonlySet<string> = new Set([
  'secrets',
  'configmaps',
  'serviceaccounts',
  'events',
  'events.events.k8s.io',
  'leases.coordination.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'rolebindings.rbac.authorization.k8s.io',
  'networkpolicies.networking.k8s.io',
  'servicemonitors.monitoring.coreos.com',
]);

export function hasStatus(resource: string): boolean {
  return !withoutStatus.has(resource);
}

/** Core kinds and those without a spec count no generations. */
export function hasGeneration(resource: string): boolean {
  return (
    resource.includes('.') &&
    !['leases.', 'events.', 'roles.', 'rolebindings.'].some((prefix) => resource.startsWith(prefix))
  );
}

const irregular: Readonly<Record<string, string>> = {
  Ingress: 'ingresses',
  NetworkPolicy: 'networkpolicies',
  StorageClass: 'storageclasses',
  PriorityClass: 'priorityclasses',
  EndpointSlice: 'endpointslices',
  Endpoints: 'endpoints',
};

/** `statefulsets.apps` of `apps/v1` `StatefulSet`, by the rule that every plural here follows. */
export function resourceOf({ apiVersion, kind }: Pick<ResourceType, 'apiVersion' | 'kind'>): string {
  const plural = irregular[kind] ?? (/[^aeiou]y$/.test(kind) ? `${kind.slice(0, -1)}ies` : `${kind}s`).toLowerCase();
  const group = groupOf(apiVersion);
  return group === '' ? plural : `${plural}.${group}`;
}
