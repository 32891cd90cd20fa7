import type { Secret, Tenant } from '../api/object.ts';
import type { Cache, KubeApi, OwnerReference } from '../kube/kube-api.ts';

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
 * empty, and the renderer says so), or one made once and kept. Errors with a `KubeError`.
 */
export function rootCredentials(
  _tenant: Tenant,
  _secrets: ReadonlyMap<string, Secret>,
  _options: RootCredentialsOptions,
): Promise<Secret> {
  throw new Error('not built yet');
}
