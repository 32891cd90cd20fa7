import { ResourceError } from '../api/resource-error.ts';
import { identityProviderSpec, providerId } from '../api/identity-provider.ts';
import type { IdentityProvider, Tenant } from '../api/object.ts';
import { mounted, text, type EnvironmentVariable, type MountedFile, type RestartInput } from '../contract/workload.ts';
import { secretFileVariable, variable, nothing, type RenderedPart } from './rendered-part.ts';
import { secretValue, type KeyRef, type RenderContext } from './render-context.ts';
import { secretInput, specInputs, fieldInput } from './restart-inputs.ts';

/** The part of a provider in the server of a tenant. */
interface RenderedProvider {
  readonly environment: readonly EnvironmentVariable[];
  readonly files: readonly MountedFile[];
  readonly inputs: readonly RestartInput[];
}

/** A checked provider with its CA certificates in `caBundle`, and the Secret with its client secret at the time of the check. */
export interface AcceptedProvider {
  readonly provider: IdentityProvider;
  /** The operator's own copy: a secret that fails its check must not reach a server that restarts by itself. */
  readonly kept: KeyRef;
}

/** Renders `SVC_IDENTITY_OPENID_*_<ID>` of a provider. Its files go to the mount `mount`. Errors with `ResourceError`. */
export function renderIdentityProvider(
  { provider, kept }: AcceptedProvider,
  mount: string,
  context: Pick<RenderContext, 'secrets' | 'fingerprint'>,
): RenderedProvider {
  const { metadata, spec } = provider;
  const suffix = `_${providerId(metadata.name)}`;
  const secretPath = `${metadata.name}-client-secret`;
  const caPath = `${metadata.name}-ca.crt`;
  const of = { kind: 'IdentityProvider', name: metadata.name } as const;
  const secret = secretValue(context.secrets, kept, `spec.clientSecretRef of IdentityProvider ${of.name}`, 'own');

  const values: readonly (readonly [string, string | undefined])[] = [
    // The default is left out, so that the new field changes nothing for running servers.
    ['ENABLE', spec.enabled ? undefined : 'off'],
    ['CONFIG_URL', spec.configUrl],
    ['CLIENT_ID', spec.clientId],
    ['CLI_CLIENT_ID', spec.cliClientId],
    ['DISPLAY_NAME', spec.displayName],
    ['SCOPES', list(spec.scopes)],
    ['CLAIM_NAME', spec.claimName],
    ['CLAIM_PREFIX', spec.claimPrefix],
    ['CLAIM_USERINFO', onOff(spec.claimUserinfo)],
    ['ROLE_POLICY', list(spec.rolePolicy)],
    ['REDIRECT_URI', spec.redirectUri],
    ['REDIRECT_URI_DYNAMIC', onOff(spec.redirectUriDynamic)],
    ['VENDOR', spec.vendor],
    ['IDP_ADMIN_URL', spec.adminUrl],
    ['IDP_REALM', spec.realm],
    ['COMMENT', spec.comment],
  ];
  const environment = values.flatMap(([part, value]) =>
    value === undefined ? [] : [variable(`SVC_IDENTITY_OPENID_${part}`, value, suffix)],
  );
  environment.push(
    secretFileVariable('SVC_IDENTITY_OPENID_CLIENT_SECRET', text`${mounted(mount, secretPath)}`, suffix),
  );
  const files: MountedFile[] = [
    {
      path: secretPath,
      content: { kind: 'secret', secret: kept.name, key: kept.key },
      reloads: false,
    },
  ];
  if (spec.caBundle !== undefined) {
    environment.push(variable('SVC_IDENTITY_OPENID_CA_FILE', text`${mounted(mount, caPath)}`, suffix));
    files.push({ path: caPath, content: { kind: 'text', text: spec.caBundle }, reloads: false });
  }
  return {
    environment,
    files,
    inputs: [
      ...specInputs(identityProviderSpec, spec, of, () => 'IdentityProviderChanged', context),
      secretInput(spec.clientSecretRef, secret, context),
    ],
  };
}

function list(values: readonly string[] | undefined): string | undefined {
  return values === undefined || values.length === 0 ? undefined : values.join(',');
}

function onOff(value: boolean): string {
  return value ? 'on' : 'off';
}

/** The name of the provider for the cluster's service accounts in the server. */
export const clusterProvider = 'KUBERNETES_SERVICE_ACCOUNTS';

/**
 * Renders the provider by which pods get credentials with the tokens of their service accounts: the cluster that the server runs in. Errors
 * with `ResourceError`.
 */
export function renderServiceAccounts(
  tenant: Tenant,
  providers: readonly AcceptedProvider[],
  context: Pick<RenderContext, 'fingerprint'>,
): RenderedPart {
  const accepted = tenant.spec.kubernetesServiceAccounts;
  if (accepted === undefined) return nothing;
  const taken = providers.find(({ provider }) => providerId(provider.metadata.name) === clusterProvider);
  if (taken !== undefined) {
    throw new ResourceError(
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
