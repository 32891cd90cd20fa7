import type { Tenant } from '../api/object.ts';
import { tenantsOfProvider } from '../reconcile/affected-by.ts';
import type { Resources } from '../reconcile/resources.ts';
import { podOptions } from '../render/kubernetes-options.ts';
import type { PodOptions } from '../workload.ts';

/** How the pod that checks a provider is pulled and placed: as servers of the first tenant by name that uses it and is allowed. */
export function checkPodOptions(
  provider: string,
  resources: Resources,
  isAllowed: (tenant: Tenant) => boolean = () => true,
): PodOptions | undefined {
  const [first] = tenantsOfProvider(provider, resources)
    .filter(isAllowed)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return first && podOptions(first.spec);
}
