import { isConflict } from '../../api/resource-error.ts';
import type { KMSConfig, Tenant } from '../../api/object.ts';
import { certificateNeeds, keyProofCertificate, keyProofNeed } from '../../render/certificates.ts';
import { workloadName } from '../../render/render-context.ts';
import { overlappingTenants, renderKeyService } from '../../render/render-key-service.ts';
import type { Runtime } from '../../contract/runtime.ts';
import type { CertificateNeed, IssuedCertificate, ResourceRef } from '../../contract/workload.ts';
import { attempt, refuseUnallowed } from '../attempt-render.ts';
import { certificatesOf, certificateStatus, recheckMs, tlsCondition } from '../certificate-conditions.ts';
import { keyStoreUnavailable, stalled, swapPossible, type ConditionUpdate } from '../conditions.ts';
import {
  clusterRuleConditions,
  monitoringConditions,
  workloadConditions,
  workloadStatus,
} from '../workload-conditions.ts';
import { admission, concernedTenants, keyServiceVersion, type KeyServiceView } from './key-service-views.ts';
import { canariesOf, holdersOf, moversTo, usersOfKeyService } from './key-service-in-use.ts';
import { objectKey, type Resources } from '../resources.ts';
import type { SharedState } from '../shared-state.ts';
import { isSettled } from '../rollout.ts';
import type { RolloutProgress } from '../rollouts.ts';
import { defaultImage } from '../upgrade-window.ts';
import { withVolumes } from '../volume-conditions.ts';

/** Reconciles a KMSConfig: renders its key service with the policy of each tenant, takes the next safe step, sets its conditions. */
export async function reconcileKeyService(kms: KMSConfig, resources: Resources, shared: SharedState): Promise<void> {
  const { runtime, fingerprint, enqueue, now } = shared.options;
  const { name } = kms.metadata;
  const ref = { kind: 'KMSConfig', name } as const;
  const all = usersOfKeyService(name, resources, shared.options);
  const holders = await currentHolders(name, all, resources, shared);
  const isDeleted = resources.deleting.has(objectKey(ref));
  if (isDeleted && holders.length === 0) return endOf(kms, shared);
  // A key service that is being deleted admits no new tenant.
  const users = isDeleted ? all.filter(({ metadata }) => holders.includes(metadata.name)) : all;
  const movers = isDeleted || shared.options.proveKeys === undefined ? [] : moversTo(kms, resources, shared.options);
  const needs = [
    ...certificateNeeds(users, new Map([[name, kms]])).filter(
      (need) => need.owner.kind === 'KMSConfig' || need.authority === name,
    ),
    ...(movers.length === 0 ? [] : [keyProofNeed(kms)]),
  ];
  const own = needs.filter(({ owner }) => owner.kind === 'KMSConfig');
  const issued = new Map([
    ...(await runtime.ensureCertificates(own)),
    ...(await certificatesOfTenants(needs, users, runtime)),
  ]);
  const { secrets, configMaps } = resources;
  const { image: operandImage, held } = defaultImage(kms, await runtime.observeOne(workloadName(ref)), shared.options);
  const untold = await untoldTenants(users, shared);
  const rendered = attempt(() => {
    refuseUnallowed(kms, shared.options);
    const context = {
      secrets,
      configMaps,
      certificates: issued,
      fingerprint,
      operandImage,
    };
    return renderKeyService(kms, users, context, movers, canariesOf(kms, users, untold, shared.options));
  });
  const paused = isPaused(kms);
  const progress: Partial<RolloutProgress> =
    rendered.desired === undefined
      ? { running: await runtime.observeOne(workloadName(ref)) }
      : await shared.rollouts.advance(rendered.desired, secrets, { paused, unsettled: undefined });
  const { running, step } = progress;

  const certificates = certificatesOf(own, issued, []);
  const hibernated = rendered.desired?.kubernetes.hibernated === true;
  const invalid = resources.invalid.get(objectKey(ref));
  const tls = tlsCondition(own, certificates, now());
  const seen = { running, step, issue: rendered.issue, invalid, hibernated };
  const found = [...workloadConditions(seen), ...held];
  const reported = isDeleted ? deletionWaits(found, holders) : found;
  const further = [
    ...(tls === undefined ? [] : [tls]),
    ...keyStoreConditions(ref, shared),
    ...monitoringConditions(running),
    ...clusterRuleConditions(running),
    ...(await swapConditions(ref, shared)),
  ];
  const remembered = shared.options.status.get(ref);
  const { conditions, againMs } = withVolumes([...reported, ...further], running, remembered, now());
  if (isDeleted) reportWait(ref, conditions, shared);
  const overlapping = overlappingTenants(users);
  const view: KeyServiceView = {
    version: keyServiceVersion(kms, resources, fingerprint),
    settled: rendered.desired !== undefined && isSettled(rendered.desired, running),
    admitted: new Map([
      ...movers.map(({ metadata }) => [metadata.name, proofOf(issued.get(keyProofCertificate(name)))] as const),
      ...users
        .filter(({ metadata }) => !overlapping.has(metadata.name))
        .map((tenant) => [tenant.metadata.name, admission(tenant, issued)] as const),
    ]),
    overlapping,
    conditions: found,
  };
  const before = shared.keyServices.get(name);
  shared.keyServices.set(name, view);
  for (const { metadata } of concernedTenants(before, view, [...users, ...movers]))
    enqueue({ kind: 'Tenant', name: metadata.name });
  const again = recheckMs(certificatesOf(needs, issued, []), now());
  if (again !== undefined) enqueue(ref, again);
  if (rendered.issue?.reason === 'CertificateMissing') enqueue(ref, missingCertificateMs);
  if (againMs !== undefined) enqueue(ref, againMs);
  await shared.status.put(ref, conditions, {
    ...workloadStatus(running, hibernated ? 0 : kms.spec.replicas, step, ref),
    ...certificateStatus(certificates),
  });
}

/** Releases a deleted KMSConfig whose spec is invalid. Answers false while a tenant uses it. */
export async function releaseInvalidKeyService(
  name: string,
  resources: Resources,
  shared: SharedState,
): Promise<boolean> {
  const holders = await currentHolders(name, usersOfKeyService(name, resources, shared.options), resources, shared);
  if (holders.length > 0) return false;
  await shared.options.runtime.remove(workloadName({ kind: 'KMSConfig', name }));
  await shared.options.finalizer?.release({ kind: 'KMSConfig', name });
  return true;
}

/** For a tenant that is to move, the key service admits the operator, which asks for the keys. */
function proofOf(certificate: IssuedCertificate | undefined): string {
  return `proof ${certificate?.identity ?? ''}`;
}

const missingCertificateMs = 30_000;

/** Milliseconds until a waiting deletion is checked again, in case no event comes. */
const deletionRetryMs = 30_000;

/** Returns the tenants that use the key service. The finalizer is set before a policy admits the first one. */
async function currentHolders(
  name: string,
  users: readonly Tenant[],
  { deleting }: Resources,
  { options }: SharedState,
): Promise<readonly string[]> {
  const ref = { kind: 'KMSConfig', name } as const;
  const isDeleted = deleting.has(objectKey(ref));
  if (!isDeleted && users.length > 0) {
    await options.finalizer?.hold(ref);
    return users.map(({ metadata }) => metadata.name);
  }
  const holders = holdersOf(name, users, await options.runtime.observe(), options);
  if (isDeleted) options.enqueue(ref, deletionRetryMs);
  else if (holders.length === 0) await options.finalizer?.release(ref);
  return holders;
}

/**
 * Returns the tenants that have data, and whose status does not know their key service, as after a restore without statuses. A status that
 * knows it and no keys is that of a server of an earlier release, which tells none.
 */
async function untoldTenants(users: readonly Tenant[], { options }: SharedState): Promise<readonly Tenant[]> {
  const found: Tenant[] = [];
  for (const tenant of users) {
    const ref = { kind: 'Tenant', name: tenant.metadata.name } as const;
    const status = options.status.get(ref);
    if (status?.keys !== undefined || status?.keyService !== undefined) continue;
    if (await options.runtime.hasData(workloadName(ref))) found.push(tenant);
  }
  return found;
}

/** Ends a key service that no tenant uses. Its keys may still be needed for volumes and backups that stay. */
async function endOf({ metadata: { name }, spec }: KMSConfig, { options }: SharedState): Promise<void> {
  const ref = { kind: 'KMSConfig', name } as const;
  // Its objects belong to the tenants that used it, too, so that the garbage collector could keep them.
  await options.runtime.remove(workloadName(ref));
  if (spec.keystore.files !== undefined && spec.reclaimPolicy === 'Delete') {
    const message =
      'its keys stay on their volume, since data may be sealed with them: delete the volume once nothing needs them';
    options.event({ ref, type: 'Normal', reason: 'KeysKept', message });
  }
  await options.finalizer?.release(ref);
}

function deletionWaits(found: readonly ConditionUpdate[], holders: readonly string[]): readonly ConditionUpdate[] {
  const tenants = holders.map((name) => `Tenant ${name}`).join(', ');
  const message =
    `its deletion waits for ${tenants}, whose data cannot be read without its keys: delete what uses it, or move it to a KMSConfig ` +
    'that holds the same keys; until then it runs on';
  return [...found.filter(({ type }) => type !== 'Stalled' && type !== 'Reconciling'), stalled('InUse', message)];
}

function reportWait(ref: ResourceRef, conditions: readonly ConditionUpdate[], { options }: SharedState): void {
  const condition = conditions.find(({ type, reason }) => type === 'Stalled' && reason === 'InUse');
  const before = options.status.get(ref)?.conditions.find(({ type }) => type === 'Stalled');
  if (condition === undefined || before?.message === condition.message) return;
  options.event({ ref, type: 'Warning', reason: condition.reason, message: condition.message });
}

/** Reports a key store that is away, and records an event when that begins. */
function keyStoreConditions(ref: ResourceRef, { options }: SharedState): readonly ConditionUpdate[] {
  if (!options.runtime.isKeyStoreAway(workloadName(ref))) return [];
  const condition = keyStoreUnavailable();
  const { type, reason, message } = condition;
  const isKnown = options.status.get(ref)?.conditions.some((before) => before.type === type) === true;
  if (!isKnown) options.event({ ref, type: 'Warning', reason, message });
  return [condition];
}

/** Reports nodes with swap, and records an event when they change. */
async function swapConditions(ref: ResourceRef, { options }: SharedState): Promise<readonly ConditionUpdate[]> {
  const nodes = (await options.swapNodes?.(workloadName(ref))) ?? [];
  if (nodes.length === 0) return [];
  const condition = swapPossible(nodes);
  const { reason, message } = condition;
  const before = options.status.get(ref)?.conditions.find(({ type }) => type === 'SwapPossible');
  if (before?.message !== message) options.event({ ref, type: 'Warning', reason, message });
  return [condition];
}

/** Skips a tenant with a conflict: its own reconcile reports it, and the others must get their keys. */
async function certificatesOfTenants(
  needs: readonly CertificateNeed[],
  users: readonly Tenant[],
  runtime: Runtime,
): Promise<readonly (readonly [string, IssuedCertificate])[]> {
  const found: (readonly [string, IssuedCertificate])[] = [];
  for (const { metadata } of users) {
    const theirs = needs.filter(({ owner }) => owner.kind === 'Tenant' && owner.name === metadata.name);
    try {
      found.push(...(await runtime.ensureCertificates(theirs)));
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
  return found;
}

function isPaused({ spec }: KMSConfig): boolean {
  return 'paused' in spec && spec.paused === true;
}
