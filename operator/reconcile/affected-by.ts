import type { CofferObject, Tenant } from '../api/object.ts';
import type { ResourceRef } from '../contract/workload.ts';
import { claimants } from './managed/claimants.ts';
import type { Resources } from './resources.ts';

/** Names of the Secrets and ConfigMaps that a spec refers to. */
interface References {
  readonly secrets: ReadonlySet<string>;
  readonly configMaps: ReadonlySet<string>;
}

const known = new WeakMap<object, References>();

/**
 * Finds the references of a resource by the names of its fields, so that a field new to the schema is found too: `secretName`,
 * `clientSecretRef.name`, `valueFrom.configMapKeyRef.name`. A false reference costs a reconcile; a missing one would miss a change.
 */
export function referencesOf(object: { readonly spec: unknown }): References {
  const before = known.get(object);
  if (before !== undefined) return before;
  const secrets = new Set<string>();
  const configMaps = new Set<string>();
  collect(object.spec, '', secrets, configMaps);
  const found = { secrets, configMaps };
  known.set(object, found);
  return found;
}

function collect(node: unknown, path: string, secrets: Set<string>, configMaps: Set<string>): void {
  if (node === null || typeof node !== 'object') return;
  for (const [key, value] of Object.entries(node)) {
    if (typeof value !== 'string') collect(value, Array.isArray(node) ? path : key, secrets, configMaps);
    else if (key === 'name' || /name$/i.test(key)) {
      const field = key === 'name' ? path : key;
      if (/secret/i.test(field)) secrets.add(value);
      if (/configmap/i.test(field)) configMaps.add(value);
    }
  }
}

type Resource = CofferObject;

/** A change of a resource (with its former state, if known), or of a Secret or ConfigMap that resources refer to. */
export type Change =
  | { readonly kind: 'object'; readonly before: Resource | undefined; readonly after: Resource | undefined }
  | { readonly kind: 'Secret' | 'ConfigMap'; readonly name: string };

/** Returns the resources whose reconcile depends on the change. */
export function affectedBy(change: Change, resources: Resources): readonly ResourceRef[] {
  if (change.kind !== 'object') return usersOf(change.kind, change.name, resources);
  const found = new Map<string, ResourceRef>();
  for (const object of [change.before, change.after]) {
    if (object === undefined) continue;
    for (const ref of affectedByObject(object, resources)) found.set(`${ref.kind}/${ref.name}`, ref);
  }
  return [...found.values()];
}

/** Returns the tenants that name the provider. */
export function tenantsOfProvider(provider: string, resources: Resources): readonly Tenant[] {
  return [...resources.tenants.values()].filter(({ spec }) =>
    (spec.identityProviders ?? []).some(({ name }) => name === provider),
  );
}

/** Returns the tenants that name the key service. */
function tenantsOfKeyService(kms: string, resources: Resources): readonly Tenant[] {
  return [...resources.tenants.values()].filter(({ spec }) => spec.kmsConfigRef?.name === kms);
}

function affectedByObject(object: Resource, resources: Resources): readonly ResourceRef[] {
  const { name } = object.metadata;
  switch (object.kind) {
    case 'Tenant': {
      const kms = object.spec.kmsConfigRef;
      return [
        { kind: 'Tenant', name },
        ...(kms === undefined ? [] : [{ kind: 'KMSConfig', name: kms.name } as const]),
        ...managedIn(name, resources),
      ];
    }
    case 'IdentityProvider':
      return [{ kind: 'IdentityProvider', name }, ...tenantsOfProvider(name, resources).map(referenceTo)];
    case 'KMSConfig':
      return [{ kind: 'KMSConfig', name }, ...tenantsOfKeyService(name, resources).map(referenceTo)];
    case 'Bucket':
    case 'Policy':
    case 'PolicyBinding':
    case 'User':
    case 'AccessKey':
      return [referenceTo(object), ...claimants(object, resources).map(referenceTo)];
    default:
      return object satisfies never;
  }
}

function usersOf(kind: 'Secret' | 'ConfigMap', name: string, resources: Resources): readonly ResourceRef[] {
  const all: readonly ReadonlyMap<string, Resource>[] = [
    resources.tenants,
    resources.identityProviders,
    resources.kmsConfigs,
    resources.managed,
  ];
  return all
    .flatMap((objects) => [...objects.values()])
    .filter((object) => referencesOf(object)[kind === 'Secret' ? 'secrets' : 'configMaps'].has(name))
    .flatMap((object) => affectedByObject(object, resources));
}

function managedIn(tenant: string, resources: Resources): readonly ResourceRef[] {
  return [...resources.managed.values()].filter(({ spec }) => spec.tenantRef.name === tenant).map(referenceTo);
}

function referenceTo({ kind, metadata: { name } }: Resource): ResourceRef {
  return { kind, name };
}
