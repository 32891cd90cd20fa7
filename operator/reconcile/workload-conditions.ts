import { isOtherStore, type MissingService } from '../../protocol/waits-for.ts';
import type { RunningWorkload, Instance } from '../contract/runtime.ts';
import {
  notReady,
  ready,
  reconciling,
  rolloutBlocked,
  stalled,
  type ConditionUpdate,
  type Health,
  type ResourceStatus,
  type RolloutStatus,
} from './conditions.ts';
import type { ProviderState } from './identity-provider/provider-checks.ts';
import { describeRestarts, type Restart, allReady, type Blocker, type RolloutStep, restartReasons } from './rollout.ts';
import type { ResourceRef } from '../contract/workload.ts';

/** The reason why a resource cannot be rendered. */
export interface Issue {
  readonly reason: string;
  readonly message: string;
}

/** The state of a workload at the end of a reconcile of its owner. */
export interface Observation {
  readonly running: RunningWorkload | undefined;
  readonly step: RolloutStep | undefined;
  readonly issue: Issue | undefined;
  /** The reason why the current manifest is refused. */
  readonly invalid: string | undefined;
  readonly hibernated: boolean;
}

/** Problems that end without a change of a resource. */
const passing = new Set(['CertificateMissing']);

/** Returns the conditions of a resource with a workload: a KMSConfig, or a Tenant before its own conditions are added. */
export function workloadConditions(seen: Observation): readonly ConditionUpdate[] {
  if (seen.invalid !== undefined) {
    return [notReady('InvalidSpec', seen.invalid), stalled('InvalidSpec', seen.invalid)];
  }
  const issue = seen.issue ?? seen.running?.rejected;
  if (issue !== undefined) {
    const { reason, message } = issue;
    return [notReady(reason, message), passing.has(reason) ? reconciling(reason, message) : stalled(reason, message)];
  }
  const { step, running } = seen;
  const readiness = readinessOf(running, seen.hibernated);
  if (step?.kind === 'wait') return waitConditions(readiness, running, step);
  if (step?.kind === 'update' || step?.kind === 'replace') return rollingConditions(readiness, step.restarts);
  return settledConditions(readiness);
}

/** Returns the blocker that users should see: one that the progress of the rollout does not end. */
export function blockerOf(seen: Observation): Blocker | undefined {
  const { step } = seen;
  return step?.kind === 'wait' && !step.progressing && seen.running !== undefined ? step.blocker : undefined;
}

function settledConditions(readiness: ConditionUpdate): readonly ConditionUpdate[] {
  if (readiness.status === 'True') return [readiness];
  const { reason, message } = readiness;
  return [readiness, broken.has(reason) ? stalled(reason, message) : reconciling(reason, message)];
}

function rollingConditions(readiness: ConditionUpdate, restarts: readonly Restart[]): readonly ConditionUpdate[] {
  if (readiness.status === 'False') return settledConditions(readiness);
  const reason = restarts[0]?.reason ?? 'Rolling';
  const message = `restarts for ${describeRestarts(restarts)}`;
  return [notYet(reason, message), reconciling(reason, message)];
}

function waitConditions(
  readiness: ConditionUpdate,
  running: RunningWorkload | undefined,
  { blocker, restarts, progressing }: Extract<RolloutStep, { kind: 'wait' }>,
): readonly ConditionUpdate[] {
  if (progressing) return rollingConditions(readiness, restarts);
  const what = restarts.length === 0 ? '' : ` (${describeRestarts(restarts)})`;
  const message = `${blocker.message}${what}`;
  if (blocker.reason === 'KeystoreNotProven') return notProvenConditions(readiness, running, message);
  if (running === undefined) return [readiness, reconciling(blocker.reason, message)];
  const blocked = rolloutBlocked(blocker.reason, message);
  if (broken.has(readiness.reason)) return [readiness, stalled(readiness.reason, readiness.message), blocked];
  const first = readiness.status === 'False' ? readiness : notYet(blocker.reason, message);
  return [first, reconciling(blocker.reason, message), blocked];
}

/** Time alone proves nothing: the user has to act. */
function notProvenConditions(
  readiness: ConditionUpdate,
  running: RunningWorkload | undefined,
  message: string,
): readonly ConditionUpdate[] {
  const reason = 'KeystoreNotProven';
  const first = readiness.status === 'False' && running !== undefined ? readiness : notYet(reason, message);
  return [first, stalled(reason, message), ...(running === undefined ? [] : [rolloutBlocked(reason, message)])];
}

/** All instances serve, but not all match the spec: a wait for Ready must go on. */
function notYet(reason: string, message: string): ConditionUpdate {
  return { type: 'Ready', status: 'Unknown', reason, message };
}

/** Reasons that do not pass by themselves. */
const broken = new Set(['CrashLoop', 'CannotStart', 'FailedCreate']);

/** The dependency that a running server waits for; it becomes ready by itself. */
const missing: Readonly<Record<MissingService, Issue>> = {
  database: {
    reason: 'DatabaseUnreachable',
    message: 'waits for its database, which cannot be reached or refuses it: start it, or correct storage.records',
  },
  records: {
    reason: 'RecordsUnreachable',
    message: 'waits for the folder of its records, which cannot be written: see the log of the pod and its volume',
  },
  bodies: {
    reason: 'BodiesUnreachable',
    message:
      'waits for the store of its bodies, which cannot be reached or refuses it: mend it, or correct storage.blobs',
  },
  'key-service': {
    reason: 'KeyServiceUnreachable',
    message: 'waits for its key service, which does not answer or refuses it: see the KMSConfig of kmsConfigRef',
  },
  'default-key': {
    reason: 'DefaultKeyMissing',
    message: 'waits for its default key, which its key service does not have: make the key, or correct kmsConfigRef',
  },
};

/** A Tenant says more: which store it is, and how to accept it. */
const otherStore: Issue = {
  reason: 'StoreReplaced',
  message: 'waits for the store of its deployment, since the one that it has is empty or of another deployment',
};

function readinessOf(running: RunningWorkload | undefined, hibernated: boolean): ConditionUpdate {
  if (running === undefined) return notReady('NotStarted', 'it is not started yet');
  if (hibernated) {
    return running.instances.length === 0
      ? ready('it is hibernated: nothing runs, and its data stay', 'Hibernated')
      : notReady('Hibernating', 'its instances are being stopped');
  }
  const name = (instance: string) => (running.wanted > 1 ? instance : 'it');
  for (const { name: instance, state } of running.instances) {
    if (state.kind !== 'broken') continue;
    if (state.rejected) return notReady('FailedCreate', `${name(instance)} is refused: ${state.message}`);
    return state.restarts > 0
      ? notReady('CrashLoop', `${name(instance)} ends again and again: ${state.message}`)
      : notReady('CannotStart', `${name(instance)} cannot start: ${state.message}`);
  }
  const waiting = waitingCondition(running, name);
  if (waiting !== undefined) return waiting;
  for (const { name: instance, state } of running.instances) {
    if (state.kind === 'not-ready') return notReady('NotReady', `${name(instance)}: ${state.message}`);
  }
  if (allReady(running)) return ready('it runs and answers');
  if (running.instances.length === 0 && running.state.kind === 'stopped') {
    return notReady('NotStarted', 'it is not started yet');
  }
  const coming = running.instances.find(({ state }) => state.kind !== 'ready');
  const why =
    coming?.state.kind === 'starting' && coming.state.message !== undefined ? `: ${coming.state.message}` : '';
  if (running.instances.some(({ state }) => state.kind === 'ready')) {
    return notYet('Starting', `waits until ${coming?.name ?? 'every instance'} is ready${why}`);
  }
  return notReady('Starting', `it was started and is not ready yet${why}`);
}

/** Returns the condition of the first instance that reported its dependency. */
function waitingCondition(
  { instances }: RunningWorkload,
  name: (instance: string) => string,
): ConditionUpdate | undefined {
  for (const { name: instance, state } of instances) {
    if ((state.kind !== 'not-ready' && state.kind !== 'starting') || state.waitsFor === undefined) continue;
    const { reason, message } = isOtherStore(state.waitsFor) ? otherStore : missing[state.waitsFor];
    const serves = state.kind === 'starting' && instances.some((other) => other.state.kind === 'ready');
    return (serves ? notYet : notReady)(reason, `${name(instance)} ${message}; its log has the reason`);
  }
  return undefined;
}

/** Returns what of a workload the cluster has no kinds for; it runs without that. */
export function monitoringConditions(running: RunningWorkload | undefined): readonly ConditionUpdate[] {
  const kinds = running?.absentKinds ?? [];
  if (kinds.length === 0) return [];
  const message =
    `the cluster has no ${kinds.join(', ')}: install the Prometheus operator, or remove spec.monitoring; it runs without ` +
    'being monitored';
  return [{ type: 'MonitoringReady', status: 'False', reason: 'KindUnknown', message }];
}

/** Returns what the cluster changes in the objects of a workload. It runs so, since the operator does not fight the cluster. */
export function clusterRuleConditions(running: RunningWorkload | undefined): readonly ConditionUpdate[] {
  const rules = running?.clusterRules ?? [];
  if (rules.length === 0) return [];
  const parts = rules.map(({ object, managers, paths }) => {
    const by = managers.length === 0 ? 'an admission policy or webhook' : `${managers.join(', ')}, again and again,`;
    const more = paths.length > maxPaths ? ' and others' : '';
    return `${by} changes ${object}: ${paths.slice(0, maxPaths).join(', ')}${more}`;
  });
  const message =
    `${parts.join('; ')}; it stays as the cluster makes it, and no pod is replaced for it. ` +
    'If it is not meant, exclude the object from the rule, or write it into spec';
  return [{ type: 'ChangedByCluster', status: 'True', reason: 'ClusterRule', message: cut(message, maxReason) }];
}

const maxPaths = 5;

export function providerConditions(state: ProviderState, invalid: string | undefined): readonly ConditionUpdate[] {
  if (invalid !== undefined) return [notReady('InvalidSpec', invalid), stalled('InvalidSpec', invalid)];
  switch (state.kind) {
    case 'pending':
      return [
        { type: 'Ready', status: 'Unknown', reason: 'CheckPending', message: 'the provider is being checked' },
        reconciling('CheckPending', 'the provider is being checked'),
      ];
    case 'broken':
      return [notReady(state.reason, state.message), stalled(state.reason, state.message)];
    case 'good':
      return [ready([`issuer ${state.issuer}`, ...state.warnings].join('; '))];
    default:
      return state satisfies never;
  }
}

/** Returns the status fields of a workload's owner, apart from conditions. */
export function workloadStatus(
  running: RunningWorkload | undefined,
  wanted: number,
  step: RolloutStep | undefined,
  owner: ResourceRef,
): Partial<ResourceStatus> {
  const addresses = running?.addresses ?? {};
  const version = versionOf(running);
  const rollout = running === undefined ? undefined : rolloutOf(running, step, owner);
  return {
    servers: `${readyOf(running)}/${running?.wanted ?? wanted}`,
    replicas: running?.instances.filter(isMade).length ?? 0,
    ...(running?.selector === undefined ? {} : { selector: running.selector }),
    health: healthOf(running, wanted),
    ...(version === undefined ? {} : { version }),
    ...(rollout === undefined ? {} : { rollout }),
    ...(Object.keys(addresses).length === 0 ? {} : { addresses }),
  };
}

function healthOf(running: RunningWorkload | undefined, wanted: number): Health {
  if (wanted === 0) return 'Hibernated';
  if (running === undefined) return 'Unknown';
  const ready = readyOf(running);
  if (ready >= running.wanted) return 'Healthy';
  return ready === 0 ? 'Unavailable' : 'Degraded';
}

function readyOf(running: RunningWorkload | undefined): number {
  return running?.instances.filter(({ state }) => state.kind === 'ready').length ?? 0;
}

/** An instance whose pod was refused does not exist. */
function isMade({ state }: Instance): boolean {
  return state.kind !== 'broken' || state.rejected !== true;
}

function versionOf(running: RunningWorkload | undefined): string | undefined {
  const versions = new Set(running?.instances.flatMap(({ version }) => version ?? []));
  return versions.size === 0 ? undefined : cut([...versions].sort().join(', '), maxVersion);
}

/** Instances that run with other inputs than the recorded ones are not replaced yet. */
function rolloutOf(
  running: RunningWorkload,
  step: RolloutStep | undefined,
  owner: ResourceRef,
): RolloutStatus | undefined {
  const outdated = running.instances.filter(({ inputs }) => restartReasons(inputs, running.inputs, owner).length > 0);
  const restarts = step !== undefined && 'restarts' in step ? step.restarts : [];
  if (restarts.length === 0 || running.wanted === 0) return undefined;
  // The update could not be recorded, so no instance restarts for it.
  if (step?.kind === 'update' && running.rejected !== undefined) return undefined;
  // Before the new version is recorded, no instance is updated.
  const updated = step?.kind === 'update' || isUnrecorded(step, outdated.length) ? 0 : running.wanted - outdated.length;
  const reason = cut(describeRestarts(restarts), maxReason);
  return { reason, updated: Math.max(0, updated), total: running.wanted };
}

function isUnrecorded(step: RolloutStep | undefined, outdated: number): boolean {
  return step?.kind === 'wait' && outdated === 0;
}

/** Characters that the schema of the status allows: the API server refuses a longer text. */
const maxReason = 4_096;
const maxVersion = 512;

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
