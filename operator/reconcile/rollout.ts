import {
  isManagedKind,
  type ResourceRef,
  type RestartInput,
  type RestartReason,
  type SharedInput,
  type Workload,
} from '../contract/workload.ts';
import type { Instance, RunningWorkload, StoreHealth } from '../contract/runtime.ts';

/** A reason for a restart of a workload, and the field that the user changed. */
export interface Restart {
  readonly reason: RestartReason;
  /** `spec.scopes of IdentityProvider primary-iam`. */
  readonly field: string;
}

/**
 * Compares the inputs that were recorded at the start with the rendered ones, and answers every reason to restart. The answer is empty
 * when no input changed. A resource that was added or removed is one reason, not one for each of its fields.
 */
export function restartReasons(
  recorded: readonly RestartInput[],
  rendered: readonly RestartInput[],
  owner: ResourceRef,
): readonly Restart[] {
  const before = new Map(recorded.map((input) => [keyOf(input), input]));
  const after = new Map(rendered.map((input) => [keyOf(input), input]));
  const resources = addedOrRemovedResources(recorded, rendered, owner);
  const reasons: Restart[] = [...resources.values()];
  for (const key of new Set([...after.keys(), ...before.keys()])) {
    const now = after.get(key);
    const old = before.get(key);
    const input = now ?? old;
    if (input === undefined || now?.fingerprint === old?.fingerprint) continue;
    if (resources.has(resourceOf(input))) continue;
    // A Secret that is newly named, or no longer named, belongs to the change of the field that names it.
    if ((input.of.kind === 'Secret' || input.of.kind === 'ConfigMap') && (now === undefined || old === undefined))
      continue;
    reasons.push({ reason: input.reason, field: describe(input) + change(old, now) });
  }
  return reasons;
}

/** `IdentityProviderChanged: spec.scopes of IdentityProvider primary-iam`. */
export function describeRestarts(restarts: readonly Restart[]): string {
  return restarts.map(({ reason, field }) => `${reason}: ${field}`).join('; ');
}

function addedOrRemovedResources(
  recorded: readonly RestartInput[],
  rendered: readonly RestartInput[],
  owner: ResourceRef,
): ReadonlyMap<string, Restart> {
  const own = resourceOf({ of: owner });
  const before = new Map(recorded.map((input) => [resourceOf(input), input.of]));
  const after = new Map(rendered.map((input) => [resourceOf(input), input.of]));
  const found = new Map<string, Restart>();
  for (const [resource, of] of new Map([...before, ...after])) {
    if (resource === own || (before.has(resource) && after.has(resource))) continue;
    const { kind, name } = of;
    // A Secret or a ConfigMap belongs to the field that names it. Managed resources are not part of a workload.
    if (kind === 'Secret' || kind === 'ConfigMap' || isManagedKind(kind)) continue;
    found.set(resource, { reason: `${kind}${after.has(resource) ? 'Added' : 'Removed'}`, field: `${kind} ${name}` });
  }
  return found;
}

function keyOf(input: Pick<RestartInput, 'field' | 'of'>): string {
  return `${input.field} ${resourceOf(input)}`;
}

function resourceOf({ of }: Pick<RestartInput, 'of'>): string {
  return `${of.kind}/${of.name}`;
}

/** Returns ` (coffer:1 to coffer:2)` when both values may be shown. */
function change(old: RestartInput | undefined, now: RestartInput | undefined): string {
  return old?.shown === undefined || now?.shown === undefined ? '' : ` (${old.shown} to ${now.shown})`;
}

function describe({ field, of }: Pick<RestartInput, 'field' | 'of'>): string {
  return `${field} of ${of.kind} ${of.name}`;
}

export const blockerReasons = [
  'PodNotReady',
  'StoreNotHealthy',
  'RolloutInProgress',
  'ChangesNotSeparate',
  'KeyServiceUnavailable',
  'KeystoreNotProven',
  'ProviderInvalid',
  'VolumeBeingDeleted',
] as const;

export type BlockerReason = (typeof blockerReasons)[number];

/** The reason why a needed restart does not happen. */
export interface Blocker {
  readonly reason: BlockerReason;
  /** It becomes the message of a condition, so it holds no number that changes by itself. */
  readonly message: string;
}

/** The facts, apart from the workload itself, that a decision depends on. */
export interface RolloutContext {
  /** Only certificates and secrets that would expire are renewed. */
  readonly paused: boolean;
  /** The reason why a workload that this one depends on is not settled; undefined when it is ready and has no rollout. */
  readonly unsettled: string | undefined;
  /** The part that the check of the workload has not proven; undefined when nothing is to be proven. */
  readonly unproven?: Unproven | undefined;
  /** Undefined when the store was not asked. */
  readonly store: StoreHealth | undefined;
  /** True when the rollout limit has a place for this workload. */
  readonly mayRoll: boolean;
}

/** Keys that a key service is to have, and is not proven to have. */
export interface Unproven {
  /** True while the check has no answer yet. */
  readonly isPending: boolean;
  readonly message: string;
}

/** One step to take now. A later reconcile takes the next one, when the reason to wait has changed. */
export type RolloutStep =
  | { readonly kind: 'leave' }
  | { readonly kind: 'start' }
  /** Records the inputs that instances start with from now on. */
  | { readonly kind: 'update'; readonly restarts: readonly Restart[] }
  | {
      readonly kind: 'replace';
      readonly instance: Instance;
      /**
       * Instances that are replaced with it, since none of them can run beside a new one. Empty where it is the last of them; undefined where
       * instances are replaced one after the other.
       */
      readonly alongside?: readonly Instance[];
      /** The settings that all instances must share, with the former value and the new one, where that is why they are replaced at once. */
      readonly shared?: string;
      readonly restarts: readonly Restart[];
    }
  /** No restart is needed. Reloading files, addresses and the number of instances may have changed. */
  | { readonly kind: 'refresh' }
  | {
      readonly kind: 'wait';
      readonly blocker: Blocker;
      readonly restarts: readonly Restart[];
      /** True while a replaced instance comes back, which is not a problem. */
      readonly progressing: boolean;
    };

/**
 * Decides the next safe step of a workload. It replaces one instance at a time, and a ready one only when every other is ready, the
 * store can spare it, its key service is ready, and the rollout limit has a place. Outdated instances that are not ready go first and
 * wait for nothing: they serve no client, and so the next valid spec repairs a broken rollout. Where all instances must share what was changed, all of
 * them are replaced at once.
 */
export function nextStep(desired: Workload, seen: RunningWorkload | undefined, context: RolloutContext): RolloutStep {
  if (context.paused) return { kind: 'leave' };
  const running = seen === undefined || wasRejected(seen) ? undefined : seen;
  const restarts = running === undefined ? [] : restartReasons(running.inputs, desired.inputs, desired.owner);
  const { unproven } = context;
  if (unproven !== undefined) {
    const blocker = { reason: 'KeystoreNotProven', message: unproven.message } as const;
    return { kind: 'wait', blocker, restarts, progressing: unproven.isPending };
  }
  if (running === undefined || restarts.length > 0) {
    const blocker = desired.kubernetes.hibernated
      ? undefined
      : (keyServiceUnavailable(context) ?? changesNotSeparate(desired, running));
    if (blocker !== undefined) return { kind: 'wait', blocker, restarts, progressing: false };
    return running === undefined ? { kind: 'start' } : { kind: 'update', restarts };
  }
  const outdated = outdatedInstances(desired, running).toSorted(brokenFirst);
  const [next] = outdated;
  if (next === undefined || desired.kubernetes.hibernated) return { kind: 'refresh' };
  return nextReplacement(desired, running, context, [next, ...outdated.slice(1)]);
}

/** Decides which of the outdated instances are replaced now. The first one needs it most. */
function nextReplacement(
  desired: Workload,
  running: RunningWorkload,
  context: RolloutContext,
  [next, ...others]: readonly [Instance, ...Instance[]],
): RolloutStep {
  const reasons = restartReasons(next.inputs, desired.inputs, desired.owner);
  const deleted = volumeBeingDeleted(running);
  if (deleted !== undefined) return { kind: 'wait', blocker: deleted, restarts: reasons, progressing: false };
  const alongside = others.filter((instance) => changesShared(desired, instance));
  // A last ready one goes too, although no other is ready: none can join while it runs.
  const keepsOthersOut = running.wanted > 1 && (alongside.length > 0 || next.state.kind === 'ready');
  if (keepsOthersOut && changesShared(desired, next)) {
    const blocker =
      changesNotSeparate(desired, running) ?? keyServiceUnavailable(context) ?? rolloutInProgress(context);
    if (blocker !== undefined) return { kind: 'wait', blocker, restarts: reasons, progressing: false };
    return { kind: 'replace', instance: next, alongside, shared: describeShared(desired, next), restarts: reasons };
  }
  if (next.state.kind !== 'ready') return { kind: 'replace', instance: next, restarts: reasons };
  const returning = returningInstance(next, running);
  if (returning !== undefined) return { kind: 'wait', blocker: returning, restarts: reasons, progressing: true };
  const blocker =
    podNotReady(next, running) ??
    keyServiceUnavailable(context) ??
    rolloutInProgress(context) ??
    storeNotHealthy(context);
  if (blocker !== undefined) return { kind: 'wait', blocker, restarts: reasons, progressing: false };
  return { kind: 'replace', instance: next, restarts: reasons };
}

/** Reports whether an instance runs with another value of what all instances must share. */
function changesShared(desired: Workload, instance: Instance): boolean {
  return sharedChanges(desired, instance).length > 0;
}

function sharedChanges({ sharedInputs = [], inputs }: Workload, instance: Instance): readonly SharedInput[] {
  return sharedInputs.filter((shared) => {
    const before = valueOf(shared, instance.inputs);
    if (before !== undefined) return before !== valueOf(shared, inputs);
    // An earlier operator recorded no value.
    return [shared, ...(shared.source === undefined ? [] : [shared.source])].some(
      (input) => inputIn(instance.inputs, input)?.fingerprint !== inputIn(inputs, input)?.fingerprint,
    );
  });
}

/** `setting SVC_REGION of Tenant demo (us-east-1 to eu-west-1)`. */
function describeShared(desired: Workload, instance: Instance): string {
  return sharedChanges(desired, instance)
    .map((shared) => {
      const before = valueOf(shared, instance.inputs);
      return `${describe(shared)} (${before === undefined ? '' : `${before} `}to ${valueOf(shared, desired.inputs) ?? ''})`;
    })
    .join('; ');
}

/** Returns undefined where the record of the input has no value. */
function valueOf(shared: SharedInput, inputs: readonly RestartInput[]): string | undefined {
  const input = inputIn(inputs, shared);
  return input === undefined ? shared.standard : input.shown;
}

function inputIn(
  inputs: readonly RestartInput[],
  wanted: Pick<RestartInput, 'field' | 'of'>,
): RestartInput | undefined {
  return inputs.find((input) => keyOf(input) === keyOf(wanted));
}

/**
 * No first instance proves what else changes where all are replaced at once: a bad image would end all of them. So while a ready instance
 * has another value of what is shared, nothing else of it may change.
 */
function changesNotSeparate(desired: Workload, running: RunningWorkload | undefined): Blocker | undefined {
  if (running === undefined || running.wanted < 2) return undefined;
  for (const instance of running.instances) {
    if (instance.state.kind !== 'ready' || !changesShared(desired, instance)) continue;
    const others = changesBeside(desired, instance);
    if (others.length === 0) continue;
    const message =
      `${describeShared(desired, instance)} replaces all servers at once, so that none proves what else changes: ` +
      `${others.map(({ field }) => field).join('; ')}. Change one of the two, and the other when that has rolled out`;
    return { reason: 'ChangesNotSeparate', message };
  }
  return undefined;
}

function changesBeside({ sharedInputs = [], inputs, owner }: Workload, instance: Instance): readonly Restart[] {
  const keys = new Set(
    sharedInputs.flatMap((shared) => [shared, ...(shared.source ? [shared.source] : [])]).map(keyOf),
  );
  const beside = (list: readonly RestartInput[]) => list.filter((input) => !keys.has(keyOf(input)));
  return restartReasons(beside(instance.inputs), beside(inputs), owner);
}

/** Reports whether nothing was made of the workload but its refusal. */
export function wasRejected({ rejected, inputs, instances, wanted }: RunningWorkload): boolean {
  return rejected !== undefined && inputs.length === 0 && instances.length === 0 && wanted === 0;
}

/** Instances that run with other inputs than those wanted; one that is stopping is already dealt with. */
function outdatedInstances(desired: Workload, running: RunningWorkload): readonly Instance[] {
  return running.instances.filter(
    ({ inputs, state }) =>
      state.kind !== 'stopping' && restartReasons(inputs, desired.inputs, desired.owner).length > 0,
  );
}

/** Reports whether all instances are ready and up to date, so that dependent workloads may go on. */
export function isSettled(desired: Workload, running: RunningWorkload | undefined): boolean {
  return (
    running !== undefined &&
    restartReasons(running.inputs, desired.inputs, desired.owner).length === 0 &&
    outdatedInstances(desired, running).length === 0 &&
    allReady(running)
  );
}

/** Reports whether a rollout is under way: some instances are replaced and others not, or one starts or stops. */
export function isInMidRollout(running: RunningWorkload, owner: ResourceRef): boolean {
  const outdated = running.instances.filter(({ inputs }) => restartReasons(inputs, running.inputs, owner).length > 0);
  const mixed = outdated.length > 0 && outdated.length < running.instances.length;
  return mixed || running.instances.some(({ state }) => state.kind === 'starting' || state.kind === 'stopping');
}

export function allReady(running: RunningWorkload): boolean {
  return running.instances.length >= running.wanted && running.instances.every(({ state }) => state.kind === 'ready');
}

/** The pod holds the data of a deleted claim: a replacement would remove both. */
function volumeBeingDeleted({ deletedClaims = [] }: RunningWorkload): Blocker | undefined {
  return deletedClaims.length === 0
    ? undefined
    : { reason: 'VolumeBeingDeleted', message: describeDeletedClaims(deletedClaims) };
}

export function describeDeletedClaims(claims: readonly string[]): string {
  return (
    `PersistentVolumeClaim ${claims.join(', ')} was deleted, and goes with its data when its pod ends, which the operator does not restart ` +
    'meanwhile: set persistentVolumeReclaimPolicy of its PersistentVolume to Retain, or copy the data, and then delete the pod'
  );
}

/** Another instance that is neither ready nor starting blocks the next replacement. */
function podNotReady(next: Instance, running: RunningWorkload): Blocker | undefined {
  const other = running.instances.find(({ name, state }) => name !== next.name && state.kind !== 'ready');
  if (other === undefined) return undefined;
  const why = 'message' in other.state && other.state.message !== undefined ? `: ${other.state.message}` : '';
  return { reason: 'PodNotReady', message: `${other.name} is not ready${why}` };
}

/** An instance that is being made, stops or starts will soon be ready or broken. */
function returningInstance(next: Instance, running: RunningWorkload): Blocker | undefined {
  const others = running.instances.filter(({ name }) => name !== next.name);
  if (others.some(({ state }) => state.kind === 'broken' || state.kind === 'not-ready')) return undefined;
  const coming = others.find(({ state }) => state.kind !== 'ready')?.name;
  if (coming !== undefined) return { reason: 'PodNotReady', message: `waits until ${coming} is ready` };
  if (running.instances.length >= running.wanted) return undefined;
  return { reason: 'PodNotReady', message: 'waits until every instance is there' };
}

function keyServiceUnavailable({ unsettled }: RolloutContext): Blocker | undefined {
  return unsettled === undefined ? undefined : { reason: 'KeyServiceUnavailable', message: unsettled };
}

function rolloutInProgress({ mayRoll }: RolloutContext): Blocker | undefined {
  if (mayRoll) return undefined;
  return { reason: 'RolloutInProgress', message: 'waits until fewer others are rolling' };
}

function storeNotHealthy({ store }: RolloutContext): Blocker | undefined {
  if (store === undefined || store.healthy) return undefined;
  return { reason: 'StoreNotHealthy', message: store.message };
}

/** Only the provider itself is blocked: servers keep the version that passed its check, or run without it. */
export function providerInvalid(rejected: { readonly name: string; readonly message: string }): Blocker {
  return { reason: 'ProviderInvalid', message: `IdentityProvider ${rejected.name}: ${rejected.message}` };
}

/** Sorts broken instances first, then others that are not ready, then by name from the last, as a StatefulSet rolls. */
function brokenFirst(a: Instance, b: Instance): number {
  return rank(a) - rank(b) || b.name.localeCompare(a.name, 'en', { numeric: true });
}

function rank({ state }: Instance): number {
  if (state.kind === 'broken') return 0;
  return state.kind === 'ready' ? 2 : 1;
}
