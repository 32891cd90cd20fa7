import { randomBytes } from 'node:crypto';
import type { Secret, Tenant } from '../api/object.ts';
import { madeCredentialsSecret, type MadeCredentialsOptions } from './made-credentials-secret.ts';

/** Name of the Secret that the operator makes for a Tenant that names none. */
export function madeRootSecretName(tenant: string): string {
  return `${tenant}-root-credentials`;
}

/**
 * The Secret with the root credentials of a tenant (`rootUser`, `rootPassword`): the one it names, which may be missing (then it is
 * empty, and the renderer says so), or one made once and kept; it goes with the tenant only where `reclaimPolicy` is Delete. One of
 * that name which a person made is used where it is allowed. Errors with a `KubeError`.
 */
export async function rootCredentials(
  tenant: Tenant,
  secrets: ReadonlyMap<string, Secret>,
  options: MadeCredentialsOptions,
): Promise<Secret> {
  const named = tenant.spec.rootCredentialsSecret?.name;
  if (named !== undefined) return secrets.get(named) ?? { name: named, data: {}, missing: true };
  return madeCredentialsSecret(
    {
      name: madeRootSecretName(tenant.metadata.name),
      about: { kind: 'Tenant', name: tenant.metadata.name },
      use: 'root-credentials',
      goesWithIt: tenant.spec.reclaimPolicy === 'Delete',
      make: () => ({ rootUser: 'admin', rootPassword: randomBytes(24).toString('hex') }),
    },
    options,
  );
}
