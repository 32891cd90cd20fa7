import { ResponseError } from '../../../protocol/response-error.ts';
import type { Tenant } from '../../api/object.ts';
import { promoteAnnotation } from '../../api/tenant.ts';
import type { ConditionUpdate, ResourceStatus } from '../conditions.ts';
import type { TenantAccess } from '../managed/controller.ts';
import { tenantAccess } from '../managed/tenant-access.ts';
import type { Resources } from '../resources.ts';
import type { SharedState } from '../shared-state.ts';
import type { StoredDeployment } from './read-sealed-keys.ts';

/** On a Tenant: the ID of the deployment whose store replaces the one that the status names. It counts for this store alone. */
export const acceptStoreAnnotation = 'coffer.dev/accept-store';

/** The store of a tenant as its server sees it. */
export interface StoreObservation {
  /** Set where the store is not the one of the status. */
  readonly condition: ConditionUpdate | undefined;
  readonly status: Pick<ResourceStatus, 'deployment'>;
  /** Set where the store was restored, and acts for nobody until it is promoted. */
  readonly unpromoted?: ConditionUpdate;
}

/** Milliseconds until the server is asked again. A changed pod is an event, and asks at once. */
const askAgainMs = 60_000;

/**
 * Asks the server of a tenant which deployment its store holds. An empty volume, or one of another deployment, is a store that nobody
 * asked for: the data is elsewhere, and what is written meanwhile is lost with the mistake.
 */
export async function observeStore(
  tenant: Tenant,
  resources: Resources,
  shared: SharedState,
): Promise<StoreObservation> {
  const { options } = shared;
  const ref = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const nothing: StoreObservation = { condition: undefined, status: {} };
  if (options.deploymentOf === undefined || tenant.spec.hibernated) return nothing;
  const access = await tenantAccess(tenant, resources, shared);
  if (access === undefined) return nothing;
  options.enqueue(ref, askAgainMs);
  const answer = await ask(access, options.deploymentOf);
  if (answer === undefined) return nothing;
  const { deploymentID: found, unpromoted } = answer;
  const known = options.status.get(ref)?.deployment;
  if (!isExpectedStore(tenant, known, found)) {
    return { condition: replaced(tenant.metadata.name, known ?? '', found), status: {} };
  }
  const status = { deployment: found };
  if (unpromoted === undefined || (await promoted(access, unpromoted.since, options)))
    return { condition: undefined, status };
  return { condition: undefined, status, unpromoted: notPromoted(tenant.metadata.name, unpromoted.reason) };
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
export async function hasExpectedStore(access: TenantAccess, { options }: SharedState): Promise<boolean> {
  const { tenant } = access;
  const known = options.status.get({ kind: 'Tenant', name: tenant.metadata.name })?.deployment;
  if (known === undefined || options.deploymentOf === undefined) return true;
  const found = await ask(access, options.deploymentOf);
  return found === undefined || isExpectedStore(tenant, known, found.deploymentID);
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
