import type { OpenIdProviderSettings } from './server-settings.ts';

/** The settings of a provider that a message names, by the ends of their names in lower case. */
type Part =
  | 'vendor'
  | 'idp_admin_url'
  | 'idp_realm'
  | 'client_secret'
  | 'jwks_uri'
  | 'token_file'
  | 'claim_name'
  | 'role_policy'
  | 'redirect_uri';

/**
 * Returns what contradicts itself in a provider, and what would have no effect. The environment and the admin API refuse both. `name`
 * returns how the source calls a setting.
 */
export function openIdContradictions(provider: OpenIdProviderSettings, name: (part: Part) => string): string[] {
  const { vendor, redirectUri } = provider;
  const found: string[] = [];
  if (provider.rolePolicy.length > 0 && provider.claimName !== 'policy') {
    found.push(
      `${name('claim_name')} and ${name('role_policy')} exclude each other: by a role, everyone who logs in has the same policies`,
    );
  }
  if (redirectUri !== undefined && !new URL(redirectUri).pathname.endsWith('/oauth_callback')) {
    found.push(`${name('redirect_uri')} is "${redirectUri}": it must end in /oauth_callback`);
  }
  if (vendor === 'keycloak' && provider.adminUrl === undefined) {
    found.push(
      `${name('vendor')} keycloak needs ${name('idp_admin_url')}, the address of the admin interface, for example https://IDP/admin`,
    );
  }
  if (vendor === 'keycloak' && provider.clientSecret === undefined) {
    found.push(
      `${name('vendor')} keycloak needs ${name('client_secret')}: users are looked up with the service account of the client`,
    );
  }
  // Without the vendor no user is looked up, and a disabled user would keep access.
  if (vendor !== 'keycloak') {
    if (provider.adminUrl !== undefined) found.push(withoutVendor('idp_admin_url', 'keycloak'));
    if (provider.realm !== 'master') found.push(withoutVendor('idp_realm', 'keycloak'));
  }
  if (vendor !== 'kubernetes') {
    if (provider.jwksUri !== undefined) found.push(withoutVendor('jwks_uri', 'kubernetes'));
    if (provider.tokenFile !== undefined) found.push(withoutVendor('token_file', 'kubernetes'));
  }
  return found;

  function withoutVendor(part: Part, needed: 'keycloak' | 'kubernetes'): string {
    return `${name(part)} has no effect without ${name('vendor')} ${needed}: set both, or neither`;
  }
}

/** Returns what is wrong if another provider has the same client, whose ID names the role. `name` is what the source calls `client_id`. */
export function clientClash(
  provider: OpenIdProviderSettings,
  others: readonly OpenIdProviderSettings[],
  name: string,
): string | undefined {
  const twin = others.find(({ id, clientId }) => id !== provider.id && clientId === provider.clientId);
  return (
    twin && `${name} is "${provider.clientId}", which the configuration ${twin.id} has already: make a client for each`
  );
}
