import { z } from 'zod';
import { keyCanaries } from '../../../protocol/key-service/canary.ts';
import { callAdmin } from '../managed/admin-request.ts';
import type { TenantAccess } from '../managed/controller.ts';
import { endpointOf } from '../managed/signed-request.ts';

const answer = z.object({
  defaultKey: z.string(),
  keys: z.array(
    keyCanaries.extend({
      /** Why the key service does not open the canaries now. */
      error: z.object({ code: z.string(), message: z.string() }).optional(),
    }),
  ),
});

/** The keys that sealed the data of a tenant, and whether its key service opens what they sealed. */
export type SealedKeys = z.output<typeof answer>;

export type ReadSealedKeys = (access: TenantAccess) => Promise<SealedKeys>;

const deployment = z.object({
  deploymentID: z.string(),
  /** Bytes of the volume; absent where the store does not tell, and for a server of an earlier release. */
  space: z.object({ free: z.number(), total: z.number() }).optional(),
  /** Set where the store was restored and acts for nobody yet. Times are in ISO 8601. */
  unpromoted: z.object({ since: z.string(), reason: z.string() }).optional(),
});

/** The deployment whose store a server has. */
export type StoredDeployment = z.output<typeof deployment>;

/** Asks the server of a tenant for the deployment whose store it has. Errors with `ResponseError`. */
export async function readDeployment(access: TenantAccess): Promise<StoredDeployment> {
  const call = { method: 'GET', path: 'coffer/v1/deployment' } as const;
  return deployment.parse(await callAdmin(endpointOf(access), call, () => new Date()));
}

/** Lets the restored store of a tenant go on in place of the original. Errors with `ResponseError`. */
export async function promoteStore(access: TenantAccess): Promise<void> {
  await callAdmin(endpointOf(access), { method: 'POST', path: 'coffer/v1/promote' }, () => new Date());
}

/** Asks the server of a tenant. Its own records are the authority; what the operator keeps is a copy. Errors with `ResponseError`. */
export function createSealedKeysReader(now: () => Date = () => new Date()): ReadSealedKeys {
  return async (access) => {
    const call = { method: 'GET', path: 'coffer/v1/kms/key/canaries' } as const;
    return answer.parse(await callAdmin(endpointOf(access), call, now));
  };
}
