import { isForPrograms, type ProviderMetadata } from '../../../platform/openid/discovery.ts';
import { createKeycloakAdmin } from '../../../platform/openid/keycloak-admin.ts';
import { proveKeys } from '../../../platform/openid/prove-keys.ts';
import { scopesOfSignIn, unlistedScopes } from '../../../platform/openid/sign-in-scopes.ts';
import { recipeOfIssuer } from '../../../protocol/settings/provider-recipes.ts';
import { OpenIdError } from '../../../platform/openid/errors.ts';
import { probeClient, probeRedirect } from '../../../platform/openid/probe.ts';
import { createLimitedFetch, type LimitedFetch } from '../../../platform/http/limited-fetch.ts';
import type { OpenIdProviderSettings } from '../../../platform/settings/server-settings.ts';
import { authorizedFetch, discoverProvider, providerCa } from '../openid-provider.ts';
import type { TestStep } from './provider-configurations.ts';

/**
 * Tests the steps of a sign-in that need no user, and shows the failing one. Never rejects with `OpenIdError`.
 *
 * @param redirectUri the redirect address, if it is known without a browser
 */
export async function testOpenIdProvider(
  provider: OpenIdProviderSettings,
  redirectUri: string | undefined = provider.redirectUri,
): Promise<readonly TestStep[]> {
  const steps: TestStep[] = [];
  const at = async <T>(step: string, work: () => Promise<T>, say: (result: T) => Omit<TestStep, 'step'>) => {
    try {
      const result = await work();
      steps.push({ step, ...say(result) });
      return result;
    } catch (error) {
      if (!(error instanceof OpenIdError)) throw error;
      steps.push({ step, outcome: 'failed', message: error.message });
      return undefined;
    }
  };
  const fetch = await at(
    'Certificates',
    async () => {
      const ca = await providerCa(provider);
      return authorizedFetch(provider, createLimitedFetch(ca === undefined ? {} : { ca }));
    },
    () => ({
      outcome: 'ok',
      message: ownCa(provider) ? 'Its own CA can be read.' : 'Those of the system are trusted.',
    }),
  );
  if (fetch === undefined) return steps;
  const metadata = await at(
    'Discovery',
    () => discoverProvider(provider, fetch),
    ({ issuer, warnings }) => {
      const known = recipeOfIssuer(issuer);
      const advice = known === undefined ? [] : [`It is ${known.title}. ${known.advice}`];
      return {
        outcome: warnings.length > 0 ? 'unclear' : 'ok',
        message: [`The issuer is ${issuer}.`, ...warnings, ...advice].join(' '),
      };
    },
  );
  if (metadata === undefined) return steps;
  await at(
    'Keys',
    () => proveKeys(metadata, provider, fetch),
    () => ({ outcome: 'ok', message: `The keys at ${metadata.jwksUri} can be used.` }),
  );
  const { clientId, clientSecret, clientMethod } = provider;
  if (isForPrograms(metadata) || clientSecret === undefined) {
    const why = isForPrograms(metadata)
      ? 'The issuer gives tokens to programs alone, and has no sign-in.'
      : 'The client has no secret.';
    return [...steps, { step: 'Client', outcome: 'skipped', message: why }];
  }
  await at(
    'Client',
    () => probeClient(metadata, { clientId, clientSecret, clientMethod }, { fetch }),
    (result) =>
      result.kind === 'accepted'
        ? { outcome: 'ok', message: `The provider accepts the client ${clientId} and its secret.` }
        : { outcome: 'unclear', message: result.message },
  );
  const scopes = scopesOfSignIn(provider, metadata.scopesSupported);
  if (redirectUri === undefined) {
    const message =
      'Where browsers come back to depends on the address that they use: set redirect_uri to have it checked.';
    steps.push({ step: 'Redirect', outcome: 'skipped', message });
  } else {
    await at(
      'Redirect',
      () => probeRedirect(metadata, { clientId, redirectUri, scopes }, fetch),
      (result) =>
        result.kind === 'accepted'
          ? {
              outcome: 'ok',
              message: `The provider takes the scopes ${scopes.join(' ')}, and sends browsers back to ${redirectUri}.`,
            }
          : { outcome: 'unclear', message: result.message },
    );
  }
  const unlisted = unlistedScopes(scopes, metadata.scopesSupported);
  if (unlisted.length > 0) {
    await at(
      'Scopes',
      () => Promise.resolve(checkListedScopes(provider, metadata)),
      () => ({ outcome: 'unclear', message: notListed(unlisted, metadata) }),
    );
  }
  if (provider.vendor !== 'keycloak') return steps;
  await at(
    'Administration',
    () => checkAdministration(provider, metadata, fetch),
    () => ({ outcome: 'ok', message: 'Users can be looked up at the admin interface.' }),
  );
  return steps;
}

/**
 * Rejects with `OpenIdError` if the provider cannot be used: it tests discovery, keys, client, redirect address, scopes and admin interface.
 *
 * @param redirectUri the redirect address, if it is known without a browser
 */
export async function proveOpenIdProvider(
  provider: OpenIdProviderSettings,
  redirectUri: string | undefined = provider.redirectUri,
): Promise<void> {
  const ca = await providerCa(provider);
  const fetch = authorizedFetch(provider, createLimitedFetch(ca === undefined ? {} : { ca }));
  const metadata = await discoverProvider(provider, fetch);
  await proveKeys(metadata, provider, fetch);
  const { clientId, clientSecret, clientMethod } = provider;
  if (isForPrograms(metadata)) return;
  if (clientSecret !== undefined) await probeClient(metadata, { clientId, clientSecret, clientMethod }, { fetch });
  const scopes = scopesOfSignIn(provider, metadata.scopesSupported);
  if (redirectUri !== undefined) await probeRedirect(metadata, { clientId, redirectUri, scopes }, fetch);
  checkListedScopes(provider, metadata);
  if (provider.vendor === 'keycloak') await checkAdministration(provider, metadata, fetch);
}

/** Rejects unlisted scopes at Keycloak, which lists all scopes of a realm and refuses others. */
function checkListedScopes(provider: OpenIdProviderSettings, metadata: ProviderMetadata): void {
  const { scopesSupported } = metadata;
  const unlisted = unlistedScopes(scopesOfSignIn(provider, scopesSupported), scopesSupported);
  if (unlisted.length > 0 && provider.vendor === 'keycloak')
    throw new OpenIdError('ScopeRefused', notListed(unlisted, metadata));
}

function notListed(scopes: readonly string[], { issuer, scopesSupported }: ProviderMetadata): string {
  return (
    `the provider ${issuer} does not list ${scopes.join(', ')} among its scopes (${scopesSupported.slice(0, 30).join(' ')}), ` +
    'and may refuse a sign-in: add it there, or take it out of scopes (SCOPES).'
  );
}

async function checkAdministration(
  { adminUrl, realm, clientId, clientSecret }: OpenIdProviderSettings,
  { tokenEndpoint }: ProviderMetadata,
  fetch: LimitedFetch,
): Promise<void> {
  // The settings require both.
  if (adminUrl === undefined || clientSecret === undefined) return;
  await createKeycloakAdmin({ adminUrl, realm, tokenEndpoint, clientId, clientSecret, fetch }).check();
}

function ownCa({ ca, caFile }: OpenIdProviderSettings): boolean {
  return ca !== undefined || caFile !== undefined;
}
