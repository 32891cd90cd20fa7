import { createHash } from 'node:crypto';
import { z } from 'zod';

/** The Tenant that has a store. Its UID tells it from one of the same name in another cluster, and from one that was deleted. */
export const storeTenant = z.object({
  name: z.string().min(1),
  /** Absent with the local runtime. */
  namespace: z.string().min(1).optional(),
  uid: z.string().regex(/^[\w-]{1,64}$/),
});

export type StoreTenant = z.infer<typeof storeTenant>;

/** Returns a Tenant as messages call it: `Tenant demo of namespace team (UID …)`. */
export function describeTenant({ name, namespace, uid }: StoreTenant): string {
  return `Tenant ${name}${namespace === undefined ? '' : ` of namespace ${namespace}`} (UID ${uid})`;
}

/**
 * The file of `SVC_DEPLOYMENT_FILE`: which stores a server may have. The operator writes it, so that a server refuses a store by itself that
 * is not the one of its tenant.
 */
export const expectedDeployment = z.object({
  /** The ID of the deployment whose data the server has; absent before it is known. */
  expected: z.uuid().optional(),
  /**
   * The UID of the claim of a volume that was there before the server. Nothing tells whose data it holds, so any store on it has to be
   * accepted. Without it, and without an expected ID, any store is taken.
   */
  unprovenClaim: z.uuid().optional(),
  /** The ID of another store that the administrator has accepted. */
  accepted: z.uuid().optional(),
  /** The IDs of deployments that are known to be others'. */
  others: z.array(z.uuid()).readonly().optional(),
  /** The Tenant of the server, where its records are in a database. A store of another Tenant has to be accepted. */
  tenant: storeTenant.optional(),
});

export type ExpectedDeployment = z.infer<typeof expectedDeployment>;

/**
 * Returns the ID that an empty store gets in the place of a lost one, or on an unproven claim. It follows from the ID of the lost store, or from
 * the UID of the claim, so that an administrator can name the store that is to be begun, and a name that stays in Git begins no other one.
 */
export function nextDeployment(lostOrClaim: string): string {
  const digest = createHash('sha256').update(`coffer:deployment:${lostOrClaim}`).digest('hex');
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');
}
