import type {
  DeclaredReference,
  TenantAccess,
  DeclaredContext,
  DeclaredController,
  DeclaredStatus,
} from './controller.ts';
import { objectKey, type Resources } from '../resources.ts';
import type { ReconcilerOptions } from '../reconciler-options.ts';
import type { Tenant, Declared } from '../../api/object.ts';
import { certificateNeeds, serverCertificate } from '../../render/certificates.ts';
import { workloadName } from '../../render/render-context.ts';
import type { Passes } from '../context.ts';
import type { DeclaredKind } from '../../runtime/contract/workload.ts';
import { notReady, reconciling, stalled, type Finding } from '../conditions.ts';
import { claimants, thingOf } from './claimants.ts';

/** Reasons that end when something else of the tenant is there. */
const waits: ReadonlySet<string> = new Set([
  'TenantNotReady',
  'PolicyNotFound',
  'UserNotFound',
  'GroupNotFound',
  'PolicyInUse',
]);

/** What is declared in a tenant and waits for something in it. */
export function waitingIn(
  tenant: string,
  { declared, deleting }: Resources,
  { status }: Pick<ReconcilerOptions, 'status'>,
): readonly DeclaredReference[] {
  return [...declared.values()]
    .filter(({ spec }) => spec.tenantRef.name === tenant)
    .map(({ kind, metadata: { name } }) => ({ kind, name }))
    .filter((about) => {
      const ready = status.get(about)?.conditions.find(({ type }) => type === 'Ready');
      return (ready?.status === 'False' && waits.has(ready.reason)) || deleting.has(objectKey(about));
    });
}

/** How the operator calls a tenant's server; undefined while none of its instances serves. */
async function tenantAccess(
  tenant: Tenant,
  resources: Resources,
  { options, roots }: Passes,
): Promise<TenantAccess | undefined> {
  const running = await options.runtime.observeOne(workloadName({ kind: 'Tenant', name: tenant.metadata.name }));
  const address = running?.addresses['s3'];
  const serves = running?.instances.some(({ state }) => state.kind === 'ready') === true;
  if (address === undefined || !serves) return undefined;
  const { rootUser, rootPassword } = await roots.accepted(tenant, resources.secrets);
  if (rootUser === undefined || rootPassword === undefined) return undefined;
  const ca = await authorityOf(tenant, resources, options.runtime);
  return { tenant, address, rootUser, rootPassword, ...(ca === undefined ? {} : { ca }) };
}

/** What the certificate of the S3 API is checked by: the authority that made it, or what a person put beside it. */
async function authorityOf(
  tenant: Tenant,
  { secrets }: Resources,
  runtime: Passes['options']['runtime'],
): Promise<string | undefined> {
  const { tls } = tenant.spec;
  if (tls === undefined) return undefined;
  if (tls.secretName !== undefined) return secrets.get(tls.secretName)?.data['ca.crt'];
  const name = serverCertificate(tenant.metadata.name);
  const needs = certificateNeeds([tenant], new Map()).filter((need) => need.name === name);
  return (await runtime.ensureCertificates(needs)).get(name)?.ca;
}

/** Milliseconds until a tenant that does not answer is asked again, should nothing tell that it does. */
const tenantDownMs = 30_000;

/**
 * One pass of what is declared in a tenant (a Bucket, a Policy, a User): lets its controller bring it in line once the tenant answers,
 * or undo it when the resource is being deleted.
 */
export async function declaredPass(resource: Declared, resources: Resources, passes: Passes): Promise<void> {
  const about = referenceTo(resource);
  const tenant = resources.tenants.get(resource.spec.tenantRef.name);
  const isDeleted = resources.deleting.has(objectKey(about));
  const [claimant] = claimants(resource, resources);
  if (claimant !== undefined && objectKey(referenceTo(claimant)) !== objectKey(about)) {
    await passes.options.finalizer?.release(about);
    if (isDeleted) return;
    return passes.status.put(about, taken(resource, claimant), {});
  }
  if (isDeleted && !isThere(tenant, resources)) return undo(resource, false, undefined, resources, passes);
  const access = tenant === undefined ? undefined : await tenantAccess(tenant, resources, passes);
  const context = access && contextOf(resource, access, resources, passes);
  if (isDeleted) return undo(resource, true, context, resources, passes);
  const invalid = resources.invalid.get(objectKey(about));
  if (invalid !== undefined) return passes.status.put(about, failed('InvalidSpec', invalid), statusOf(about, passes));
  const controller = controllerOf(resource, passes);
  if (controller === undefined) {
    return passes.status.put(about, failed('Unsupported', `a ${about.kind} is nothing that is looked after here`), {});
  }
  await bringInLine(resource, tenant, context, controller, passes);
  if (isReady(about, passes)) wakeWaiting(resource, resources, passes);
}

/**
 * The end of one whose spec nobody can read, so that its tenant cannot be asked: it waits for a spec that can be read while there is a
 * tenant. Answers whether it is let go.
 */
export async function endUnread(about: DeclaredReference, resources: Resources, { options }: Passes): Promise<boolean> {
  if ([...resources.tenants.values()].some((tenant) => isThere(tenant, resources))) {
    options.enqueue(about, tenantDownMs);
    return false;
  }
  await options.finalizer?.release(about);
  return true;
}

/** What waited for this one to be there, or to be gone, need not wait for its next look. */
function wakeWaiting(resource: Declared, resources: Resources, { options }: Passes): void {
  const own = objectKey(referenceTo(resource));
  for (const other of waitingIn(resource.spec.tenantRef.name, resources, options)) {
    if (objectKey(other) !== own) options.enqueue(other);
  }
}

async function bringInLine(
  resource: Declared,
  tenant: Tenant | undefined,
  context: DeclaredContext | undefined,
  controller: DeclaredController,
  passes: Passes,
): Promise<void> {
  const { options, status } = passes;
  const about = referenceTo(resource);
  const known = statusOf(about, passes);
  const { name } = resource.spec.tenantRef;
  if (tenant === undefined) {
    return status.put(about, failed('TenantNotFound', `Tenant ${name} does not exist`), known);
  }
  if (resource.spec.deletionPolicy === 'Delete') await options.finalizer?.hold(about);
  else await options.finalizer?.release(about);
  if (context === undefined) {
    options.enqueue(about, tenantDownMs);
    const [reason, message] = ['TenantNotReady', `waits for Tenant ${name} to be ready`];
    return status.put(about, [notReady(reason, message), reconciling(reason, message)], known);
  }
  const outcome = await controller.reconcile(resource, context);
  options.enqueue(about, outcome.afterMs);
  return status.put(about, outcome.findings, { ...statusOf(about, passes), ...outcome.status });
}

async function undo(
  resource: Declared,
  tenantIsThere: boolean,
  context: DeclaredContext | undefined,
  resources: Resources,
  passes: Passes,
): Promise<void> {
  const { finalizer, enqueue } = passes.options;
  const about = referenceTo(resource);
  const keeps = resource.spec.deletionPolicy === 'Retain';
  // A tenant that is only down comes back: what is in it is dealt with then.
  if (tenantIsThere && context === undefined && !keeps) return enqueue(about, tenantDownMs);
  const outcome = await controllerOf(resource, passes)?.remove(resource, context);
  if (outcome === undefined || outcome.done) {
    await finalizer?.release(about);
    return wakeWaiting(resource, resources, passes);
  }
  enqueue(about, outcome.afterMs);
  return passes.status.put(about, outcome.findings, { ...statusOf(about, passes), ...outcome.status });
}

/** One that is being deleted takes what is in it along: nobody is left to ask. */
function isThere(tenant: Tenant | undefined, { deleting }: Resources): boolean {
  return tenant !== undefined && !deleting.has(objectKey({ kind: 'Tenant', name: tenant.metadata.name }));
}

function contextOf(resource: Declared, access: TenantAccess, resources: Resources, passes: Passes): DeclaredContext {
  const about = referenceTo(resource);
  const { options } = passes;
  return {
    access,
    others: [...resources.declared.values()].filter(
      (other) =>
        other.spec.tenantRef.name === resource.spec.tenantRef.name &&
        objectKey(referenceTo(other)) !== objectKey(about) &&
        !resources.deleting.has(objectKey(referenceTo(other))),
    ),
    status: statusOf(about, passes),
    remember: async (status) => {
      const before = options.status.get(about);
      // Of no generation: nothing is said of any yet.
      const kept = before ?? { observedGeneration: 0, conditions: [] };
      await options.status.put(about, { ...kept, ...status });
    },
    credentials: () => {
      if (resource.kind !== 'User' && resource.kind !== 'AccessKey') {
        throw new Error(`a ${resource.kind} has no credentials`);
      }
      return options.credentials(resource, resources.secrets);
    },
  };
}

/** What stays of a status whatever its conditions become. */
function statusOf(about: DeclaredReference, { options }: Passes): DeclaredStatus {
  const { bucketName, policyName, accessKey, credentialsSecret, attached } = options.status.get(about) ?? {};
  return {
    ...(bucketName === undefined ? {} : { bucketName }),
    ...(policyName === undefined ? {} : { policyName }),
    ...(accessKey === undefined ? {} : { accessKey }),
    ...(credentialsSecret === undefined ? {} : { credentialsSecret }),
    ...(attached === undefined ? {} : { attached }),
  };
}

function isReady(about: DeclaredReference, { options }: Passes): boolean {
  const ready = options.status.get(about)?.conditions.find(({ type }) => type === 'Ready');
  return ready?.status === 'True';
}

function taken(resource: Declared, claimant: Declared): readonly Finding[] {
  const thing = thingOf(claimant);
  const { kind, metadata, spec } = claimant;
  const message =
    `${kind} ${metadata.name} describes the ${thing?.what ?? ''} ${thing?.name ?? ''} of Tenant ${spec.tenantRef.name} already: ` +
    `delete one of the two, or give this one another ${thing?.field ?? 'name'}`;
  return failed(`${resource.kind}Taken`, message);
}

/** One kind's controller is for that kind's resources alone. */
function controllerOf({ kind }: Declared, { options }: Passes): DeclaredController | undefined {
  const controllers = options.controllers as Readonly<Partial<Record<DeclaredKind, unknown>>> | undefined;
  return controllers?.[kind] as DeclaredController | undefined;
}

function referenceTo({ kind, metadata: { name } }: Declared): DeclaredReference {
  return { kind, name };
}

function failed(reason: string, message: string): readonly Finding[] {
  return [notReady(reason, message), stalled(reason, message)];
}
