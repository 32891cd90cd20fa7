import type { Tenant } from '../api/object.ts';
import { certificateNeeds, serverCertificate } from '../render/certificates.ts';
import { workloadName } from '../render/render-context.ts';
import { claimants } from './bucket-claim.ts';
import type { BucketController, BucketResource, TenantAccess } from './bucket-controller.ts';
import { notReady, reconciling, stalled, type Finding } from './conditions.ts';
import { objectKey } from './object-key.ts';
import type { Passes } from './passes.ts';
import type { Resources } from './resources.ts';

/** Milliseconds until a tenant that does not answer is asked again, should nothing tell that it does. */
const tenantDownMs = 30_000;

/** One pass of a Bucket: lets its controller bring it in line once its tenant answers, or undo it when it is being deleted. */
export async function bucketPass(bucket: BucketResource, resources: Resources, passes: Passes): Promise<void> {
  const { buckets } = passes.options;
  const about = { kind: 'Bucket', name: bucket.metadata.name } as const;
  const tenant = resources.tenants.get(bucket.spec.tenantRef.name);
  const access = tenant === undefined ? undefined : await accessTo(tenant, resources, passes);
  const [claimant] = claimants(bucket, resources);
  if (claimant !== undefined && claimant.metadata.name !== about.name) {
    await passes.options.finalizer?.release(about.name);
    if (resources.deleting.has(objectKey(about))) return;
    const { bucketName = claimant.metadata.name } = claimant.spec;
    const message =
      `Bucket ${claimant.metadata.name} describes the bucket ${bucketName} of Tenant ${claimant.spec.tenantRef.name} already: ` +
      'delete one of the two, or give this one another spec.bucketName';
    return passes.status.put(about, failed('BucketTaken', message), {});
  }
  if (resources.deleting.has(objectKey(about))) return undo(bucket, isThere(tenant, resources), access, passes);
  const invalid = resources.invalid.get(objectKey(about));
  if (invalid !== undefined) return passes.status.put(about, failed('InvalidSpec', invalid), {});
  if (buckets === undefined) {
    return passes.status.put(about, failed('Unsupported', 'buckets are not managed here'), {});
  }
  return bringInLine(bucket, tenant, access, buckets, passes);
}

async function bringInLine(
  bucket: BucketResource,
  tenant: Tenant | undefined,
  access: TenantAccess | undefined,
  buckets: BucketController,
  { options, status }: Passes,
): Promise<void> {
  const about = { kind: 'Bucket', name: bucket.metadata.name } as const;
  const { name } = bucket.spec.tenantRef;
  if (tenant === undefined) return status.put(about, failed('TenantNotFound', `Tenant ${name} does not exist`), {});
  if (bucket.spec.deletionPolicy === 'Delete') await options.finalizer?.hold(about.name);
  else await options.finalizer?.release(about.name);
  if (access === undefined) {
    options.enqueue(about, tenantDownMs);
    const [reason, message] = ['TenantNotReady', `waits for Tenant ${name} to be ready`];
    return status.put(about, [notReady(reason, message), reconciling(reason, message)], {});
  }
  const { findings, afterMs } = await buckets.reconcile(bucket, access);
  options.enqueue(about, afterMs);
  return status.put(about, findings, {});
}

async function undo(
  bucket: BucketResource,
  tenantIsThere: boolean,
  access: TenantAccess | undefined,
  { options, status }: Passes,
): Promise<void> {
  const { buckets, finalizer, enqueue } = options;
  const about = { kind: 'Bucket', name: bucket.metadata.name } as const;
  const keeps = bucket.spec.deletionPolicy === 'Retain';
  // A tenant that is only down comes back: its bucket is dealt with then.
  if (tenantIsThere && access === undefined && !keeps) return enqueue(about, tenantDownMs);
  const outcome = await buckets?.remove(bucket, access);
  if (outcome === undefined || outcome.done) return finalizer?.release(about.name);
  enqueue(about, outcome.afterMs);
  return status.put(about, outcome.findings, {});
}

/** One that is being deleted takes its buckets along: nobody is left to ask. */
function isThere(tenant: Tenant | undefined, { deleting }: Resources): boolean {
  return tenant !== undefined && !deleting.has(objectKey({ kind: 'Tenant', name: tenant.metadata.name }));
}

async function accessTo(tenant: Tenant, resources: Resources, passes: Passes): Promise<TenantAccess | undefined> {
  const { runtime, rootCredentials } = passes.options;
  const running = await runtime.observeOne(workloadName({ kind: 'Tenant', name: tenant.metadata.name }));
  const address = running?.addresses['s3'];
  const serves = running?.instances.some(({ state }) => state.kind === 'ready') === true;
  if (address === undefined || !serves) return undefined;
  const { rootUser, rootPassword } = (await rootCredentials(tenant, resources.secrets)).data;
  if (rootUser === undefined || rootPassword === undefined) return undefined;
  const ca = await authorityOf(tenant, resources, passes);
  return { tenant, address, rootUser, rootPassword, ...(ca === undefined ? {} : { ca }) };
}

/** What the certificate of the S3 API is checked by: the authority that made it, or what a person put beside it. */
async function authorityOf(tenant: Tenant, { secrets }: Resources, { options }: Passes): Promise<string | undefined> {
  const { tls } = tenant.spec;
  if (tls === undefined) return undefined;
  if (tls.secretName !== undefined) return secrets.get(tls.secretName)?.data['ca.crt'];
  const name = serverCertificate(tenant.metadata.name);
  const needs = certificateNeeds([tenant], new Map()).filter((need) => need.name === name);
  return (await options.runtime.ensureCertificates(needs)).get(name)?.ca;
}

function failed(reason: string, message: string): readonly Finding[] {
  return [notReady(reason, message), stalled(reason, message)];
}
