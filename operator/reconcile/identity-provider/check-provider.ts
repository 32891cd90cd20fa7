import type { discover } from '../../../platform/openid/discovery.ts';
import { OpenIdError } from '../../../platform/openid/errors.ts';
import type { createKeycloakAdmin } from '../../../platform/openid/keycloak-admin.ts';
import type { probeClient, probeRedirect } from '../../../platform/openid/probe.ts';
import { proveKeys } from '../../../platform/openid/prove-keys.ts';
import { scopesOfSignIn, unlistedScopes } from '../../../platform/openid/sign-in-scopes.ts';
import { createLimitedFetch } from '../../../platform/http/limited-fetch.ts';
import type { IdentityProvider } from '../../api/object.ts';

export type ProviderCheck =
  | { readonly kind: 'good'; readonly issuer: string; readonly warnings: readonly string[] }
  | { readonly kind: 'broken'; readonly reason: string; readonly message: string };

export interface ProviderCheckSteps {
  readonly discover: typeof discover;
  readonly probeClient: typeof probeClient;
  readonly probeRedirect: typeof probeRedirect;
  readonly createKeycloakAdmin: typeof createKeycloakAdmin;
}

/** Milliseconds for each call. The start of a tenant waits for the check. */
const timeoutMs = 5_000;

/**
 * Checks a provider before any server uses it: its discovery document and issuer; its keys; with an invalid code, whether it accepts the
 * client and its secret; whether it takes the scopes and redirects browsers to a fixed address; and whether its admin interface answers.
 */
export async function checkProvider(
  { spec }: IdentityProvider,
  clientSecret: string,
  steps: ProviderCheckSteps,
): Promise<ProviderCheck> {
  const options = { timeoutMs, ca: spec.caBundle };
  try {
    const metadata = await steps.discover(spec.configUrl, options);
    const redirect = spec.redirectUri === undefined ? {} : { redirectUri: spec.redirectUri };
    const probe = await steps.probeClient(
      metadata,
      { clientId: spec.clientId, clientSecret },
      { ...options, ...redirect },
    );
    const unclear = probe.kind === 'unclear' ? [probe.message] : [];
    const fetch = createLimitedFetch(options);
    const { clientId, redirectUri, vendor, adminUrl, realm = 'master' } = spec;
    await proveKeys(metadata, { clientSecret }, fetch);
    const scopes = scopesOfSignIn(
      { ...spec, scopes: spec.scopes ?? [], rolePolicy: spec.rolePolicy ?? [] },
      metadata.scopesSupported,
    );
    if (redirectUri !== undefined) {
      const result = await steps.probeRedirect(metadata, { clientId, redirectUri, scopes }, fetch);
      if (result.kind === 'unclear') unclear.push(result.message);
    }
    const unlisted = unlistedScopes(scopes, metadata.scopesSupported);
    if (unlisted.length > 0) {
      const message = `the provider does not list ${unlisted.join(', ')} among its scopes (${metadata.scopesSupported.slice(0, 30).join(' ')}): add it there, or take it out of spec.scopes`;
      // Keycloak lists all scopes of a realm, and refuses a sign-in with another one.
      if (vendor === 'keycloak') return { kind: 'broken', reason: 'ScopeRefused', message };
      unclear.push(message);
    }
    if (vendor === 'keycloak' && adminUrl !== undefined) {
      const { tokenEndpoint } = metadata;
      await steps.createKeycloakAdmin({ adminUrl, realm, tokenEndpoint, clientId, clientSecret, fetch }).check();
    }
    return { kind: 'good', issuer: metadata.issuer, warnings: [...metadata.warnings, ...unclear] };
  } catch (error) {
    if (error instanceof OpenIdError) return { kind: 'broken', reason: error.code, message: error.message };
    const message = error instanceof Error ? error.message : String(error);
    return { kind: 'broken', reason: 'CheckFailed', message: `the provider could not be checked: ${message}` };
  }
}
