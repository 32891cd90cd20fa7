import { resourceKinds, type ResourceKind, type ResourceRef } from '../runtime/contract/workload.ts';
import type { CofferObject, ManagedResource, IdentityProvider, KMSConfig, Secret, Tenant } from '../api/object.ts';

const kinds: readonly string[] = resourceKinds;

/** `Kind/name`: a resource among those of its namespace. */
export function objectKey({ kind, name }: ResourceRef): string {
  return `${kind}/${name}`;
}

/** The reverse of `objectKey`; undefined for a kind that has no passes, such as a Secret. */
export function parseObjectKey(key: string): ResourceRef | undefined {
  const [kind, name] = key.split('/');
  if (kind === undefined || !kinds.includes(kind) || name === undefined || name === '') return undefined;
  return { kind: kind as ResourceKind, name };
}

/** `namespace/Kind/name`: a resource among all, as the queue of the operator knows it. */
export function queueKey(namespace: string, ref: ResourceRef): string {
  return `${namespace}/${objectKey(ref)}`;
}

/** The reverse of `queueKey`. Errors on what that never made. */
export function parseQueueKey(key: string): { readonly namespace: string; readonly ref: ResourceRef } {
  const [namespace = '', ...rest] = key.split('/');
  const ref = parseObjectKey(rest.join('/'));
  if (ref === undefined) throw new Error(`${key} is no key of the queue`);
  return { namespace, ref };
}

/** The last good state of everything that was read in one namespace. */
export interface Resources {
  readonly tenants: ReadonlyMap<string, Tenant>;
  readonly identityProviders: ReadonlyMap<string, IdentityProvider>;
  readonly kmsConfigs: ReadonlyMap<string, KMSConfig>;
  /** What is in tenants' servers, by `Kind/name`. */
  readonly managed: ReadonlyMap<string, ManagedResource>;
  readonly secrets: ReadonlyMap<string, Secret>;
  /** Their `data` by name. */
  readonly configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Manifests that are refused now, by `Kind/name`; the good state before, where there was one, is in the maps. */
  readonly invalid: ReadonlyMap<string, string>;
  /** Resources that are being deleted, by `Kind/name`, and still in the maps: nothing is made for them any more. */
  readonly deleting: ReadonlySet<string>;
}

/** Resources in the maps of their kinds. */
export function byKind(
  objects: Iterable<CofferObject>,
): Pick<Resources, 'tenants' | 'identityProviders' | 'kmsConfigs' | 'managed'> {
  const tenants = new Map<string, Tenant>();
  const identityProviders = new Map<string, IdentityProvider>();
  const kmsConfigs = new Map<string, KMSConfig>();
  const managed = new Map<string, ManagedResource>();
  for (const object of objects) {
    const { name } = object.metadata;
    if (object.kind === 'Tenant') tenants.set(name, object);
    else if (object.kind === 'IdentityProvider') identityProviders.set(name, object);
    else if (object.kind === 'KMSConfig') kmsConfigs.set(name, object);
    else managed.set(objectKey({ kind: object.kind, name }), object);
  }
  return { tenants, identityProviders, kmsConfigs, managed };
}
