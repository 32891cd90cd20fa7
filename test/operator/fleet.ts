import type { KubernetesDouble } from '../doubles/kubernetes/kubernetes-double.ts';
import { identityProvider, secret, tenant, type Manifest } from './manifests.ts';
import { isCurrent, type Resource } from './read-cluster.ts';

/** Tenants of one namespace that share an identity provider. */
export function fleet(size: number): {
  readonly manifests: readonly Manifest[];
  readonly resources: readonly Resource[];
} {
  const names = Array.from({ length: size }, (_, index) => `tenant-${String(index).padStart(3, '0')}`);
  const spec = { identityProviders: [{ name: 'idp' }] };
  return {
    manifests: [secret('client', { secret: 'x' }), identityProvider('idp'), ...names.map((name) => tenant(name, spec))],
    resources: names.map((name) => ({ kind: 'Tenant', name })),
  };
}

export function allCurrent(double: KubernetesDouble, resources: readonly Resource[]): boolean {
  return resources.every((resource) => isCurrent(double, resource));
}

/** Resolves when the API server was asked for nothing in `milliseconds`. */
export async function quiet(double: KubernetesDouble, milliseconds = 1_500): Promise<void> {
  let asked = -1;
  while (asked !== double.requests.requests) {
    asked = double.requests.requests;
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
  }
}
