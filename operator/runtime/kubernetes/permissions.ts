import { resourceTypes } from '../../kube-client/resource-types.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

interface Permission {
  readonly type: keyof typeof resourceTypes;
  readonly subresource?: string;
  readonly verbs: readonly Verb[];
  readonly why: string;
}

/** A rule of an RBAC Role. @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/ */
interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly Verb[];
}

const read: readonly Verb[] = ['get', 'list', 'watch'];
// Server-side apply of an object that does not exist yet needs `create` in addition to `patch`.
const own: readonly Verb[] = [...read, 'create', 'patch', 'delete'];

/**
 * The permissions of the operator in the namespaces of its resources. `npm run manifests` makes the Roles of the chart, of kustomize and of
 * OLM from this list. The operator never writes a `spec` of its resources, makes no Role, signs nothing, and runs nothing on a node except
 * its pods.
 */
export const watchedPermissions: readonly Permission[] = [
  { type: 'tenant', verbs: read, why: 'to be told of changes' },
  { type: 'identityProvider', verbs: read, why: 'to be told of changes' },
  { type: 'kmsConfig', verbs: [...read, 'patch'], why: 'to be told of changes; the finalizer while tenants use it' },
  { type: 'bucket', verbs: [...read, 'patch'], why: 'to be told of changes; the finalizer of deletionPolicy Delete' },
  { type: 'policy', verbs: [...read, 'patch'], why: 'to be told of changes; the finalizer of deletionPolicy Delete' },
  {
    type: 'policyBinding',
    verbs: [...read, 'patch'],
    why: 'to be told of changes; the finalizer of deletionPolicy Delete',
  },
  { type: 'user', verbs: [...read, 'patch'], why: 'to be told of changes; the finalizer of deletionPolicy Delete' },
  {
    type: 'accessKey',
    verbs: [...read, 'patch'],
    why: 'to be told of changes; the finalizer of deletionPolicy Delete',
  },
  { type: 'tenant', subresource: 'status', verbs: ['patch'], why: 'conditions' },
  { type: 'identityProvider', subresource: 'status', verbs: ['patch'], why: 'conditions' },
  { type: 'kmsConfig', subresource: 'status', verbs: ['patch'], why: 'conditions' },
  { type: 'bucket', subresource: 'status', verbs: ['patch'], why: 'conditions' },
  { type: 'policy', subresource: 'status', verbs: ['patch'], why: 'conditions' },
  { type: 'policyBinding', subresource: 'status', verbs: ['patch'], why: 'conditions, and what it attached' },
  { type: 'user', subresource: 'status', verbs: ['patch'], why: 'conditions' },
  { type: 'accessKey', subresource: 'status', verbs: ['patch'], why: 'conditions' },
  { type: 'statefulSet', verbs: own, why: 'servers and key services' },
  {
    type: 'pod',
    verbs: own,
    why: 'one pod at a time is deleted to restart it, and annotated when its files changed; checks of providers and keystores run as pods',
  },
  {
    type: 'secret',
    verbs: own,
    why: 'reads what resources name; makes certificates, root credentials, keys of users, files of pods',
  },
  { type: 'configMap', verbs: read, why: 'reads what resources name' },
  { type: 'serviceAccount', verbs: read, why: 'to be told of changes' },
  { type: 'service', verbs: own, why: 'addresses of servers and key services' },
  {
    type: 'persistentVolumeClaim',
    verbs: [...read, 'create', 'patch'],
    why: 'volumes; Kubernetes itself deletes them',
  },
  { type: 'podDisruptionBudget', verbs: own, why: 'drains take one server at a time' },
  { type: 'networkPolicy', verbs: own, why: 'who may reach the key service' },
  { type: 'ingress', verbs: own, why: 'where a Tenant asks for one' },
  { type: 'serviceMonitor', verbs: own, why: 'where a Tenant asks for one' },
  { type: 'certificate', verbs: [...read, 'create', 'patch'], why: 'where a resource names a cert-manager issuer' },
  { type: 'lease', verbs: ['get', 'create', 'update'], why: 'one operator acts in a namespace' },
  { type: 'event', verbs: ['create', 'patch'], why: 'tells what it does and why' },
  { type: 'coreEvent', verbs: ['list', 'watch'], why: 'why a StatefulSet could not make a pod: a quota, an admission' },
];

/** The permissions in the whole cluster, when the operator watches all namespaces. Without them it reports nothing about swap. */
export const clusterPermissions: readonly Permission[] = [
  { type: 'node', verbs: ['get'], why: 'whether nodes of key services have swap' },
];

/** The additional permissions in its own namespace. */
export const ownPermissions: readonly Permission[] = [
  { type: 'lease', verbs: ['get', 'create', 'update'], why: 'leader election' },
];

/** Returns the rules of a Role in the order of the list. Entries with the same group and verbs are joined. */
export function policyRules(permissions: readonly Permission[]): readonly PolicyRule[] {
  const rules = new Map<string, { apiGroups: string[]; resources: string[]; verbs: readonly Verb[] }>();
  for (const { type, subresource, verbs } of permissions) {
    const { apiVersion, plural } = resourceTypes[type];
    const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
    const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
    const key = `${group} ${verbs.join()}`;
    const rule = rules.get(key) ?? { apiGroups: [group], resources: [], verbs };
    rule.resources.push(resource);
    rules.set(key, rule);
  }
  return [...rules.values()];
}

/** Reports whether the list allows a request. Tests check each request of the operator. */
export function isPermitted(
  permissions: readonly Permission[],
  verb: Verb,
  { plural, subresource }: { readonly plural: string; readonly subresource?: string },
): boolean {
  return permissions.some(
    (permission) =>
      resourceTypes[permission.type].plural === plural &&
      permission.subresource === subresource &&
      permission.verbs.includes(verb),
  );
}
