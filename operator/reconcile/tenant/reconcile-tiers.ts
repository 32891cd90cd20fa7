import type { Tenant } from '../../api/object.ts';
import type { AddedTier, ConditionUpdate } from '../conditions.ts';
import { describeFailure, resyncMs } from '../managed/create-controller.ts';
import { tenantAccess } from '../managed/tenant-access.ts';
import type { Resources } from '../resources.ts';
import type { SharedState } from '../shared-state.ts';

/** The fields that a reconcile of tiers adds to the status of a Tenant. */
export interface TierStatus {
  /** Undefined where the resource has no tiers. */
  readonly condition: ConditionUpdate | undefined;
  /** True where the failure may end by itself. */
  readonly passes: boolean;
  readonly added: readonly AddedTier[];
}

/** Returns the tiers as they were, for a Tenant whose server must not be changed. */
export function keptTiers({ metadata }: Tenant, { options }: SharedState): TierStatus {
  const added = options.status.get({ kind: 'Tenant', name: metadata.name })?.tiers ?? [];
  return { condition: undefined, passes: true, added };
}

/** Reconciles the tiers of a Tenant whose server serves. Without tiers, now or before, the server is not asked. */
export async function reconcileTiers(tenant: Tenant, resources: Resources, shared: SharedState): Promise<TierStatus> {
  const { options } = shared;
  const ref = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const added = options.status.get(ref)?.tiers ?? [];
  const wanted = tenant.spec.tiers ?? [];
  const none: TierStatus = { condition: undefined, passes: true, added };
  if (options.tiers === undefined || (wanted.length === 0 && added.length === 0)) return none;
  if (tenant.spec.paused || tenant.spec.hibernated) return none;
  const access = await tenantAccess(tenant, resources, shared);
  if (access === undefined) return { ...none, condition: waiting };
  const { secrets } = resources;
  const onChanged = (differences: readonly string[]) =>
    options.event({ ref, type: 'Normal', reason: 'TiersChanged', message: `set: ${differences.join('; ')}` });
  const { fingerprint } = options;
  const result = await options.tiers(wanted, { access, secrets, fingerprint, added, onChanged });
  if (result.failure === undefined) {
    options.enqueue(ref, Math.round(resyncMs * (1 + options.random() / 5)));
    const names = wanted.map(({ name }) => name).join(', ') || 'none';
    const message = `tiers are as they should be: ${names}`;
    return {
      condition: { type: 'TiersReady', status: 'True', reason: 'Ready', message },
      passes: true,
      added: result.added,
    };
  }
  const { reason, message, passes, afterMs } = describeFailure(result.failure.error, ref.name, result.failure.doing);
  options.enqueue(ref, afterMs);
  return { condition: { type: 'TiersReady', status: 'False', reason, message }, passes, added: result.added };
}

const waiting: ConditionUpdate = {
  type: 'TiersReady',
  status: 'Unknown',
  reason: 'NotStarted',
  message: 'waits for the server',
};
