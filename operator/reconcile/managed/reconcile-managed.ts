import type { ManagedRef, TenantAccess, ManagedContext, ManagedController, ManagedStatus } from './controller.ts';
import { objectKey, type Resources } from '../resources.ts';
import type { ReconcilerOptions } from '../reconciler-options.ts';
import type { AccessKey, ManagedResource, Tenant, User } from '../../api/object.ts';
import { kubectlArgument } from '../../api/kubectl-argument.ts';
import { ResourceError } from '../../api/resource-error.ts';
import { credentialsSecretName, madeRootSecretName } from './credentials.ts';
import type { SharedState } from '../shared-state.ts';
import type { ManagedKind } from '../../contract/workload.ts';
import { notReady, reconciling, stalled, type ConditionUpdate } from '../conditions.ts';
import { claimants, externalResourceOf } from './claimants.ts';
import { hasExpectedStore } from '../tenant/observe-store.ts';
import { tenantAccess } from './tenant-access.ts';

/** Reasons that end when another resource of the tenant appears or goes. */
const waitReasons: ReadonlySet<string> = new Set([
  'TenantNotReady',
  'PolicyNotFound',
  'UserNotFound',
  'GroupNotFound',
  'PolicyInUse',
  'TierNotFound',
]);

/** Returns the managed resources of a tenant that wait for another resource in it. */
export function waitingIn(
  tenant: string,
  { managed, deleting }: Resources,
  { status }: Pick<ReconcilerOptions, 'status'>,
): readonly ManagedRef[] {
  return [...managed.values()]
    .filter(({ spec }) => spec.tenantRef.name === tenant)
    .map(({ kind, metadata: { name } }) => ({ kind, name }))
    .filter((ref) => {
      const ready = status.get(ref)?.conditions.find(({ type }) => type === 'Ready');
      return (ready?.status === 'False' && waitReasons.has(ready.reason)) || deleting.has(objectKey(ref));
    });
}

/** Milliseconds until a tenant that does not answer is asked again, in case no event comes. */
const tenantDownMs = 30_000;

/**
 * Reconciles a managed resource (a Bucket, a Policy, a User). Once the tenant answers, its controller applies the spec, or removes the
 * external resource when the managed resource is being deleted.
 */
export async function reconcileManaged(
  resource: ManagedResource,
  resources: Resources,
  shared: SharedState,
): Promise<void> {
  const ref = referenceTo(resource);
  const tenant = resources.tenants.get(resource.spec.tenantRef.name);
  const isDeleted = resources.deleting.has(objectKey(ref));
  const [claimant] = claimants(resource, resources);
  if (claimant !== undefined && objectKey(referenceTo(claimant)) !== objectKey(ref)) {
    await shared.options.finalizer?.release(ref);
    if (isDeleted) return;
    return shared.status.put(ref, taken(resource, claimant), {});
  }
  if (isDeleted && !exists(tenant, resources)) return removeResource(resource, false, undefined, resources, shared);
  const reached = tenant === undefined ? undefined : await tenantAccess(tenant, resources, shared);
  // Nothing is made in, or removed from, a store that is not that of the tenant.
  const access = reached !== undefined && (await hasExpectedStore(reached, resources, shared)) ? reached : undefined;
  const context = access && contextOf(resource, access, resources, shared);
  if (isDeleted) return removeResource(resource, true, context, resources, shared);
  const invalid = resources.invalid.get(objectKey(ref));
  if (invalid !== undefined) return shared.status.put(ref, failed('InvalidSpec', invalid), statusOf(ref, shared));
  const controller = controllerOf(resource, shared);
  if (controller === undefined) {
    return shared.status.put(ref, failed('Unsupported', `a ${ref.kind} is nothing that is looked after here`), {});
  }
  const changed = await applyResource({ resource, tenant, context, controller }, shared);
  if (changed && resource.kind === 'User') enqueueFollowers(resource, resources, shared);
  if (isReady(ref, shared)) enqueueWaiting(resource, resources, shared);
}

/**
 * Releases a deleted resource whose spec is invalid. Its tenant is unknown, so it waits for a valid spec while there is any tenant.
 * Returns whether it was released.
 */
export async function releaseInvalid(
  ref: ManagedRef,
  resources: Resources,
  { options }: SharedState,
): Promise<boolean> {
  if ([...resources.tenants.values()].some((tenant) => exists(tenant, resources))) {
    options.enqueue(ref, tenantDownMs);
    return false;
  }
  await options.finalizer?.release(ref);
  return true;
}

/** Enqueues what a user has by other resources: one that was made again has lost its policies and its access keys. */
function enqueueFollowers({ spec }: ManagedResource, { managed }: Resources, { options }: SharedState): void {
  for (const other of managed.values()) {
    if (other.kind !== 'PolicyBinding' && other.kind !== 'AccessKey') continue;
    if (other.spec.tenantRef.name === spec.tenantRef.name) options.enqueue(referenceTo(other));
  }
}

/** Enqueues the resources that wait for this one to appear or to go. */
function enqueueWaiting(resource: ManagedResource, resources: Resources, { options }: SharedState): void {
  const own = objectKey(referenceTo(resource));
  for (const other of waitingIn(resource.spec.tenantRef.name, resources, options)) {
    if (objectKey(other) !== own) options.enqueue(other);
  }
}

/** Returns whether anything was changed in the tenant. */
async function applyResource(
  {
    resource,
    tenant,
    context,
    controller,
  }: {
    readonly resource: ManagedResource;
    readonly tenant: Tenant | undefined;
    /** Undefined while the tenant cannot be reached. */
    readonly context: ManagedContext | undefined;
    readonly controller: ManagedController;
  },
  shared: SharedState,
): Promise<boolean> {
  const { options, status } = shared;
  const ref = referenceTo(resource);
  const known = statusOf(ref, shared);
  const { name } = resource.spec.tenantRef;
  if (tenant === undefined) {
    await status.put(ref, failed('TenantNotFound', `Tenant ${name} does not exist`), known);
    return false;
  }
  if (resource.spec.deletionPolicy === 'Delete') await options.finalizer?.hold(ref);
  else await options.finalizer?.release(ref);
  if (context === undefined) {
    options.enqueue(ref, tenantDownMs);
    const [reason, message] = ['TenantNotReady', `waits for Tenant ${name} to be ready`];
    await status.put(ref, [notReady(reason, message), reconciling(reason, message)], known);
    return false;
  }
  const outcome = await controller.reconcile(resource, context);
  options.enqueue(ref, outcome.afterMs);
  await status.put(ref, outcome.conditions, { ...statusOf(ref, shared), ...outcome.status });
  return outcome.changed === true;
}

async function removeResource(
  resource: ManagedResource,
  tenantExists: boolean,
  context: ManagedContext | undefined,
  resources: Resources,
  shared: SharedState,
): Promise<void> {
  const { finalizer, enqueue } = shared.options;
  const ref = referenceTo(resource);
  const keeps = resource.spec.deletionPolicy === 'Retain';
  // A tenant that is only unreachable comes back. The removal waits for it.
  if (tenantExists && context === undefined && !keeps) {
    enqueue(ref, tenantDownMs);
    const [reason, message] = ['TenantNotReady', waysOut(resource)];
    return shared.status.put(ref, [notReady(reason, message), reconciling(reason, message)], statusOf(ref, shared));
  }
  const outcome = await controllerOf(resource, shared)?.remove(resource, context);
  if (outcome === undefined || outcome.done) {
    if (!keeps && (resource.kind === 'User' || resource.kind === 'AccessKey')) {
      await shared.options.removeCredentials?.(resource);
    }
    await finalizer?.release(ref);
    return enqueueWaiting(resource, resources, shared);
  }
  enqueue(ref, outcome.afterMs);
  return shared.status.put(ref, outcome.conditions, { ...statusOf(ref, shared), ...outcome.status });
}

/** Returns what a deletion waits for, and how to end it without the tenant. */
function waysOut(resource: ManagedResource): string {
  return (
    `its deletion waits for Tenant ${resource.spec.tenantRef.name} to be ready, since what it describes is removed there first. To delete it at once ` +
    'and leave that in the tenant: ' +
    `kubectl patch ${kubectlArgument(resource)} --type merge -p '{"spec":{"deletionPolicy":"Retain"}}'`
  );
}

/** Reports whether the tenant exists. A tenant that is being deleted removes its content itself. */
function exists(tenant: Tenant | undefined, { deleting }: Resources): boolean {
  return tenant !== undefined && !deleting.has(objectKey({ kind: 'Tenant', name: tenant.metadata.name }));
}

function contextOf(
  resource: ManagedResource,
  access: TenantAccess,
  resources: Resources,
  shared: SharedState,
): ManagedContext {
  const ref = referenceTo(resource);
  const { options } = shared;
  return {
    access,
    others: [...resources.managed.values()].filter(
      (other) =>
        other.spec.tenantRef.name === resource.spec.tenantRef.name &&
        objectKey(referenceTo(other)) !== objectKey(ref) &&
        !resources.deleting.has(objectKey(referenceTo(other))),
    ),
    status: statusOf(ref, shared),
    remember: async (status) => {
      const before = options.status.get(ref);
      // Generation 0: no generation is observed yet.
      const kept = before ?? { observedGeneration: 0, conditions: [] };
      await options.status.put(ref, { ...kept, ...status });
    },
    secrets: resources.secrets,
    fingerprint: options.fingerprint,
    credentials: () => {
      if (resource.kind !== 'User' && resource.kind !== 'AccessKey') {
        throw new Error(`a ${resource.kind} has no credentials`);
      }
      refuseRootSecret(resource, resources);
      return options.credentials(resource, resources.secrets);
    },
  };
}

/** The keys of a user in the Secret of root credentials would replace those, or be taken for them. */
function refuseRootSecret(resource: User | AccessKey, { tenants }: Resources): void {
  const secret = credentialsSecretName(resource);
  for (const tenant of tenants.values()) {
    if (secret !== (tenant.spec.rootCredentialsSecret?.name ?? madeRootSecretName(tenant.metadata.name))) continue;
    throw new ResourceError(
      'Conflict',
      `the Secret ${secret} has the root credentials of Tenant ${tenant.metadata.name}: name another in spec.credentialsSecret of ` +
        `${resource.kind} ${resource.metadata.name}`,
    );
  }
}

/** Returns the part of a status that stays when its conditions change. */
function statusOf(ref: ManagedRef, { options }: SharedState): ManagedStatus {
  const { bucketName, policyName, accessKey, credentialsSecret, credentials, attached, settings, replicationTargets } =
    options.status.get(ref) ?? {};
  return {
    ...(bucketName === undefined ? {} : { bucketName }),
    ...(policyName === undefined ? {} : { policyName }),
    ...(accessKey === undefined ? {} : { accessKey }),
    ...(credentialsSecret === undefined ? {} : { credentialsSecret }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(attached === undefined ? {} : { attached }),
    ...(settings === undefined ? {} : { settings }),
    ...(replicationTargets === undefined ? {} : { replicationTargets }),
  };
}

function isReady(ref: ManagedRef, { options }: SharedState): boolean {
  const ready = options.status.get(ref)?.conditions.find(({ type }) => type === 'Ready');
  return ready?.status === 'True';
}

function taken(resource: ManagedResource, claimant: ManagedResource): readonly ConditionUpdate[] {
  const thing = externalResourceOf(claimant);
  const { kind, metadata, spec } = claimant;
  const message =
    `${kind} ${metadata.name} describes the ${thing?.what ?? ''} ${thing?.name ?? ''} of Tenant ${spec.tenantRef.name} already: ` +
    `delete one of the two, or give this one another ${thing?.field ?? 'name'}`;
  return failed(`${resource.kind}Taken`, message);
}

/** Returns the controller of the resource's kind. */
function controllerOf({ kind }: ManagedResource, { options }: SharedState): ManagedController | undefined {
  const controllers = options.controllers as Readonly<Partial<Record<ManagedKind, unknown>>> | undefined;
  return controllers?.[kind] as ManagedController | undefined;
}

function referenceTo({ kind, metadata: { name } }: ManagedResource): ManagedRef {
  return { kind, name };
}

function failed(reason: string, message: string): readonly ConditionUpdate[] {
  return [notReady(reason, message), stalled(reason, message)];
}
