import { claimAt } from '../../platform/openid/claims.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { createKeycloakAdmin, type KeycloakAdmin, type PersonState } from '../../platform/openid/keycloak-admin.ts';
import { OpenIdProblem } from '../../platform/openid/errors.ts';
import type { OpenIdProvider } from './openid-provider.ts';

/** How people recognise somebody, and by what the provider's admin interface knows them. */
export function openIdPerson(
  claims: Readonly<Record<string, unknown>>,
  subject: string,
  { userReadableClaim, userIdClaim }: Pick<OpenIdProviderSettings, 'userReadableClaim' | 'userIdClaim'>,
): { readonly displayName: string; readonly subjectId: string } {
  const readable = userReadableClaim === undefined ? ['preferred_username', 'email'] : [userReadableClaim];
  const text = (name: string) => {
    const value = claimAt(claims, name);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const displayName = readable.map(text).find((value) => value !== undefined) ?? subject;
  return {
    displayName: displayName.slice(0, 256),
    subjectId: (userIdClaim === undefined ? undefined : text(userIdClaim)) ?? subject,
  };
}

/** Whether a provider can say that somebody is still there. */
export function isChecked({ settings }: OpenIdProvider): boolean {
  return settings.vendor === 'keycloak' && settings.adminUrl !== undefined && settings.clientSecret !== undefined;
}

const admins = new WeakMap<OpenIdProvider, { readonly endpoint: string; readonly admin: KeycloakAdmin }>();

/** Asks the provider now. Rejects with `OpenIdProblem` where it cannot tell. */
export async function askProvider(provider: OpenIdProvider, subjectId: string): Promise<PersonState> {
  return adminOf(provider).stateOf(subjectId);
}

/** One of each provider, so that its token serves for many people. */
function adminOf(provider: OpenIdProvider): KeycloakAdmin {
  const { settings, status } = provider;
  const { adminUrl, realm, clientId, clientSecret } = settings;
  if (status.kind !== 'ready') {
    const why = status.problem?.message ?? 'it is still being read';
    throw new OpenIdProblem('Unreachable', `the provider ${provider.id} is not ready: ${why}`);
  }
  if (adminUrl === undefined || clientSecret === undefined) {
    throw new OpenIdProblem(
      'AdminRefused',
      `the provider ${provider.id} has no admin interface: set keycloak_admin_url`,
    );
  }
  const endpoint = status.metadata.tokenEndpoint;
  const known = admins.get(provider);
  if (known?.endpoint === endpoint) return known.admin;
  const { fetch } = provider;
  const admin = createKeycloakAdmin({ adminUrl, realm, tokenEndpoint: endpoint, clientId, clientSecret, fetch });
  admins.set(provider, { endpoint, admin });
  return admin;
}
