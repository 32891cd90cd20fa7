import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { claimAt } from '../../platform/openid/claims.ts';
import type { AttachmentTarget, FederatedSubject } from '../auth/identities/subject.ts';
import type { IdentityReader } from '../auth/identities/identities.ts';
import { StsError } from './sts-error.ts';
import { createHash } from 'node:crypto';
import { variableClaims } from '../auth/condition-keys.ts';
import { openIdPerson } from '../federation/openid-user.ts';
import type { RecordedBearer } from '../http/contract/request.ts';

/** More names than this in a claim are a mistake, or an attempt to make every request slow. */
const mostPolicies = 100;

/** Where names and claims lead. */
export type RightsSource = Pick<IdentityReader, 'policy' | 'claimTargets'>;

interface GrantedRights {
  readonly policies: readonly string[];
  /** What is attached to these counts as it is at each request. */
  readonly targets: readonly AttachmentTarget[];
  /** Named by the role or the claim, and nowhere defined. */
  readonly notDefined: readonly string[];
}

/**
 * The rights that a token brings: the policies of the role; or those that its claim names and that exist, with what is attached to its
 * claims here. Rejects with an `StsError` that says which claim was looked for, which claims came (names only), which policies are not
 * defined, and that nothing is attached.
 */
export async function grantedRights(
  claims: Readonly<Record<string, unknown>>,
  provider: Pick<OpenIdProviderSettings, 'id' | 'vendor' | 'claimName' | 'rolePolicy'>,
  source: RightsSource,
): Promise<GrantedRights> {
  if (provider.rolePolicy.length > 0) {
    const { policies, notDefined } = await existing(provider.rolePolicy, source);
    if (policies.length > 0) return { policies, targets: [], notDefined };
    throw noneDefined(provider.rolePolicy, `They come from the role policy of the provider ${provider.id}`);
  }
  const targets = await source.claimTargets(provider.id, claims);
  const named = namesInClaim(claims, provider.claimName);
  // What is attached to a service account of Kubernetes, for one, needs no claim that names policies.
  if (named instanceof StsError) {
    if (targets.length > 0) return { policies: [], targets, notDefined: [] };
    throw provider.vendor === 'kubernetes' ? unboundAccount(claims) : named;
  }
  const { policies, notDefined } = await existing(named, source);
  if (policies.length > 0 || targets.length > 0) return { policies, targets, notDefined };
  throw noneDefined(named, `They come from the claim "${provider.claimName}", and ${noneAttached}`);
}

const noneAttached = 'no policy is attached to any claim of the token';

async function existing(names: readonly string[], source: RightsSource) {
  const found = await Promise.all(names.map((name) => source.policy(name)));
  return {
    policies: names.filter((_, at) => found[at] !== undefined),
    notDefined: names.filter((_, at) => found[at] === undefined),
  };
}

function noneDefined(names: readonly string[], origin: string): StsError {
  return new StsError(
    'InvalidParameterValue',
    `None of the given policies (${quoted(names)}) are defined, credentials will not be generated. ` +
      `${origin}; define one of them here, or name one that exists.`,
  );
}

/** Text with commas, or a list of such texts: Keycloak makes either of a mapper, by its "multivalued". */
function namesInClaim(claims: Readonly<Record<string, unknown>>, claimName: string): string[] | StsError {
  const value = claimAt(claims, claimName);
  if (value === undefined || value === null) return missing(claims, claimName, 'is missing from the token');
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  if (!texts.every((text) => typeof text === 'string')) {
    return missing(claims, claimName, 'must be text or a list of texts');
  }
  const names = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
  const unique = [...new Set(names)].filter((name) => name !== '');
  if (unique.length === 0) return missing(claims, claimName, 'is empty');
  if (unique.length > mostPolicies) {
    return new StsError(
      'InvalidParameterValue',
      `The claim "${claimName}" names ${unique.length} policies; at most ${mostPolicies} are taken.`,
    );
  }
  return unique;
}

function missing(claims: Readonly<Record<string, unknown>>, claimName: string, what: string): StsError {
  const came = Object.keys(claims).slice(0, 100).map(shortened).toSorted().join(', ');
  return new StsError(
    'InvalidParameterValue',
    `The policy claim "${claimName}" ${what}, credentials will not be generated. The token has these claims: ${came}; ` +
      `${noneAttached}. Map the policies of the user to that claim at the provider, set CLAIM_NAME to the claim that has ` +
      'them, or attach policies to a claim here.',
  );
}

/** Nobody can map a claim into the tokens of a cluster. */
function unboundAccount({ sub }: Readonly<Record<string, unknown>>): StsError {
  return new StsError(
    'InvalidParameterValue',
    `No policy is attached to ${typeof sub === 'string' ? shortened(sub) : 'the service account'}, credentials will not be generated. ` +
      'Bind one to the service account by a PolicyBinding, or attach one to the claim sub or kubernetes.io/namespace of this provider.',
  );
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${shortened(name)}\``).join(', ');
}

function shortened(text: string): string {
  return text.length > 128 ? `${text.slice(0, 128)}…` : text;
}

interface KnownClaims {
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
