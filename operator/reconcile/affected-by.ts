import type { CofferObject, Tenant } from '../api/object.ts';
import type { ResourceReference } from '../workload.ts';
import { claimants } from './declared-claim.ts';
import { referencesOf } from './references.ts';
import type { Resources } from './resources.ts';

type Resource = CofferObject;

/** Something that changed: a resource (with what it was, where that is known), or what resources refer to. */
export type Change =
  | { readonly kind: 'object'; readonly before: Resource | undefined; readonly after: Resource | undefined }
  | { readonly kind: 'Secret' | 'ConfigMap'; readonly name: string };

/** The resources whose next pass may come out differently. */
export function affectedBy(change: Change, resources: Resources): readonly ResourceReference[] {
  if (change.kind !== 'object') return usersOf(change.kind, change.name, resources);
  const found = new Map<string, ResourceReference>();
  for (const object of [change.before, change.after]) {
    if (object === undefined) continue;
    for (const about of affectedByObject(object, resources)) found.set(`${about.kind}/${about.name}`, about);
  }
  return [...found.values()];
}

/** Tenants that a provider's users log in to. */
export function tenantsOfProvider(provider: string, resources: Resources): readonly Tenant[] {
  return [...resources.tenants.values()].filter(({ spec }) =>
    (spec.identityProviders ?? []).some(({ name }) => name === provider),
  );
}

/** Tenants that a key service serves, or would. */
export function tenantsOfKeyService(kms: string, resources: Resources): readonly Tenant[] {
  return [...resources.tenants.values()].filter(({ spec }) => spec.kmsConfigRef?.name === kms);
}

function affectedByObject(object: Resource, resources: Resources): readonly ResourceReference[] {
  const { name } = object.metadata;
  switch (object.kind) {
    case 'Tenant': {
      const kms = object.spec.kmsConfigRef;
      return [
        { kind: 'Tenant', name },
        ...(kms === undefined ? [] : [{ kind: 'KMSConfig', name: kms.name } as const]),
        ...declaredIn(name, resources),
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

function usersOf(kind: 'Secret' | 'ConfigMap', name: string, resources: Resources): readonly ResourceReference[] {
  const all: readonly ReadonlyMap<string, Resource>[] = [
    resources.tenants,
    resources.identityProviders,
    resources.kmsConfigs,
    resources.declared,
  ];
  return all
    .flatMap((objects) => [...objects.values()])
    .filter((object) => referencesOf(object)[kind === 'Secret' ? 'secrets' : 'configMaps'].has(name))
    .flatMap((object) => affectedByObject(object, resources));
}

function declaredIn(tenant: string, resources: Resources): readonly ResourceReference[] {
  return [...resources.declared.values()].filter(({ spec }) => spec.tenantRef.name === tenant).map(referenceTo);
}

function referenceTo({ kind, metadata: { name } }: Resource): ResourceReference {
  return { kind, name };
}
