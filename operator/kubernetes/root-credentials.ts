import { randomBytes } from 'node:crypto';
import type { Secret, Tenant } from '../api/object.ts';
import type { Cache, KubeApi, KubeObject, OwnerReference } from '../kube/kube-api.ts';
import { encodeData, secretData } from './certificates/secret-data.ts';
import { madeSecret } from './made-secret.ts';
import { ownedLabels } from './objects/labels.ts';

export interface RootCredentialsOptions {
  readonly api: KubeApi;
  readonly secrets: Cache;
  readonly namespace: string;
  readonly owner: (about: { readonly kind: 'Tenant'; readonly name: string }) => OwnerReference | undefined;
}

/** Name of the Secret that the operator makes for a Tenant that names none. */
export function madeRootSecretName(tenant: string): string {
  return `${tenant}-root-credentials`;
}

/**
 * The Secret with the root credentials of a tenant (`rootUser`, `rootPassword`): the one it names, which may be missing (then it is
 * empty, and the renderer says so), or one made once and kept; it goes with the tenant only where `reclaimPolicy` is Delete. One of
 * that name which a person made is used as it is. Errors with a `KubeError`.
 */
export async function rootCredentials(
  tenant: Tenant,
  secrets: ReadonlyMap<string, Secret>,
  options: RootCredentialsOptions,
): Promise<Secret> {
  const named = tenant.spec.rootCredentialsSecret?.name;
  if (named !== undefined) return secrets.get(named) ?? { name: named, data: {} };
  const name = madeRootSecretName(tenant.metadata.name);
  const kept = await madeSecret(options, options.namespace, name, () => made(tenant, name, options));
  const values = Object.entries(secretData(kept)).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value]],
  );
  return { name, data: Object.fromEntries(values) as Record<string, string> };
}

function made(tenant: Tenant, name: string, { namespace, owner }: RootCredentialsOptions): KubeObject {
  const about = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const reference = tenant.spec.reclaimPolicy === 'Delete' ? owner(about) : undefined;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: ownedLabels(about),
      ...(reference === undefined ? {} : { ownerReferences: [reference] }),
    },
    type: 'Opaque',
    data: encodeData({ rootUser: 'admin', rootPassword: randomBytes(24).toString('hex') }),
  };
}
