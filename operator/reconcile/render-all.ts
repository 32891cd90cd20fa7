import type { IdentityProvider, KMSConfig, Tenant } from '../api/object.ts';
import { RenderProblem, workloadName, type RenderContext } from '../render/render-context.ts';
import type { AcceptedProvider } from '../render/render-identity-provider.ts';
import { overlappingTenants, renderKeyService } from '../render/render-key-service.ts';
import { renderTenant } from '../render/render-tenant.ts';
import type { ResourceReference, Workload } from '../workload.ts';
import type { ProviderState } from './provider-checks.ts';
import type { Resources } from './resources.ts';

/** What is known of a provider when a pass renders. */
export interface KnownProvider {
  readonly provider: IdentityProvider;
  readonly state: ProviderState;
  /** Whether the version that servers would run with is the one that is written now. */
  readonly current: boolean;
}

export interface RenderInput {
  readonly resources: Resources;
  readonly providers: ReadonlyMap<string, KnownProvider>;
  readonly accepted: (name: string) => AcceptedProvider | undefined;
  /** Name of the Secret with the root credentials of a tenant. */
  readonly rootSecret: (tenant: string) => string;
  readonly context: RenderContext;
}

export interface Problem {
  readonly reason: string;
  readonly message: string;
}

export interface RenderedAll {
  readonly desired: readonly Workload[];
  /** Workloads that keep running as they are: paused, waiting for a check, or impossible to render. */
  readonly leaveAlone: ReadonlySet<string>;
  readonly problems: ReadonlyMap<string, Problem>;
  /** Tenants that wait for the check of a provider. */
  readonly waiting: ReadonlyMap<string, string>;
}

/** Every workload that should run. A resource that cannot be rendered leaves its workload as it is and gets a problem. */
export function renderAll(input: RenderInput): RenderedAll {
  const desired: Workload[] = [];
  const leaveAlone = new Set<string>();
  const problems = new Map<string, Problem>();
  const waiting = new Map<string, string>();
  const tenants = [...input.resources.tenants.values()];

  const attempt = (owner: ResourceReference, render: () => Workload): void => {
    try {
      desired.push(render());
    } catch (error) {
      if (!(error instanceof RenderProblem)) throw error;
      problems.set(problemKey(owner), { reason: error.reason, message: error.message });
      leaveAlone.add(workloadName(owner));
    }
  };

  for (const kms of input.resources.kmsConfigs.values()) {
    const owner = { kind: 'KMSConfig', name: kms.metadata.name } as const;
    attempt(owner, () => renderKeyService(kms, tenants, input.context));
  }
  for (const tenant of tenants) {
    const owner = { kind: 'Tenant', name: tenant.metadata.name } as const;
    const pending = tenant.spec.paused ? undefined : pendingProvider(tenant, input.providers);
    if (pending !== undefined) waiting.set(owner.name, pending);
    if (tenant.spec.paused || pending !== undefined) leaveAlone.add(workloadName(owner));
    else attempt(owner, () => renderTenant(tenant, tenantParts(tenant, tenants, input), input.context));
  }
  return { desired, leaveAlone, problems, waiting };
}

export function problemKey({ kind, name }: ResourceReference): string {
  return `${kind}/${name}`;
}

/** A tenant waits until all its new providers are checked, so that changes made together are one restart. */
function pendingProvider(tenant: Tenant, providers: ReadonlyMap<string, KnownProvider>): string | undefined {
  return (tenant.spec.identityProviders ?? []).find(({ name }) => {
    const known = providers.get(name);
    return known !== undefined && !known.current && known.state.kind === 'pending';
  })?.name;
}

function tenantParts(tenant: Tenant, tenants: readonly Tenant[], input: RenderInput) {
  const kms = keyServiceOf(tenant, tenants, input.resources.kmsConfigs);
  return {
    providers: (tenant.spec.identityProviders ?? []).flatMap(({ name }) => input.accepted(name) ?? []),
    rootSecret: input.rootSecret(tenant.metadata.name),
    ...(kms === undefined ? {} : { kms }),
  };
}

function keyServiceOf(
  tenant: Tenant,
  tenants: readonly Tenant[],
  kmsConfigs: ReadonlyMap<string, KMSConfig>,
): KMSConfig | undefined {
  const ref = tenant.spec.kmsConfigRef;
  const kms = ref && kmsConfigs.get(ref.name);
  if (kms === undefined) return undefined;
  const users = tenants.filter(({ spec }) => spec.kmsConfigRef?.name === kms.metadata.name);
  const other = overlappingTenants(users).get(tenant.metadata.name);
  if (other !== undefined) {
    throw new RenderProblem(
      'KeyPrefixOverlap',
      `spec.kmsConfigRef.keyPrefix of Tenant ${tenant.metadata.name} overlaps with that of Tenant ${other}: ` +
        'each could use the keys of the other; give them prefixes of which neither begins with the other',
    );
  }
  return kms;
}
