import { createHash } from 'node:crypto';
import { claimAt } from '../../platform/openid/claim-at.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { variableClaims } from '../access/claim-variables.ts';
import { openIdPerson } from '../access/openid-person.ts';
import type { RecordedBearer } from '../access/request-events.ts';
import type { FederatedSubject } from '../identities/subject.ts';
import { grantedRights, type RightsSource } from './granted-policies.ts';

export interface KnownClaims {
  /** All of them, those of the userinfo endpoint too. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** `sub`. */
  readonly subject: string;
  readonly issuer: string;
}

/**
 * The person whom claims are about, with the rights that they bring here; `notDefined`: policies that were named and do not exist.
 * Rejects as `grantedRights`. The claims are believed: who calls has verified the token, or asks what would be.
 */
export async function openIdSubject(
  { claims, subject, issuer }: KnownClaims,
  settings: OpenIdProviderSettings,
  source: RightsSource,
): Promise<{ readonly subject: FederatedSubject; readonly notDefined: readonly string[] }> {
  const { policies, targets, notDefined } = await grantedRights(claims, settings, source);
  return {
    subject: {
      kind: 'federated',
      source: 'openid',
      provider: settings.id,
      parent: parentOf(subject, issuer),
      ...openIdPerson(claims, subject, settings),
      policies: [...policies],
      targets: [...targets],
      claims: variableClaims(claims, { lists: true }),
    },
    notDefined,
  };
}

/** The same person as the audit log has them: the claim that policies come from is there too, when it names none that exist. */
export function openIdBearer(
  { claims, subject, issuer }: KnownClaims,
  settings: Pick<OpenIdProviderSettings, 'id' | 'claimName' | 'rolePolicy' | 'userReadableClaim' | 'userIdClaim'>,
): RecordedBearer {
  const named = settings.rolePolicy.length > 0 ? undefined : claimAt(claims, settings.claimName);
  return {
    source: 'openid',
    provider: settings.id,
    issuer,
    subject,
    name: openIdPerson(claims, subject, settings).displayName,
    claims: {
      ...variableClaims(claims, { lists: true }),
      ...(isShort(named) ? { [settings.claimName]: named } : {}),
    },
  };
}

/** Longer ones are a mistake, and entries stay small. Characters of JSON. */
function isShort(value: unknown): boolean {
  return value !== undefined && JSON.stringify(value).length <= 4_096;
}

/** The person behind the credentials, as MinIO names them: sessions, and later access keys, are found by it. */
function parentOf(subject: string, issuer: string): string {
  return createHash('sha256').update(`openid:${subject}:${issuer}`).digest('base64url');
}
