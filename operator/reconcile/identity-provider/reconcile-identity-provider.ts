import type { IdentityProvider } from '../../api/object.ts';
import { tenantsOfProvider } from '../affected-by.ts';
import { providerConditions } from '../workload-conditions.ts';
import { objectKey, type Resources } from '../resources.ts';
import type { SharedState } from '../shared-state.ts';

/** Reconciles an IdentityProvider: starts a check that is due, and enqueues its tenants when the result has changed. */
export async function reconcileIdentityProvider(
  provider: IdentityProvider,
  resources: Resources,
  shared: SharedState,
): Promise<void> {
  const { enqueue } = shared.options;
  const { name } = provider.metadata;
  const ref = { kind: 'IdentityProvider', name } as const;
  const known = await shared.providers.known(provider, resources);
  const issuer = known.state.kind === 'good' ? { issuer: known.state.issuer } : {};
  const conditions = providerConditions(known.state, resources.invalid.get(objectKey(ref)));
  const next = shared.providers.nextCheckInMs(name);
  if (next !== undefined) enqueue(ref, next);
  // Tenants are reconciled after a change that they see, not after every check.
  if (shared.providers.hasChanged(known)) {
    for (const { metadata } of tenantsOfProvider(name, resources)) enqueue({ kind: 'Tenant', name: metadata.name }, 0);
  }
  await shared.status.put(ref, conditions, issuer);
}
