import {
  expectedDeployment,
  nextDeployment,
  type ExpectedDeployment,
  type StoreTenant,
} from '../../../protocol/expected-deployment.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import { readOtherStore, type RefusedStore } from '../../../protocol/waits-for.ts';
import { kubectlArgument, namespaceFlag } from '../../api/kubectl-argument.ts';
import type { Tenant } from '../../api/object.ts';
import { acceptStoreAnnotation, promoteAnnotation } from '../../api/tenant.ts';
import { workloadName } from '../../render/render-context.ts';
import type { DataVolumeOwner, RunningWorkload, Runtime } from '../../contract/runtime.ts';
import type { ConditionUpdate, ResourceStatus } from '../conditions.ts';
import type { TenantAccess } from '../managed/controller.ts';
import { tenantAccess } from '../managed/tenant-access.ts';
import type { Resources } from '../resources.ts';
import type { SharedState } from '../shared-state.ts';
import { spaceCondition } from './space-condition.ts';
import { keepsStore, type StoreHolder } from './store-holder.ts';
import type { StoredDeployment } from './read-sealed-keys.ts';

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

/** The store of a tenant, as far as it is known before its server is asked. */
export interface KnownStore {
  /** The ID of its deployment. */
  readonly deployment: string | undefined;
  /** The volume that was there before the server; undefined where the deployment is known, or the volume was made for the server. */
  readonly unproven: { readonly claim: string; readonly uid: string } | undefined;
}

/**
 * Returns the store that a tenant had before. After a restore it has no status, and the claim of its volume tells: each claim is marked with the
 * deployment whose store it holds.
 */
export async function knownStore(tenant: Tenant, { options }: SharedState): Promise<KnownStore> {
  const ref = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const recorded = options.status.get(ref)?.deployment;
  const volume =
    recorded === undefined && hasOwnRecords(tenant) ? await options.runtime.dataVolume(serverOf(ref)) : undefined;
  const uid = volume?.unproven;
  return {
    deployment: recorded ?? volume?.deployment,
    unproven: volume === undefined || uid === undefined ? undefined : { claim: volume.claim, uid },
  };
}

/** Reports whether the server of a tenant has run, so that applications may use what it had. A backup gives volumes back, and no status. */
export async function hasRun(
  { metadata: { name } }: Tenant,
  { status, runtime }: { readonly status: Statuses; readonly runtime: Pick<Runtime, 'hasData'> },
): Promise<boolean> {
  const ref = { kind: 'Tenant', name } as const;
  return status.get(ref)?.deployment !== undefined || (await runtime.hasData(workloadName(ref)));
}

type Statuses = Pick<SharedState['options']['status'], 'get'>;

/** The records name the deployment, so that a volume with bodies alone proves nothing. */
function hasOwnRecords({ spec }: Tenant): boolean {
  return spec.storage.records === undefined;
}

function serverOf(owner: { readonly kind: 'Tenant'; readonly name: string }): DataVolumeOwner {
  return { name: workloadName(owner), owner, program: 'coffer-server' };
}

/** Returns which stores the server of a tenant may have, which it checks by itself. */
export function expectedStore(
  tenant: Tenant,
  known: KnownStore,
  resources: Resources,
  { options }: SharedState,
): ExpectedDeployment {
  const { deployment: expected, unproven } = known;
  const accepted = tenant.metadata.annotations?.[acceptStoreAnnotation];
  const others = [...othersStores(tenant, known, resources, options).keys()].filter((id) => id !== expected).toSorted();
  const identity = identityOf(tenant, options);
  const isNeeded = expected !== undefined || unproven !== undefined || identity !== undefined;
  return {
    ...(expected === undefined ? {} : { expected }),
    ...(unproven === undefined ? {} : { unprovenClaim: unproven.uid }),
    // In a database the acceptance of the store that the Tenant has takes it back from another one, which has accepted it since.
    ...(isNeeded && (accepted !== expected || identity !== undefined) && isId(accepted) ? { accepted } : {}),
    ...(others.length === 0 ? {} : { others }),
    ...(identity === undefined ? {} : { tenant: identity }),
  };
}

/**
 * Returns the name and UID of a tenant in the records of its database, which servers of other clusters may reach. A volume has the mark of its claim instead,
 * which a backup restores: the UID of a restored Tenant is another one.
 */
function identityOf(tenant: Tenant, options: SharedState['options']): StoreTenant | undefined {
  if (hasOwnRecords(tenant)) return undefined;
  const { namespace } = options;
  return { name: tenant.metadata.name, ...(namespace === '' ? {} : { namespace }), uid: ownUid(tenant, options) };
}

/** Throws for a Tenant that was deleted meanwhile: a server that gets no UID takes the store of any Tenant. */
function ownUid({ metadata: { name } }: Tenant, { tenantUids }: SharedState['options']): string {
  const uid = tenantUids.uidOf(name);
  if (uid === undefined) throw new Error(`Tenant ${name} has no UID: it was deleted meanwhile`);
  return uid;
}

function isId(text: string | undefined): text is string {
  return expectedDeployment.shape.expected.unwrap().safeParse(text).success;
}

interface OtherTenant {
  /** As messages call it: `Tenant demo`, `Tenant demo of namespace team`. */
  readonly title: string;
  /** Set where the store may be a copy, which has the same ID, and may be accepted. */
  readonly mayBeCopied: boolean;
  readonly holder: StoreHolder;
  /** Set where it keeps the store of two that recorded it. */
  readonly isFirst: boolean;
}

/**
 * Returns the stores of other tenants, each with its tenant: those of the namespace, and for a database those in the databases of other
 * namespaces. A store that was accepted is not another's: it may be a copy, which has the same ID.
 */
function othersStores(
  tenant: Tenant,
  { deployment }: KnownStore,
  { tenants }: Resources,
  { status, databasesElsewhere, namespace }: SharedState['options'],
): ReadonlyMap<string, OtherTenant> {
  const { metadata } = tenant;
  const own = holderOf(tenant, deployment, namespace);
  const found = new Map<string, OtherTenant>();
  const add = (id: string, other: Omit<OtherTenant, 'isFirst'>) => {
    const before = found.get(id);
    if (before !== undefined && !keepsStore(other.holder, before.holder)) return;
    found.set(id, { ...other, isFirst: keepsStore(other.holder, own) });
  };
  const elsewhere = hasOwnRecords(tenant) ? undefined : databasesElsewhere?.();
  for (const [id, holder] of elsewhere ?? []) {
    // The file of a server does not change with every Tenant of the cluster: one that has its store is told only who else has that.
    const counts = deployment === undefined || id === deployment;
    if (!counts || id === metadata.annotations?.[acceptStoreAnnotation]) continue;
    const [where, name] = holder.at.split('/');
    add(id, { title: `Tenant ${name} of namespace ${where}`, mayBeCopied: true, holder });
  }
  for (const [name, other] of tenants) {
    const id = name === metadata.name ? undefined : status.get({ kind: 'Tenant', name })?.deployment;
    if (id === undefined) continue;
    add(id, { title: `Tenant ${name}`, mayBeCopied: false, holder: holderOf(other, id, namespace) });
  }
  return found;
}

function holderOf({ metadata, spec }: Tenant, deployment: string | undefined, namespace: string): StoreHolder {
  const { name, creationTimestamp: created = '', annotations } = metadata;
  const accepted = deployment !== undefined && annotations?.[acceptStoreAnnotation] === deployment;
  return { at: `${namespace}/${name}`, created, accepted, serves: !spec.hibernated && !spec.paused };
}

/** Returns the store that a server refuses; undefined while it refuses none. */
function refusedStore(running: RunningWorkload | undefined): RefusedStore | undefined {
  for (const { state } of running?.instances ?? []) {
    const waitsFor = state.kind === 'starting' || state.kind === 'not-ready' ? state.waitsFor : undefined;
    const refused = waitsFor === undefined ? undefined : readOtherStore(waitsFor);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/**
 * Asks the server of a tenant which deployment its store holds. An empty volume, or one of another deployment, is a store that nobody
 * asked for: the data is elsewhere, and what is written meanwhile is lost with the mistake.
 */
export async function observeStore(
  tenant: Tenant,
  known: KnownStore,
  running: RunningWorkload | undefined,
  resources: Resources,
  shared: SharedState,
): Promise<StoreObservation> {
  const { options } = shared;
  const ref = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const nothing: StoreObservation = { condition: undefined, status: {} };
  const others = othersStores(tenant, known, resources, options);
  const refused = refusedStore(running);
  if (refused !== undefined) {
    const condition =
      heldByOther(tenant, known, refused, options) ??
      problemOf(tenant, known, refused.store, others) ??
      notRestored(tenant, known, refused);
    if (condition !== undefined) {
      // The condition names another Tenant, whose deletion is no event of this one.
      options.enqueue(ref, askAgainMs);
      return { condition, status: {} };
    }
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
  if (known.deployment === undefined)
    for (const name of resources.tenants.keys()) options.enqueue({ kind: 'Tenant', name });
  if (hasOwnRecords(tenant)) await options.runtime.recordDeployment(serverOf(ref), found);
  const before = options.status.get(ref)?.conditions.find(({ type }) => type === 'VolumeFull');
  const seen: StoreObservation = {
    condition: undefined,
    space: spaceCondition(space, before?.status === 'True'),
    status: { deployment: found },
  };
  if (unpromoted === undefined || (await promoted(access, unpromoted.since, options))) return seen;
  return { ...seen, unpromoted: notPromoted(tenant, unpromoted.reason) };
}

/** Returns why a store is not that of a tenant; undefined when it is, or when nothing tells. */
function problemOf(
  tenant: Tenant,
  { deployment: known, unproven }: KnownStore,
  found: string,
  others: ReadonlyMap<string, OtherTenant>,
): ConditionUpdate | undefined {
  const { annotations } = tenant.metadata;
  const other = others.get(found);
  // Of two that recorded it one keeps the store. The servers of the other go on, since nothing proves which of both is wrong.
  if (other !== undefined && (known !== found || other.isFirst)) return sharedStore(tenant, other, found);
  if (known === found || annotations?.[acceptStoreAnnotation] === found) return undefined;
  if (known !== undefined) return replaced(tenant, known, found);
  return unproven && notProven(tenant, unproven, found);
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

function notPromoted({ metadata: { name, namespace } }: Tenant, reason: string): ConditionUpdate {
  const message =
    `${reason}: its server removes nothing, and leaves tiers, replication, events and sites alone. ` +
    `If it goes on in place of the original, which must not run again: kubectl coffer promote tenant/${name}${namespaceFlag(namespace)}`;
  return { type: 'StorePromoted', status: 'False', reason: 'NotPromoted', message };
}

/** Reports whether the resources of a tenant may be applied to the store that its server has now. */
export async function hasExpectedStore(
  access: TenantAccess,
  resources: Resources,
  shared: SharedState,
): Promise<boolean> {
  const { options } = shared;
  const { tenant } = access;
  const known = await knownStore(tenant, shared);
  const others = othersStores(tenant, known, resources, options);
  const mayHaveAny = known.deployment === undefined && known.unproven === undefined && others.size === 0;
  if (mayHaveAny || options.deploymentOf === undefined) return true;
  const found = await ask(access, options.deploymentOf);
  return found === undefined || problemOf(tenant, known, found.deploymentID, others) === undefined;
}

/** Returns undefined for a server that cannot tell: it is away, or of an earlier release. Other conditions report that. */
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

function replaced(tenant: Tenant, known: string, found: string): ConditionUpdate {
  const message =
    `its server has the store of the deployment ${found}, which is empty or another one's: the data of this Tenant is that of the deployment ` +
    `${known}. Its volume was lost or replaced: give it back, or restore it from a backup; its resources are not applied meanwhile. To go on ` +
    `with this store: ${acceptance(tenant, found)}`;
  return { type: 'Ready', status: 'False', reason: 'StoreReplaced', message };
}

function notProven(
  tenant: Tenant,
  { claim, uid }: NonNullable<KnownStore['unproven']>,
  found: string,
): ConditionUpdate {
  const holds =
    found === nextDeployment(uid)
      ? 'which is empty: restore its data, if it is to have any'
      : `which holds the store of the deployment ${found}: make sure that this is the data of this Tenant`;
  const message =
    `its volume is the claim ${claim}, which was there before it and does not tell whose data it holds, and ${holds}; its server waits, and ` +
    `its resources are not applied. To go on with this store: ${acceptance(tenant, found)}`;
  return { type: 'Ready', status: 'False', reason: 'StoreNotProven', message };
}

function acceptance(tenant: Tenant, id: string): string {
  return `kubectl annotate ${kubectlArgument(tenant)} --overwrite ${acceptStoreAnnotation}=${id}`;
}

/** Returns why a store is refused whose records name another Tenant; undefined once this one may have it, which its server soon sees. */
function heldByOther(
  tenant: Tenant,
  { deployment: known }: KnownStore,
  { store, tenant: uid }: RefusedStore,
  options: SharedState['options'],
): ConditionUpdate | undefined {
  const { tenantUids, namespace } = options;
  const isAllowed = known === store || tenant.metadata.annotations?.[acceptStoreAnnotation] === store;
  if (uid === undefined || isAllowed) return undefined;
  const place = tenantUids.find(uid);
  if (place !== undefined) {
    const isElsewhere = place.namespace !== namespace;
    const title = `Tenant ${place.name}${isElsewhere ? ` of namespace ${place.namespace}` : ''}`;
    return sharedStore(tenant, { title, mayBeCopied: isElsewhere }, store);
  }
  const data = known === undefined ? '' : `. The data of this Tenant is that of the deployment ${known}`;
  const message =
    `the database of this Tenant (UID ${ownUid(tenant, options)}) has the store of the deployment ${store}, which belongs to a Tenant ` +
    `that this operator does not see (UID ${uid}): one of another cluster, or a former one${data}. The log of the server has its name. Give each ` +
    'a database, and bodies, of its own; the server waits, and the resources are not applied meanwhile. If this Tenant goes on in place of that ' +
    `one, which must not run again, or the database is a copy, with copied bodies: ${acceptance(tenant, store)}`;
  return { type: 'Ready', status: 'False', reason: 'StoreOfAnother', message };
}

/** Returns why a server begins no store: its Tenant accepted one, and its database is empty. */
function notRestored(
  tenant: Tenant,
  { deployment, unproven }: KnownStore,
  { store }: RefusedStore,
): ConditionUpdate | undefined {
  const accepted = tenant.metadata.annotations?.[acceptStoreAnnotation];
  if (deployment !== undefined || unproven !== undefined || accepted === undefined) return undefined;
  if (store !== nextDeployment(accepted)) return undefined;
  const message =
    `its database is new or empty, and the annotation ${acceptStoreAnnotation} names the store of the deployment ${accepted}: restore that. To begin a ` +
    `new store, take the annotation away: kubectl annotate ${kubectlArgument(tenant)} ${acceptStoreAnnotation}-`;
  return { type: 'Ready', status: 'False', reason: 'StoreReplaced', message };
}

function sharedStore(
  tenant: Tenant,
  { title, mayBeCopied }: Pick<OtherTenant, 'title' | 'mayBeCopied'>,
  found: string,
): ConditionUpdate {
  const copied = mayBeCopied ? `. If the database is a copy, with copied bodies: ${acceptance(tenant, found)}` : '';
  const message =
    `its server has the store of another deployment, ${found}, which is that of ${title}: give each a database, and bodies, of its ` +
    `own; its resources are not applied meanwhile${copied}`;
  return { type: 'Ready', status: 'False', reason: 'StoreOfAnother', message };
}
