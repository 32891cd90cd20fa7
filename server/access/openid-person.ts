import { claimAt } from '../../platform/openid/claim-at.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';

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
