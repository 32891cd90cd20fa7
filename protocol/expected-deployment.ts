import { createHash } from 'node:crypto';
import { z } from 'zod';

/**
 * The file of `SVC_DEPLOYMENT_FILE`: which stores a server may have. The operator writes it, so that a server refuses a store by itself that
 * is not the one of its tenant.
 */
export const expectedDeployment = z.object({
  /** The ID of the deployment whose data the server has; absent before it is known, when any store is taken. */
  expected: z.uuid().optional(),
  /** The ID of another store that the administrator has accepted. */
  accepted: z.uuid().optional(),
  /** The IDs of deployments that are known to be others'. */
  others: z.array(z.uuid()).readonly().optional(),
});

export type ExpectedDeployment = z.infer<typeof expectedDeployment>;

/**
 * Returns the ID that an empty store gets in the place of a lost one. It follows from the lost one, so that an administrator can name the
 * store that is to be begun, and a name that stays in Git begins no other one.
 */
export function nextDeployment(lost: string): string {
  const digest = createHash('sha256').update(`coffer:deployment:${lost}`).digest('hex');
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');
}
