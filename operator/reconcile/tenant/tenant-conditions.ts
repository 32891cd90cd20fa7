import type { Tenant } from '../../api/object.ts';
import { notReady, reconciling, rolloutBlocked, stalled, type ConditionUpdate } from '../conditions.ts';
import { blockerOf, workloadConditions, type Observation, type Issue } from '../workload-conditions.ts';
import type { KnownProvider } from '../identity-provider/provider-checks.ts';
import { providerInvalid } from '../rollout.ts';
import type { TierStatus } from './reconcile-tiers.ts';

/** The state of the resources that a Tenant refers to. */
export interface TenantContext {
  readonly providers: ReadonlyMap<string, KnownProvider>;
  /** The reason why the manifest of a provider is refused, by its name. */
  readonly invalidProviders: ReadonlyMap<string, string>;
  /** Reports whether servers have a version of the provider that passed its check. */
  readonly isAccepted: (name: string) => boolean;
  /** The provider whose check the tenant waits for. */
  readonly waitingFor: string | undefined;
  readonly keyService: readonly ConditionUpdate[] | undefined;
  /** The server's message on its keys, where they cannot be used or are not proven. */
  readonly keys?: ConditionUpdate | undefined;
  /** Set where the server has another store than that of the tenant. */
  readonly store?: ConditionUpdate | undefined;
  readonly tls: ConditionUpdate | undefined;
  /** Undefined where tiers are not reconciled. */
  readonly tiers?: Pick<TierStatus, 'condition' | 'passes'>;
}

/** Returns the conditions of a Tenant: those of its server, and those of the resources that it refers to. */
export function tenantConditions(tenant: Tenant, seen: Observation, around: TenantContext): readonly ConditionUpdate[] {
  const [first, ...rest] = workloadConditions(seen);
  if (first === undefined) return [];
  const identity = identityCondition(tenant, around);
  const encryption =
    tenant.spec.kmsConfigRef === undefined ? undefined : (around.keys ?? encryptionCondition(seen, around.keyService));
  const rejected = blockerOf(seen) === undefined ? rejectedProvider(tenant, around) : undefined;
  const extra = [identity, encryption, around.tls, around.tiers?.condition, rejected].filter(
    (condition) => condition !== undefined,
  );
  const problem = [around.store, identity, around.tls].find((condition) => condition?.status === 'False');
  // A server that refuses its store is not ready, and only the user can change that.
  const isRefused = around.store !== undefined && first.status !== 'True';
  if (isRefused) return [around.store, stalled(around.store.reason, around.store.message), ...extra];
  if (first.status === 'True' && problem !== undefined) {
    // The server serves, but not as the spec says. GitOps tools read that from Ready.
    return [notReady(problem.reason, problem.message), stalled(problem.reason, problem.message), ...extra];
  }
  const tiers = first.status === 'True' ? tierConditions(around) : [];
  if (tiers.length > 0) return [...tiers, ...extra];
  if (tenant.spec.paused && first.status === 'True') return [{ ...first, reason: 'Paused' }, ...rest, ...extra];
  if (around.waitingFor === undefined || rest.length > 0) return [first, ...rest, ...extra];
  const message = `waits for the check of IdentityProvider ${around.waitingFor}`;
  const held: ConditionUpdate =
    first.status === 'True' ? { type: 'Ready', status: 'Unknown', reason: 'CheckPending', message } : first;
  return [held, reconciling('CheckPending', message), ...extra];
}

/** Returns what tiers that are not as they should be make of Ready. */
function tierConditions({ tiers }: TenantContext): readonly ConditionUpdate[] {
  if (tiers?.condition?.status !== 'False') return [];
  const { reason, message } = tiers.condition;
  return [notReady(reason, message), tiers.passes ? reconciling(reason, message) : stalled(reason, message)];
}

function identityCondition(tenant: Tenant, around: TenantContext): ConditionUpdate | undefined {
  const names = (tenant.spec.identityProviders ?? []).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const problems = names.flatMap((name) => {
    const issue = providerError(name, around);
    if (issue === undefined) return [];
    return [
      { reason: issue.reason, message: `IdentityProvider ${name}: ${issue.message} (${meanwhile(name, around)})` },
    ];
  });
  const [first] = problems;
  if (first !== undefined) {
    const message = problems.map((issue) => issue.message).join('; ');
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

/** Reports a version of a provider that servers do not get. */
function rejectedProvider(tenant: Tenant, around: TenantContext): ConditionUpdate | undefined {
  for (const { name } of tenant.spec.identityProviders ?? []) {
    const known = around.providers.get(name);
    if (known?.current === true && !around.invalidProviders.has(name)) continue;
    const issue = providerError(name, around);
    if (issue === undefined) continue;
    const { reason, message } = providerInvalid({ name, message: `${issue.message} (${meanwhile(name, around)})` });
    return rolloutBlocked(reason, message);
  }
  return undefined;
}

function meanwhile(name: string, around: TenantContext): string {
  return around.isAccepted(name)
    ? 'the server keeps the version that passed its check before'
    : 'the server runs without it';
}

function providerError(name: string, around: TenantContext): Issue | undefined {
  const invalid = around.invalidProviders.get(name);
  if (invalid !== undefined) return { reason: 'InvalidSpec', message: invalid };
  const known = around.providers.get(name);
  if (known === undefined) return { reason: 'IdentityProviderNotFound', message: 'it does not exist' };
  return known.state.kind === 'broken' ? known.state : undefined;
}

export function encryptionCondition(
  seen: Pick<Observation, 'issue'>,
  keyService: readonly ConditionUpdate[] | undefined,
): ConditionUpdate {
  if (keyService === undefined) {
    const message = seen.issue?.message ?? 'the key service was not looked at yet';
    const status = seen.issue === undefined ? 'Unknown' : 'False';
    return { type: 'KMSReady', status, reason: seen.issue?.reason ?? 'NotObserved', message };
  }
  const state = keyService.find(({ type }) => type === 'Ready');
  return {
    type: 'KMSReady',
    status: state?.status ?? 'Unknown',
    reason: state?.reason ?? 'NotObserved',
    message: `key service: ${state?.message ?? 'not observed yet'}`,
  };
}
