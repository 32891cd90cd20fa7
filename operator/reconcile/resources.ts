import { resourceKinds, type ResourceKind, type ResourceRef } from '../contract/workload.ts';
import type { CofferObject, ManagedResource, IdentityProvider, KMSConfig, Tenant } from '../api/object.ts';
import type { Secret } from '../contract/secret.ts';

const kinds: readonly string[] = resourceKinds;

/** Returns the key of a resource in its namespace: `Kind/name`. */
export function objectKey({ kind, name }: ResourceRef): string {
  return `${kind}/${name}`;
}

/** Parses the answer of `objectKey`; undefined for a kind that is not reconciled, such as a Secret. */
export function parseObjectKey(key: string): ResourceRef | undefined {
  const [kind, name] = key.split('/');
  if (kind === undefined || !kinds.includes(kind) || name === undefined || name === '') return undefined;
  return { kind: kind as ResourceKind, name };
}

/** Returns the key of a resource in the queue of the operator: `namespace/Kind/name`. */
export function queueKey(namespace: string, ref: ResourceRef): string {
  return `${namespace}/${objectKey(ref)}`;
}

/** Parses the answer of `queueKey`. Errors on other texts. */
export function parseQueueKey(key: string): { readonly namespace: string; readonly ref: ResourceRef } {
  const [namespace = '', ...rest] = key.split('/');
  const ref = parseObjectKey(rest.join('/'));
  if (ref === undefined) throw new Error(`${key} is no key of the queue`);
  return { namespace, ref };
}

/** The last valid state of the resources of one namespace. */
export interface Resources {
  readonly tenants: ReadonlyMap<string, Tenant>;
  readonly identityProviders: ReadonlyMap<string, IdentityProvider>;
  readonly kmsConfigs: ReadonlyMap<string, KMSConfig>;
  /** Resources that live in tenants' servers, by `Kind/name`. */
  readonly managed: ReadonlyMap<string, ManagedResource>;
  readonly secrets: ReadonlyMap<string, Secret>;
  /** The `data` of each ConfigMap, by its name. */
  readonly configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** The reason for each refused manifest, by `Kind/name`. The maps hold the last valid state, if there was one. */
  readonly invalid: ReadonlyMap<string, string>;
  /** Resources that are being deleted, by `Kind/name`. They are still in the maps, but no new object is made for them. */
  readonly deleting: ReadonlySet<string>;
}

/** Returns the last valid state of a resource, if there was one. */
export function resourceOf(ref: ResourceRef, resources: Resources): CofferObject | undefined {
  const { tenants, kmsConfigs, identityProviders, managed } = resources;
  const { kind, name } = ref;
  if (kind === 'Tenant') return tenants.get(name);
  if (kind === 'KMSConfig') return kmsConfigs.get(name);
  return kind === 'IdentityProvider' ? identityProviders.get(name) : managed.get(objectKey(ref));
}

/** Sorts resources into the maps of their kinds. */
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
