import type { IdentityProvider } from '../../api/object.ts';
import { tenantsOfProvider } from '../affected-by.ts';
import { providerFindings } from '../workload-conditions.ts';
import { objectKey, type Resources } from '../resources.ts';
import type { Passes } from '../context.ts';

/** One pass of an IdentityProvider: starts its check where one is due, and tells its tenants of what came out. */
export async function providerPass(provider: IdentityProvider, resources: Resources, passes: Passes): Promise<void> {
  const { enqueue } = passes.options;
  const { name } = provider.metadata;
  const about = { kind: 'IdentityProvider', name } as const;
  const known = await passes.providers.known(provider, resources);
  const issuer = known.state.kind === 'good' ? { issuer: known.state.issuer } : {};
  const findings = providerFindings(known.state, resources.invalid.get(objectKey(about)));
  const next = passes.providers.nextCheckInMs(name);
  if (next !== undefined) enqueue(about, next);
  // After what tenants would see differently, not after every check.
  if (passes.providers.isNews(known)) {
    for (const { metadata } of tenantsOfProvider(name, resources)) enqueue({ kind: 'Tenant', name: metadata.name }, 0);
  }
  await passes.status.put(about, findings, issuer);
}
