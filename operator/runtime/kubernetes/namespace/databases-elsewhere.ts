import { z } from 'zod';
import { acceptStoreAnnotation } from '../../../api/tenant.ts';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import { keepsStore, type StoreHolder } from '../../../reconcile/tenant/store-holder.ts';

const tenantOnDatabase = z.object({
  spec: z.object({
    storage: z.object({ records: z.object({}) }),
    hibernated: z.boolean().optional(),
    paused: z.boolean().optional(),
  }),
  status: z.object({ deployment: z.string() }),
});

/**
 * Returns the deployments whose records are in the database of a Tenant of another namespace, by ID, with the Tenant. A volume belongs to one
 * namespace, so that only a database can be given to two by mistake. Of several Tenants of one deployment it is the one that keeps the store.
 */
export function databasesElsewhere(
  tenants: readonly KubeObject[],
  namespace: string,
): ReadonlyMap<string, StoreHolder> {
  const found = new Map<string, StoreHolder>();
  for (const tenant of tenants) {
    const { name, namespace: own = '', creationTimestamp: created = '', annotations } = tenant.metadata;
    const { data } = own === namespace ? {} : tenantOnDatabase.safeParse(tenant);
    if (data === undefined) continue;
    const { deployment } = data.status;
    const accepted = annotations?.[acceptStoreAnnotation] === deployment;
    const serves = data.spec.hibernated !== true && data.spec.paused !== true;
    const holder = { at: `${own}/${name}`, created, accepted, serves };
    const before = found.get(deployment);
    if (before === undefined || keepsStore(holder, before)) found.set(deployment, holder);
  }
  return found;
}
