import type { Tenant } from '../api/object.ts';
import type { RunningWorkload } from '../runtime.ts';
import { notReady, ready, reconciling, stalled, type Finding } from './conditions.ts';
import type { Step } from './plan.ts';
import type { ProviderState } from './provider-checks.ts';
import type { KnownProvider, Problem } from './render-all.ts';
import { describeRestarts } from './restart-reasons.ts';

/** What a pass knows of one workload's owner. */
export interface Observation {
  readonly running: RunningWorkload | undefined;
  readonly step: Step | undefined;
  readonly problem: Problem | undefined;
  /** Why the manifest that is written now is refused. */
  readonly invalid: string | undefined;
}

/** Conditions of what has a workload: a KMSConfig, or a Tenant before its own conditions are added. */
export function workloadFindings(seen: Observation): readonly Finding[] {
  if (seen.invalid !== undefined) {
    return [notReady('InvalidSpec', seen.invalid), stalled('InvalidSpec', seen.invalid)];
  }
  const problem = seen.problem ?? seen.running?.refused;
  if (problem !== undefined) {
    return [notReady(problem.reason, problem.message), stalled(problem.reason, problem.message)];
  }
  const { step, running } = seen;
  if (step?.kind === 'wait') {
    const what = `waits for ${step.for} to be ready`;
    const message = step.restarts.length === 0 ? what : `${what} (${describeRestarts(step.restarts)})`;
    return [readiness(running), reconciling('KeyServiceUnavailable', message)];
  }
  const first = readiness(running);
  if (first.status === 'True') return [first];
  if (running?.state.kind === 'crash-loop') return [first, stalled(first.reason, first.message)];
  return [first, reconciling(first.reason, first.message)];
}

function readiness(running: RunningWorkload | undefined): Finding {
  const state = running?.state ?? { kind: 'stopped' };
  switch (state.kind) {
    case 'ready':
      return ready('it runs and answers');
    case 'starting':
      return notReady('Starting', 'it was started and is not ready yet');
    case 'not-ready':
      return notReady('NotReady', state.message);
    case 'crash-loop':
      return notReady('CrashLoop', `it ended ${state.restarts} times: ${state.message}`);
    case 'stopped':
      return notReady('NotStarted', 'it is not started yet');
    default:
      return state satisfies never;
  }
}

export function providerFindings(state: ProviderState, invalid: string | undefined): readonly Finding[] {
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

export interface TenantSurroundings {
  readonly providers: ReadonlyMap<string, KnownProvider>;
  readonly invalidProviders: ReadonlyMap<string, string>;
  /** Whether servers have a version of the provider that passed its check. */
  readonly isAccepted: (name: string) => boolean;
  readonly waitingFor: string | undefined;
  readonly keyService: readonly Finding[] | undefined;
}

/** The conditions of a Tenant: its server's, and those of what it refers to. */
export function tenantFindings(tenant: Tenant, seen: Observation, around: TenantSurroundings): readonly Finding[] {
  const own = workloadFindings(seen);
  const identity = identityFinding(tenant, around);
  const encryption = tenant.spec.kmsConfigRef === undefined ? undefined : encryptionFinding(seen, around.keyService);
  const extra = [identity, encryption].filter((finding) => finding !== undefined);
  const waiting =
    around.waitingFor === undefined
      ? []
      : [reconciling('CheckPending', `waits for the check of IdentityProvider ${around.waitingFor}`)];
  const [first, ...rest] = own;
  if (first?.status === 'True' && identity?.status === 'False') {
    // The server serves; what is written does not hold, and that is what Ready tells GitOps.
    return [notReady(identity.reason, identity.message), stalled(identity.reason, identity.message), ...extra];
  }
  const paused = tenant.spec.paused && first?.status === 'True' ? [{ ...first, reason: 'Paused' }] : undefined;
  const abnormal = rest.some(({ type }) => type === 'Reconciling') ? rest : [...rest, ...waiting];
  return [...(paused ?? (first === undefined ? [] : [first])), ...abnormal, ...extra];
}

function identityFinding(tenant: Tenant, around: TenantSurroundings): Finding | undefined {
  const names = (tenant.spec.identityProviders ?? []).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const problems = names.flatMap((name) => {
    const problem = providerProblem(name, around);
    if (problem === undefined) return [];
    const meanwhile = around.isAccepted(name)
      ? 'the server keeps the version that passed its check before'
      : 'the server runs without it';
    return [{ reason: problem.reason, message: `IdentityProvider ${name}: ${problem.message} (${meanwhile})` }];
  });
  const [first] = problems;
  if (first !== undefined) {
    const message = problems.map((problem) => problem.message).join('; ');
    return { type: 'IdentityReady', status: 'False', reason: first.reason, message };
  }
  const pending = names.find((name) => around.providers.get(name)?.state.kind === 'pending');
  if (pending !== undefined) {
    return {
      type: 'IdentityReady',
      status: 'Unknown',
      reason: 'CheckPending',
      message: `IdentityProvider ${pending} is being checked`,
    };
  }
  return { type: 'IdentityReady', status: 'True', reason: 'Ready', message: `${names.join(', ')} passed the check` };
}

function providerProblem(name: string, around: TenantSurroundings): Problem | undefined {
  const invalid = around.invalidProviders.get(name);
  if (invalid !== undefined) return { reason: 'InvalidSpec', message: invalid };
  const known = around.providers.get(name);
  if (known === undefined) return { reason: 'IdentityProviderNotFound', message: 'it does not exist' };
  return known.state.kind === 'broken' ? known.state : undefined;
}

function encryptionFinding(seen: Observation, keyService: readonly Finding[] | undefined): Finding {
  if (keyService === undefined) {
    const message = seen.problem?.message ?? 'the KMSConfig does not exist';
    return { type: 'KMSReady', status: 'False', reason: seen.problem?.reason ?? 'KMSConfigNotFound', message };
  }
  const state = keyService.find(({ type }) => type === 'Ready');
  return {
    type: 'KMSReady',
    status: state?.status ?? 'Unknown',
    reason: state?.reason ?? 'Unknown',
    message: `key service: ${state?.message ?? 'not observed yet'}`,
  };
}
