import { claimAt } from '../../platform/openid/claims.ts';
import { printableName } from '../auth/identities/subject.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { createKeycloakAdmin, type KeycloakAdmin, type UserState } from '../../platform/openid/keycloak-admin.ts';
import { OpenIdError } from '../../platform/openid/errors.ts';
import type { OpenIdProvider } from './openid-provider.ts';

/** Returns the display name of the user and the ID for the provider's admin interface. */
export function openIdUser(
  claims: Readonly<Record<string, unknown>>,
  subject: string,
  { userReadableClaim, userIdClaim }: Pick<OpenIdProviderSettings, 'userReadableClaim' | 'userIdClaim'>,
): { readonly displayName: string; readonly subjectId: string } {
  const readable = userReadableClaim === undefined ? ['preferred_username', 'email'] : [userReadableClaim];
  const text = (name: string) => {
    const value = claimAt(claims, name);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const names = [...readable.map(text), subject].map((value) => printableName(value ?? ''));
  return {
    displayName: names.find((value) => value !== '') ?? '',
    subjectId: (userIdClaim === undefined ? undefined : text(userIdClaim)) ?? subject,
  };
}

/** Reports whether the provider has an admin interface that reports the status of users. */
export function hasUserStatus({ settings }: OpenIdProvider): boolean {
  return settings.vendor === 'keycloak' && settings.adminUrl !== undefined && settings.clientSecret !== undefined;
}

const admins = new WeakMap<OpenIdProvider, { readonly endpoint: string; readonly admin: KeycloakAdmin }>();

/** Asks the provider for the status. Rejects with `OpenIdError` if it cannot answer. */
export async function userStatusAt(provider: OpenIdProvider, subjectId: string): Promise<UserState> {
  return adminOf(provider).stateOf(subjectId);
}

/** Caches one client per provider, so that its token serves for many users. */
function adminOf(provider: OpenIdProvider): KeycloakAdmin {
  const { settings, status } = provider;
  const { adminUrl, realm, clientId, clientSecret } = settings;
  if (status.kind !== 'ready') {
    const why = status.issue?.message ?? 'it is still being read';
    throw new OpenIdError('Unreachable', `the provider ${provider.id} is not ready: ${why}`);
  }
  if (adminUrl === undefined || clientSecret === undefined) {
    throw new OpenIdError('AdminRefused', `the provider ${provider.id} has no admin interface: set keycloak_admin_url`);
  }
  const endpoint = status.metadata.tokenEndpoint;
  const known = admins.get(provider);
  if (known?.endpoint === endpoint) return known.admin;
  const { fetch } = provider;
  const admin = createKeycloakAdmin({ adminUrl, realm, tokenEndpoint: endpoint, clientId, clientSecret, fetch });
  admins.set(provider, { endpoint, admin });
  return admin;
}
