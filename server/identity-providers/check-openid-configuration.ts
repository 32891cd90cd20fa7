import { openIdKeys, providerFromKeys } from '../../platform/settings/openid-keys.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { invalid } from './merged-keys.ts';

/** The keys of OpenID providers. */
export const openIdTable = { keys: openIdKeys, whose: 'an OpenID provider' };

/** The provider that these keys make, when it may stand beside the others. Throws `ConfigurationError`. */
export function checkedProvider(
  name: string,
  values: ReadonlyMap<string, string>,
  others: readonly OpenIdProviderSettings[],
): OpenIdProviderSettings {
  checkName(name);
  const { provider, problems } = providerFromKeys(name, values);
  if (problems.length > 0) throw invalid(problems);
  if (provider === undefined) throw invalid(['config_url and client_id are missing: no provider can be used without']);
  const wrong = [...contradictions(provider, values), ...clashes(provider, others)];
  if (wrong.length > 0) throw invalid(wrong);
  return provider;
}

function checkName(name: string): void {
  if (name === '_' || /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) return;
  throw invalid([
    `${JSON.stringify(name.slice(0, 80))} is no name of a configuration: 1 to 64 of A-Z a-z 0-9 _ -, the first a letter or digit`,
  ]);
}

function contradictions(provider: OpenIdProviderSettings, values: ReadonlyMap<string, string>): string[] {
  const found: string[] = [];
  if (provider.rolePolicy.length > 0 && values.has('claim_name') && values.get('claim_name') !== 'policy') {
    found.push('claim_name and role_policy exclude each other: by a role, everyone who logs in has the same policies');
  }
  if (provider.redirectUri !== undefined && !new URL(provider.redirectUri).pathname.endsWith('/oauth_callback')) {
    found.push(`redirect_uri is "${provider.redirectUri}": it must end in /oauth_callback`);
  }
  if (provider.vendor === 'keycloak' && provider.adminUrl === undefined) {
    found.push(
      'vendor keycloak needs keycloak_admin_url, the address of the admin interface, for example https://IDP/admin',
    );
  }
  if (provider.vendor === 'keycloak' && provider.clientSecret === undefined) {
    found.push('vendor keycloak needs client_secret: people are looked up with the service account of the client');
  }
  return found;
}

/** A role is named by its client: two providers of one client would have one name. */
function clashes(provider: OpenIdProviderSettings, others: readonly OpenIdProviderSettings[]): string[] {
  const twin = others.find(({ id, clientId }) => id !== provider.id && clientId === provider.clientId);
  return twin === undefined
    ? []
    : [`client_id is "${provider.clientId}", which the configuration ${twin.id} has already: make a client for each`];
}
