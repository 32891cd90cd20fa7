import { providerId } from '../api/identity-provider.ts';
import type { Tenant } from '../api/object.ts';
import { variable } from './environment.ts';
import { nothing, type RenderedPart } from './rendered-part.ts';
import { RenderProblem, type RenderContext } from './render-context.ts';
import type { AcceptedProvider } from './render-identity-provider.ts';
import { fieldInput } from './restart-inputs.ts';

/** The provider of the cluster's own service accounts, as the server names it. */
export const clusterProvider = 'KUBERNETES_SERVICE_ACCOUNTS';

/** Pods get credentials by the tokens of their service accounts: the server knows the cluster that it runs in as a provider. Errors with `RenderProblem`. */
export function renderServiceAccounts(
  tenant: Tenant,
  providers: readonly AcceptedProvider[],
  context: Pick<RenderContext, 'fingerprint'>,
): RenderedPart {
  const accepted = tenant.spec.kubernetesServiceAccounts;
  if (accepted === undefined) return nothing;
  const taken = providers.find(({ provider }) => providerId(provider.metadata.name) === clusterProvider);
  if (taken !== undefined) {
    throw new RenderProblem(
      'InvalidSettings',
      `IdentityProvider ${taken.provider.metadata.name} has the name that servers know the cluster's service accounts by ` +
        '(spec.kubernetesServiceAccounts): give it another',
    );
  }
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
