import type { IdentityProvider } from '../../api/object.ts';
import { tenantsOfProvider } from '../affected-by.ts';
import { providerConditions } from '../workload-conditions.ts';
import { objectKey, type Resources } from '../resources.ts';
import type { SharedState } from '../shared-state.ts';

/** One pass of an IdentityProvider: starts its check where one is due, and tells its tenants of what came out. */
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
  // After what tenants would see differently, not after every check.
  if (shared.providers.isNews(known)) {
    for (const { metadata } of tenantsOfProvider(name, resources)) enqueue({ kind: 'Tenant', name: metadata.name }, 0);
  }
  await shared.status.put(ref, conditions, issuer);
}
