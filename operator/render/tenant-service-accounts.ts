import type { Tenant } from '../api/object.ts';
import { variable } from './environment.ts';
import { nothing, type RenderedPart } from './rendered-part.ts';
import type { RenderContext } from './render-context.ts';
import { fieldInput } from './restart-inputs.ts';

/** The provider of the cluster's own service accounts, as the server names it. An IdentityProvider of that name is refused. */
export const clusterProvider = 'KUBERNETES_SERVICE_ACCOUNTS';

/** Pods get credentials by the tokens of their service accounts: the server knows the cluster that it runs in as a provider. */
export function renderServiceAccounts(tenant: Tenant, context: Pick<RenderContext, 'fingerprint'>): RenderedPart {
  const accepted = tenant.spec.kubernetesServiceAccounts;
  if (accepted === undefined) return nothing;
  const of = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const suffix = `_${clusterProvider}`;
  return {
    environment: [
      variable('SVC_IDENTITY_OPENID_VENDOR', 'kubernetes', suffix),
      variable('SVC_IDENTITY_OPENID_CLIENT_ID', accepted.audience, suffix),
    ],
    files: [],
    inputs: [fieldInput('TenantChanged', 'spec.kubernetesServiceAccounts', of, accepted, context)],
  };
}
