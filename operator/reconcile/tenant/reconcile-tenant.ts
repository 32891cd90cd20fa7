import { ResourceError } from '../../api/resource-error.ts';
import type { Tenant } from '../../api/object.ts';
import type { Secret } from '../../contract/secret.ts';
import { certificateNeeds } from '../../render/certificates.ts';
import { workloadName } from '../../render/render-context.ts';
import { renderTenant } from '../../render/render-tenant.ts';
import type { RunningWorkload } from '../../contract/runtime.ts';
import type { CertificateNeed, IssuedCertificate, Workload } from '../../contract/workload.ts';
import { attempt, refuseUnallowed, type Rendered } from '../attempt-render.ts';
import {
  certificatesOf,
  certificateStatus,
  recheckMs,
  tlsCondition,
  type KnownCertificate,
} from '../certificate-conditions.ts';
import type { ConditionUpdate } from '../conditions.ts';
import { clusterRuleConditions, type Issue, monitoringConditions, workloadStatus } from '../workload-conditions.ts';
import { decideKeyService, keyServiceStatus } from '../key-service/key-service-in-use.ts';
import { admission, keyServiceVersion, unsettledReason } from '../key-service/key-service-views.ts';
import type { KnownProvider } from '../identity-provider/provider-checks.ts';
import { objectKey, type Resources } from '../resources.ts';
import { isSettled, wasRejected } from '../rollout.ts';
import type { SharedState } from '../shared-state.ts';
import type { RolloutProgress } from '../rollouts.ts';
import { observeKeys, type KeyObservation } from './observe-keys.ts';
import { expectedStore, knownStore, observeStore, type KnownStore, type StoreObservation } from './observe-store.ts';
import { keptTiers, reconcileTiers, type TierStatus } from './reconcile-tiers.ts';
import { encryptionCondition, tenantConditions } from './tenant-conditions.ts';
import { defaultImage, type DefaultImage } from '../upgrade-window.ts';
import { withVolumes } from '../volume-conditions.ts';

/** The inputs of a tenant's server, gathered before it is rendered. */
interface Gathered {
  readonly providers: ReadonlyMap<string, KnownProvider>;
  readonly needs: readonly CertificateNeed[];
  readonly issued: ReadonlyMap<string, IssuedCertificate>;
  readonly certificates: readonly KnownCertificate[];
  readonly image: DefaultImage;
  readonly store: KnownStore;
}

/** Reconciles a Tenant: checks its providers, renders its server, takes the next safe step, sets its conditions. */
export async function reconcileTenant(tenant: Tenant, resources: Resources, shared: SharedState): Promise<void> {
  try {
    await advanceTenant(tenant, resources, shared);
  } catch (error) {
    await observeBesideError(tenant, resources, shared);
    throw error;
  }
}

/**
 * Observes what the server of a tenant tells, although another step of the reconcile fails: an error that lasts for days must not hide a volume that
 * gets full, nor keys that were lost.
 */
async function observeBesideError(tenant: Tenant, resources: Resources, shared: SharedState): Promise<void> {
  const ref = { kind: 'Tenant', name: tenant.metadata.name } as const;
  try {
    const running = await shared.options.runtime.observeOne(workloadName(ref));
    const known = await knownStore(tenant, shared);
    const { condition, space, unpromoted, status } = await observeStore(tenant, known, running, resources, shared);
    const keys = condition === undefined ? await observeKeys(tenant, resources, shared) : undefined;
    const kms = tenant.spec.kmsConfigRef;
    const encryption =
      kms &&
      (keys?.condition ?? encryptionCondition({ issue: undefined }, keyServiceConditions(kms.name, resources, shared)));
    const found = [space, unpromoted, encryption].filter((update) => update !== undefined);
    await shared.status.putBeside(ref, found, ['VolumeFull', 'StorePromoted'], { ...keys?.status, ...status });
  } catch {
    // The caller reports the first error. The conditions stay as they are.
  }
}

async function advanceTenant(written: Tenant, resources: Resources, shared: SharedState): Promise<void> {
  const { runtime, enqueue, now } = shared.options;
  const ref = { kind: 'Tenant', name: written.metadata.name } as const;
  const before = await runtime.observeOne(workloadName(ref));
  const { tenant, issue } = await decideKeyService(written, resources, before, shared.options);
  const remembered = shared.options.status.get(ref)?.keyService?.name;
  const gathered = await gather(tenant, resources, before, shared);
  const { paused } = tenant.spec;
  const waitingFor = paused ? undefined : pendingProvider(tenant, gathered.providers);
  // A paused tenant that does not run gets no objects, not even the Secrets that it would be rendered from.
  const left = paused ? before === undefined : waitingFor !== undefined;
  const secrets = left ? undefined : await secretsFor(tenant, resources, shared);
  const isNew = before === undefined;
  const rendered = secrets === undefined ? undefined : render(tenant, resources, gathered, secrets, isNew, shared);
  const progress: Partial<RolloutProgress> =
    rendered?.desired === undefined || secrets === undefined
      ? { running: await runtime.observeOne(workloadName(ref)) }
      : await advance(rendered.desired, tenant, resources, gathered, secrets, shared);
  await shared.providers.forgetUnused(resources);
  await settleRoot(tenant, secrets, rendered?.desired, progress.running, shared);
  const store = await observeStore(tenant, gathered.store, progress.running, resources, shared);
  // Another store knows nothing of this tenant: neither is it changed, nor does it tell which keys sealed the tenant's data.
  const isForeign = store.condition !== undefined;
  const tiers = isForeign ? keptTiers(tenant, shared) : await reconcileTiers(tenant, resources, shared);
  const keys = isForeign ? undefined : await observeKeys(tenant, resources, shared);
  const again = recheckMs(gathered.certificates, now());
  if (again !== undefined) enqueue(ref, again);
  if (rendered?.issue?.reason === 'CertificateMissing') enqueue(ref, missingCertificateMs);
  // While the tenant is paused its spec does not count, so its problems are not reported.
  const reported = paused ? undefined : rendered;
  const rejected = paused ? undefined : issue;
  const outcome = { rendered: reported, progress, waitingFor, rejected, tiers, keys, store };
  await publish({ tenant, resources, gathered, outcome }, shared);
  noteKeyService(tenant, remembered, shared);
  if (issue !== undefined) enqueue(ref, proveRetryMs);
}

/** Milliseconds until the new key service is asked again whether it holds the keys. */
const proveRetryMs = 30_000;

/** Milliseconds until a certificate of cert-manager is looked for again, in case no event comes. */
const missingCertificateMs = 30_000;

/** Enqueues the key services of a move: one drops the tenant's policy, the other admits it. Both read the status, which is written first. */
function noteKeyService(tenant: Tenant, remembered: string | undefined, { keyServiceOf, options }: SharedState): void {
  const { name } = tenant.metadata;
  const before = keyServiceOf.get(name) ?? remembered;
  const after = tenant.spec.kmsConfigRef?.name;
  if (after === undefined) keyServiceOf.delete(name);
  else keyServiceOf.set(name, after);
  if (before === undefined || before === after) return;
  for (const kms of [before, after]) if (kms !== undefined) options.enqueue({ kind: 'KMSConfig', name: kms });
}

async function gather(
  tenant: Tenant,
  resources: Resources,
  before: RunningWorkload | undefined,
  shared: SharedState,
): Promise<Gathered> {
  const { providers, options, keyServices } = shared;
  const names = (tenant.spec.identityProviders ?? []).map(({ name }) => name);
  const { name } = tenant.metadata;
  const kmsRef = tenant.spec.kmsConfigRef;
  const kms = kmsRef && resources.kmsConfigs.get(kmsRef.name);
  const needs = certificateNeeds([tenant], new Map(kms === undefined ? [] : [[kms.metadata.name, kms]])).filter(
    ({ owner }) => owner.kind === 'Tenant' && owner.name === name,
  );
  const own = ownCertificates(tenant, resources);
  const issued = await options.runtime.ensureCertificates(needs);
  return {
    providers: await providers.knownOf(names, resources),
    needs,
    issued,
    certificates: certificatesOf(needs, issued, own),
    image: tenant.spec.paused
      ? { image: options.operandImage, held: [] }
      : defaultImage(tenant, before, options, kmsRef && keyServices.get(kmsRef.name)?.conditions),
    store: await knownStore(tenant, shared),
  };
}

/** Returns the Secrets of the user that hold certificates of the tenant. */
function ownCertificates({ spec }: Tenant, { secrets }: Resources): readonly (Secret | undefined)[] {
  return spec.tls?.secretName === undefined ? [] : [secrets.get(spec.tls.secretName)];
}

/** Returns a provider whose check is pending. The tenant waits for all new providers, so that changes made together cause one restart. */
function pendingProvider(tenant: Tenant, providers: ReadonlyMap<string, KnownProvider>): string | undefined {
  return (tenant.spec.identityProviders ?? []).find(({ name }) => {
    const known = providers.get(name);
    return known !== undefined && !known.current && known.state.kind === 'pending';
  })?.name;
}

interface TenantSecrets {
  readonly all: ReadonlyMap<string, Secret>;
  readonly root: Secret;
  /** The Secret with the other credentials that servers accept; undefined when there are none. */
  readonly accepted: Secret | undefined;
}

async function secretsFor(
  tenant: Tenant,
  { secrets }: Resources,
  { options, roots }: SharedState,
): Promise<TenantSecrets> {
  const root = await options.rootCredentials(tenant, secrets);
  const accepted = await roots.beforeRollout(tenant, root);
  const all = new Map(secrets).set(root.name, root);
  if (accepted !== undefined) all.set(accepted.name, accepted);
  for (const { name } of tenant.spec.identityProviders ?? []) {
    const kept = options.accepted.secret(name);
    if (kept !== undefined) all.set(kept.name, kept);
  }
  return { all, root, accepted };
}

/** Once every server has the current root credentials, the operator signs with them, and the former ones end soon. */
async function settleRoot(
  tenant: Tenant,
  secrets: TenantSecrets | undefined,
  desired: Workload | undefined,
  running: RunningWorkload | undefined,
  { roots, options }: SharedState,
): Promise<void> {
  if (secrets === undefined || desired === undefined || !isSettled(desired, running)) return;
  const endsInMs = await roots.afterRollout(tenant, secrets.root);
  if (endsInMs !== undefined) options.enqueue({ kind: 'Tenant', name: tenant.metadata.name }, endsInMs);
}

function render(
  tenant: Tenant,
  resources: Resources,
  { issued, image: { image: operandImage }, store }: Gathered,
  secrets: TenantSecrets,
  isNew: boolean,
  shared: SharedState,
): Rendered {
  const { options, keyServices } = shared;
  const { accepted, fingerprint } = options;
  const kmsRef = tenant.spec.kmsConfigRef;
  const kms = kmsRef && resources.kmsConfigs.get(kmsRef.name);
  return attempt(() => {
    refuseUnallowed(tenant, options);
    if (isNew && kmsRef !== undefined && resources.deleting.has(objectKey({ kind: 'KMSConfig', name: kmsRef.name }))) {
      throw new ResourceError(
        'KMSConfigDeleted',
        `spec.kmsConfigRef of Tenant ${tenant.metadata.name} names the KMSConfig ${kmsRef.name}, which is being deleted`,
      );
    }
    const other = kmsRef && keyServices.get(kmsRef.name)?.overlapping.get(tenant.metadata.name);
    if (other !== undefined) throw overlap(tenant.metadata.name, other);
    const parts = {
      providers: (tenant.spec.identityProviders ?? []).flatMap(({ name }) => accepted.rendered(name) ?? []),
      rootSecret: secrets.root.name,
      acceptedRootSecret: secrets.accepted?.name,
      deployment: expectedStore(tenant, store, resources, shared),
      kms,
    };
    const { configMaps } = resources;
    return renderTenant(tenant, parts, {
      secrets: secrets.all,
      configMaps,
      certificates: issued,
      fingerprint,
      operandImage,
    });
  });
}

function overlap(tenant: string, other: string): ResourceError {
  return new ResourceError(
    'KeyPrefixOverlap',
    `spec.kmsConfigRef.keyPrefix of Tenant ${tenant} overlaps with that of Tenant ${other}: ` +
      'each could use the keys of the other; give them prefixes of which neither begins with the other',
  );
}

async function advance(
  desired: Workload,
  tenant: Tenant,
  resources: Resources,
  { issued }: Gathered,
  secrets: TenantSecrets,
  shared: SharedState,
): Promise<RolloutProgress> {
  const { rollouts, keyServices, options } = shared;
  const kmsRef = tenant.spec.kmsConfigRef;
  const kms = kmsRef && resources.kmsConfigs.get(kmsRef.name);
  const version = kms === undefined ? '' : keyServiceVersion(kms, resources, options.fingerprint);
  const view = kmsRef && keyServices.get(kmsRef.name);
  const unsettled = unsettledReason(tenant, admission(tenant, issued), view, version);
  let isRecorded = false;
  const beforeStart = async () => {
    isRecorded = await recordKeyService(tenant, desired.name, shared);
  };
  try {
    return await rollouts.advance(desired, secrets.all, { paused: tenant.spec.paused, unsettled, beforeStart });
  } finally {
    if (isRecorded) await forgetRefused(tenant, desired.name, shared);
  }
}

/**
 * Records the key service of a new tenant before its server is there. A key service takes a tenant with a server and without the record for one of a
 * backup, whose default key it must not make, and would be changed for it twice. Resolves with true where it made the record.
 */
async function recordKeyService(tenant: Tenant, workload: string, { options, status }: SharedState): Promise<boolean> {
  if (tenant.spec.kmsConfigRef === undefined || (await options.runtime.hasData(workload))) return false;
  const ref = { kind: 'Tenant', name: tenant.metadata.name } as const;
  if (options.status.get(ref)?.keyService !== undefined) return false;
  await status.putBeside(ref, [], [], keyServiceStatus(tenant));
  return true;
}

/** Takes the record of a new tenant back where no server was made: nothing is sealed with the keys, and the tenant may have others. */
async function forgetRefused(tenant: Tenant, workload: string, { options, status }: SharedState): Promise<void> {
  if (await options.runtime.hasData(workload)) return;
  await status.putBeside({ kind: 'Tenant', name: tenant.metadata.name }, [], [], { keyService: undefined });
}

interface TenantOutcome {
  readonly rendered: Rendered | undefined;
  readonly progress: Partial<RolloutProgress>;
  readonly waitingFor: string | undefined;
  /** The reason why the key service of the spec does not count. */
  readonly rejected: Issue | undefined;
  readonly tiers: TierStatus;
  readonly keys: KeyObservation | undefined;
  readonly store: StoreObservation;
}

/** Writes the status of a tenant, and the events of what changed in it. */
async function publish(
  {
    tenant,
    resources,
    gathered: { providers, needs, certificates, image },
    outcome,
  }: {
    readonly tenant: Tenant;
    readonly resources: Resources;
    readonly gathered: Gathered;
    readonly outcome: TenantOutcome;
  },
  { options, keyServices, status }: SharedState,
): Promise<void> {
  const ref = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const { step, running } = outcome.progress;
  const kmsRef = tenant.spec.kmsConfigRef;
  const found = tenantConditions(
    tenant,
    {
      running,
      step,
      issue: outcome.rejected ?? outcome.rendered?.issue,
      invalid: resources.invalid.get(objectKey(ref)),
      hibernated: isHibernated(tenant, running),
    },
    {
      providers,
      invalidProviders: invalidProviders(tenant, resources),
      isAccepted: (name) => options.accepted.get(name) !== undefined,
      waitingFor: outcome.waitingFor,
      keyService: kmsRef && keyServiceConditions(kmsRef.name, resources, { options, keyServices }),
      keys: outcome.keys?.condition,
      store: outcome.store.condition,
      tls: tlsCondition(needs, certificates, options.now(), ownCertificates(tenant, resources)),
      tiers: outcome.tiers,
    },
  );
  const before = options.status.get(ref);
  const hasServer = running !== undefined && !wasRejected(running);
  const { conditions, againMs } = withVolumes(found, running, before, options.now());
  if (againMs !== undefined) options.enqueue(ref, againMs);
  const wanted = isHibernated(tenant, running) ? 0 : tenant.spec.replicas;
  const further = [
    ...monitoringConditions(running),
    ...clusterRuleConditions(running),
    ...(outcome.store.space === undefined ? [] : [outcome.store.space]),
    ...(outcome.store.unpromoted === undefined ? [] : [outcome.store.unpromoted]),
  ];
  await status.put(ref, [...conditions, ...further, ...image.held], {
    ...workloadStatus(running, wanted, step, ref),
    // A server encrypts its backend at its first start. From then on the status decides which key service admits it.
    ...(hasServer || before?.keyService !== undefined ? keyServiceStatus(tenant) : {}),
    ...outcome.keys?.status,
    ...outcome.store.status,
    ...certificateStatus(certificates),
    ...(outcome.tiers.added.length > 0 || before?.tiers !== undefined ? { tiers: outcome.tiers.added } : {}),
  });
}

/** A paused tenant keeps the state that it had before. */
function isHibernated({ spec }: Tenant, running: RunningWorkload | undefined): boolean {
  return spec.hibernated && (!spec.paused || running?.wanted === 0);
}

/**
 * Returns the conditions of a KMSConfig; undefined when it is gone. Before its first reconcile its status counts, so that a start of the
 * operator does not change the tenant's status for a moment.
 */
function keyServiceConditions(
  name: string,
  { kmsConfigs }: Resources,
  { options, keyServices }: Pick<SharedState, 'options' | 'keyServices'>,
): readonly ConditionUpdate[] | undefined {
  if (!kmsConfigs.has(name)) return undefined;
  const reported = options.status.get({ kind: 'KMSConfig', name })?.conditions;
  return keyServices.get(name)?.conditions ?? (reported as readonly ConditionUpdate[] | undefined);
}

function invalidProviders(tenant: Tenant, { invalid }: Resources): ReadonlyMap<string, string> {
  return new Map(
    (tenant.spec.identityProviders ?? []).flatMap(({ name }) => {
      const message = invalid.get(objectKey({ kind: 'IdentityProvider', name }));
      return message === undefined ? [] : [[name, message] as const];
    }),
  );
}
