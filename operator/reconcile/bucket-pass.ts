import type { Tenant } from '../api/object.ts';
import { workloadName } from '../render/render-context.ts';
import type { BucketResource, TenantAccess } from './bucket-controller.ts';
import { notReady, reconciling, stalled, type Finding } from './conditions.ts';
import { objectKey } from './object-key.ts';
import type { Passes } from './passes.ts';
import type { Resources } from './resources.ts';

/** One pass of a Bucket: lets its controller bring it in line once its tenant answers, or undo it when it is being deleted. */
export async function bucketPass(bucket: BucketResource, resources: Resources, passes: Passes): Promise<void> {
  const { buckets, finalizer, enqueue } = passes.options;
  const about = { kind: 'Bucket', name: bucket.metadata.name } as const;
  const tenant = resources.tenants.get(bucket.spec.tenantRef.name);
  const access = tenant === undefined ? undefined : await accessTo(tenant, resources, passes);
  if (resources.deleting.has(objectKey(about))) {
    const gone =
      tenant === undefined || resources.deleting.has(objectKey({ kind: 'Tenant', name: tenant.metadata.name }));
    // A tenant that is only down comes back: its bucket is dealt with then.
    if (!gone && access === undefined) return enqueue(about, tenantDownMs);
    const outcome = await buckets?.remove(bucket, access);
    if (outcome === undefined || outcome.done) return finalizer?.release(about.name);
    enqueue(about, outcome.afterMs);
    return passes.status.put(about, outcome.findings, {});
  }
  const invalid = resources.invalid.get(objectKey(about));
  if (invalid !== undefined || buckets === undefined) {
    const message = invalid ?? 'buckets are not managed here';
    return passes.status.put(about, failed(invalid === undefined ? 'Unsupported' : 'InvalidSpec', message), {});
  }
  if (bucket.spec.deletionPolicy === 'Delete') await finalizer?.hold(about.name);
  if (access === undefined) {
    const { name } = bucket.spec.tenantRef;
    const message = tenant === undefined ? `Tenant ${name} does not exist` : `waits for Tenant ${name} to be ready`;
    const reason = tenant === undefined ? 'TenantNotFound' : 'TenantNotReady';
    if (tenant !== undefined) enqueue(about, tenantDownMs);
    const findings =
      tenant === undefined ? failed(reason, message) : [notReady(reason, message), reconciling(reason, message)];
    return passes.status.put(about, findings, {});
  }
  const { findings, afterMs } = await buckets.reconcile(bucket, access);
  enqueue(about, afterMs);
  return passes.status.put(about, findings, {});
}

/** Milliseconds until a tenant that does not answer is asked again, should nothing tell that it does. */
const tenantDownMs = 30_000;

async function accessTo(
  tenant: Tenant,
  { secrets }: Resources,
  { options }: Passes,
): Promise<TenantAccess | undefined> {
  const running = await options.runtime.observeOne(workloadName({ kind: 'Tenant', name: tenant.metadata.name }));
  const address = running?.addresses['s3'];
  if (address === undefined || running?.instances.every(({ state }) => state.kind !== 'ready') !== false)
    return undefined;
  const { rootUser, rootPassword } = (await options.rootCredentials(tenant, secrets)).data;
  return rootUser === undefined || rootPassword === undefined ? undefined : { tenant, address, rootUser, rootPassword };
}

function failed(reason: string, message: string): readonly Finding[] {
  return [notReady(reason, message), stalled(reason, message)];
}
