import { expectedDeployment, type ExpectedDeployment } from '../../../protocol/expected-deployment.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import { isOtherStore } from '../../../protocol/waits-for.ts';
import type { Tenant } from '../../api/object.ts';
import { promoteAnnotation } from '../../api/tenant.ts';
import type { RunningWorkload } from '../../runtime/contract/runtime.ts';
import type { ConditionUpdate, ResourceStatus } from '../conditions.ts';
import type { TenantAccess } from '../managed/controller.ts';
import { tenantAccess } from '../managed/tenant-access.ts';
import type { Resources } from '../resources.ts';
import type { SharedState } from '../shared-state.ts';
import { spaceCondition } from './space-condition.ts';
import type { StoredDeployment } from './read-sealed-keys.ts';

/** On a Tenant: the ID of the deployment whose store replaces the one that the status names. It counts for this store alone. */
export const acceptStoreAnnotation = 'coffer.dev/accept-store';

/** The store of a tenant as its server sees it. */
export interface StoreObservation {
  /** Set where the store is not the one of the status. */
  readonly condition: ConditionUpdate | undefined;
  /** Set where the volume is full or nearly full. */
  readonly space?: ConditionUpdate | undefined;
  readonly status: Pick<ResourceStatus, 'deployment'>;
  /** Set where the store was restored, and acts for nobody until it is promoted. */
  readonly unpromoted?: ConditionUpdate;
}

/** Milliseconds until the server is asked again. A changed pod is an event, and asks at once. */
const askAgainMs = 60_000;

/** Answers which stores the server of a tenant may have, which it checks by itself. */
export function expectedStore(tenant: Tenant, resources: Resources, { options }: SharedState): ExpectedDeployment {
  const { metadata } = tenant;
  const expected = options.status.get({ kind: 'Tenant', name: metadata.name })?.deployment;
  const accepted = metadata.annotations?.[acceptStoreAnnotation];
  const others = [...othersStores(tenant, resources, options).keys()].filter((id) => id !== expected).toSorted();
  return {
    ...(expected === undefined ? {} : { expected }),
    ...(expected !== undefined && accepted !== expected && isId(accepted) ? { accepted } : {}),
    ...(others.length === 0 ? {} : { others }),
  };
}

function isId(text: string | undefined): text is string {
  return expectedDeployment.shape.expected.unwrap().safeParse(text).success;
}

/** Answers the stores of the other tenants of the namespace, each with the name of its tenant. */
function othersStores(
  { metadata }: Tenant,
  { tenants }: Resources,
  { status }: SharedState['options'],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of tenants.keys()) {
    const id = name === metadata.name ? undefined : status.get({ kind: 'Tenant', name })?.deployment;
    if (id !== undefined) found.set(id, name);
  }
  return found;
}

/** Answers the store that a server refuses; undefined while it refuses none. */
function refusedStore(running: RunningWorkload | undefined): string | undefined {
  for (const { state } of running?.instances ?? []) {
    const waitsFor = state.kind === 'starting' || state.kind === 'not-ready' ? state.waitsFor : undefined;
    if (waitsFor !== undefined && isOtherStore(waitsFor)) return waitsFor.slice(waitsFor.indexOf(':') + 1);
  }
  return undefined;
}

/**
 * Asks the server of a tenant which deployment its store holds. An empty volume, or one of another deployment, is a store that nobody
 * asked for: the data is elsewhere, and what is written meanwhile is lost with the mistake.
 */
export async function observeStore(
  tenant: Tenant,
  running: RunningWorkload | undefined,
  resources: Resources,
  shared: SharedState,
): Promise<StoreObservation> {
  const { options } = shared;
  const ref = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const nothing: StoreObservation = { condition: undefined, status: {} };
  const known = options.status.get(ref)?.deployment;
  const others = othersStores(tenant, resources, options);
  const refused = refusedStore(running);
  if (refused !== undefined) {
    const condition = problemOf(tenant, known, refused, others);
    if (condition !== undefined) return { condition, status: {} };
  }
  if (options.deploymentOf === undefined || tenant.spec.hibernated) return nothing;
  const access = await tenantAccess(tenant, resources, shared);
  if (access === undefined) return nothing;
  options.enqueue(ref, askAgainMs);
  const answer = await ask(access, options.deploymentOf);
  if (answer === undefined) return nothing;
  const { deploymentID: found, unpromoted, space } = answer;
  const condition = problemOf(tenant, known, found, others);
  if (condition !== undefined) return { condition, status: {} };
  // Servers of other tenants on these stores wait for something else until they learn whose they are.
  if (known === undefined) for (const name of resources.tenants.keys()) options.enqueue({ kind: 'Tenant', name });
  const before = options.status.get(ref)?.conditions.find(({ type }) => type === 'VolumeFull');
  const seen: StoreObservation = {
    condition: undefined,
    space: spaceCondition(space, before?.status === 'True'),
    status: { deployment: found },
  };
  if (unpromoted === undefined || (await promoted(access, unpromoted.since, options))) return seen;
  return { ...seen, unpromoted: notPromoted(tenant.metadata.name, unpromoted.reason) };
}

/** Answers why a store is not that of a tenant; undefined when it is, or when nothing tells. */
function problemOf(
  tenant: Tenant,
  known: string | undefined,
  found: string,
  others: ReadonlyMap<string, string>,
): ConditionUpdate | undefined {
  const { name } = tenant.metadata;
  const other = others.get(found);
  // Of two that began together, the first by name keeps the store.
  if (other !== undefined && (known !== found || other < name)) return shared(other, found);
  return isExpectedStore(tenant, known, found) ? undefined : replaced(name, known ?? '', found);
}

/**
 * Promotes the store of a tenant whose annotation is from a time after the restore, so that the annotation counts for no later restore. Resolves
 * with false where it does not ask for that, and where the server did not do it: the next look tries again.
 */
async function promoted(
  access: TenantAccess,
  since: string,
  { promoteStore }: Pick<SharedState['options'], 'promoteStore'>,
): Promise<boolean> {
  const asked = Date.parse(access.tenant.metadata.annotations?.[promoteAnnotation] ?? '');
  if (promoteStore === undefined || !(asked > Date.parse(since))) return false;
  try {
    await promoteStore(access);
    return true;
  } catch (error) {
    if (error instanceof ResponseError) return false;
    throw error;
  }
}

function notPromoted(tenant: string, reason: string): ConditionUpdate {
  const message =
    `${reason}: its server removes nothing, and leaves tiers, replication, events and sites alone. ` +
    `If it goes on in place of the original, which must not run again: kubectl coffer promote tenant/${tenant}`;
  return { type: 'StorePromoted', status: 'False', reason: 'NotPromoted', message };
}

/** Reports whether the resources of a tenant may be applied to the store that its server has now. */
export async function hasExpectedStore(
  access: TenantAccess,
  resources: Resources,
  { options }: SharedState,
): Promise<boolean> {
  const { tenant } = access;
  const known = options.status.get({ kind: 'Tenant', name: tenant.metadata.name })?.deployment;
  const others = othersStores(tenant, resources, options);
  if ((known === undefined && others.size === 0) || options.deploymentOf === undefined) return true;
  const found = await ask(access, options.deploymentOf);
  return found === undefined || problemOf(tenant, known, found.deploymentID, others) === undefined;
}

function isExpectedStore({ metadata }: Tenant, known: string | undefined, found: string): boolean {
  return known === undefined || known === found || metadata.annotations?.[acceptStoreAnnotation] === found;
}

/** Answers undefined for a server that cannot tell: it is away, or of an earlier release. Other conditions report that. */
async function ask(
  access: TenantAccess,
  deploymentOf: (access: TenantAccess) => Promise<StoredDeployment>,
): Promise<StoredDeployment | undefined> {
  try {
    return await deploymentOf(access);
  } catch (error) {
    if (error instanceof ResponseError) return undefined;
    throw error;
  }
}

function replaced(tenant: string, known: string, found: string): ConditionUpdate {
  const message =
    `its server has the store of the deployment ${found}, which is empty or another one's: the data of this Tenant is that of the deployment ` +
    `${known}. Its volume was lost or replaced: give it back, or restore it from a backup; its resources are not applied meanwhile. To go on ` +
    `with this store: kubectl annotate tenant ${tenant} --overwrite ${acceptStoreAnnotation}=${found}`;
  return { type: 'Ready', status: 'False', reason: 'StoreReplaced', message };
}

function shared(other: string, found: string): ConditionUpdate {
  const message =
    `its server has the store of another deployment, ${found}, which is that of Tenant ${other}: give each a database, and bodies, of its ` +
    'own; its resources are not applied meanwhile';
  return { type: 'Ready', status: 'False', reason: 'StoreOfAnother', message };
}
