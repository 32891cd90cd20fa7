import { z } from 'zod';
import type { KubeObject } from '../../../kube-client/kube-api.ts';

const tenantOnDatabase = z.object({
  spec: z.object({ storage: z.object({ records: z.object({}) }) }),
  status: z.object({ deployment: z.string() }),
});

/**
 * Answers the deployments whose records are in the database of a Tenant of another namespace, by ID, with the `NAMESPACE/NAME` of the Tenant. A
 * volume belongs to one namespace, so that only a database can be given to two by mistake.
 */
export function databasesElsewhere(tenants: readonly KubeObject[], namespace: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const tenant of tenants) {
    const { name, namespace: own = '' } = tenant.metadata;
    const { data } = own === namespace ? {} : tenantOnDatabase.safeParse(tenant);
    if (data !== undefined) found.set(data.status.deployment, `${own}/${name}`);
  }
  return found;
}
