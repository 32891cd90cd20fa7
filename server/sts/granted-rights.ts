import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { claimAt } from '../../platform/openid/claims.ts';
import type { AttachmentTarget, FederatedSubject } from '../auth/identities/subject.ts';
import type { IdentityReader } from '../auth/identities/identities.ts';
import { createHash } from 'node:crypto';
import { policyClaims, variableClaims } from '../auth/condition-keys.ts';
import { openIdUser } from '../federation/openid-user.ts';
import type { RecordedBearer } from '../http/contract/request.ts';
import { stsError, isStsError } from './sts-error.ts';
import type { RequestError } from '../../protocol/request-error.ts';

/** Every request evaluates the policies of its credentials: a user with more would slow down each of their requests. */
const maxPolicies = 1000;

/** The names that are looked up. The groups of a user fill the claim, and few of them are policies. */
const maxNames = 10_000;

/** The names that a message lists. */
const maxListed = 20;

/** The source of policies and claim targets. */
export type RightsSource = Pick<IdentityReader, 'policy' | 'claimTargets'>;

interface GrantedRights {
  readonly policies: readonly string[];
  /** Policies attached to these targets at each request count too. */
  readonly targets: readonly AttachmentTarget[];
  /** Names in the role or the claim without a policy. */
  readonly notDefined: readonly string[];
}

/**
 * Returns the rights of a token: the policies of the role; or existing policies that the claim names, and the targets of its claims.
 * Rejects with a `RequestError` that names the expected claim, the present claims, and undefined policies.
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
  const named = namesInClaim(claims, provider);
  // Attachments, e.g. to a service account of Kubernetes, need no claim with policies.
  if (isStsError(named)) {
    if (targets.length > 0) return { policies: [], targets, notDefined: [] };
    throw provider.vendor === 'kubernetes' ? unboundAccount(claims) : named;
  }
  const { policies, notDefined } = await existing(named, source);
  if (policies.length > maxPolicies)
    throw tooMany(provider.claimName, `${policies.length} policies that exist`, maxPolicies);
  if (policies.length > 0 || targets.length > 0) return { policies, targets, notDefined };
  throw noneDefined(named, `They come from the claim "${provider.claimName}", and ${noneAttached}`, pathHint(named));
}

function tooMany(claimName: string, what: string, most: number): RequestError {
  return stsError('InvalidParameterValue', `The claim "${claimName}" names ${what}; at most ${most} are taken.`);
}

/** Keycloak writes groups as paths unless its mapper is told otherwise. */
function pathHint(names: readonly string[]): string {
  return names.some((name) => name.startsWith('/'))
    ? ' A name that begins with "/" is the path of a group: turn "Full group path" off in the mapper of Keycloak.'
    : '';
}

const noneAttached = 'no policy is attached to any claim of the token';

async function existing(names: readonly string[], source: RightsSource) {
  const found = await Promise.all(names.map((name) => source.policy(name)));
  return {
    policies: names.filter((_, at) => found[at] !== undefined),
    notDefined: names.filter((_, at) => found[at] === undefined),
  };
}

function noneDefined(names: readonly string[], origin: string, hint = ''): RequestError {
  return stsError(
    'InvalidParameterValue',
    `None of the given policies (${quoted(names)}) are defined, credentials will not be generated. ` +
      `${origin}; define one of them here, or name one that exists.${hint}`,
  );
}

/** A text with commas or a list of such texts. Keycloak sends either, depending on "multivalued". */
function namesInClaim(
  claims: Readonly<Record<string, unknown>>,
  provider: Pick<OpenIdProviderSettings, 'id' | 'claimName'>,
): string[] | RequestError {
  const { claimName } = provider;
  const value = claimAt(claims, claimName);
  if (value === undefined || value === null) return missing(claims, provider, 'is missing from the token');
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  if (!texts.every((text) => typeof text === 'string')) {
    return missing(claims, provider, 'must be text or a list of texts');
  }
  const names = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
  const unique = [...new Set(names)].filter((name) => name !== '');
  if (unique.length === 0) return missing(claims, provider, 'is empty');
  if (unique.length > maxNames) return tooMany(claimName, `${unique.length} policies`, maxNames);
  return unique;
}

function missing(
  claims: Readonly<Record<string, unknown>>,
  { id, claimName }: Pick<OpenIdProviderSettings, 'id' | 'claimName'>,
  what: string,
): RequestError {
  if (isLeftOut(claims, claimName)) {
    return stsError(
      'InvalidParameterValue',
      `The policy claim "${claimName}" ${what}, since the user has too many (_claim_names; Entra calls it an overage), credentials will not be ` +
        'generated. Let the provider emit only the groups that are assigned to the application, or use its app roles (claim "roles").',
    );
  }
  const came = Object.keys(claims).slice(0, 100).map(shortened).toSorted().join(', ');
  return stsError(
    'InvalidParameterValue',
    `The policy claim "${claimName}" ${what}, credentials will not be generated. The token has these claims: ${came}; ` +
      `${noneAttached}. Map the policies of the user to that claim at the provider, set CLAIM_NAME to the claim that has ` +
      `them, or attach policies to a claim here, for programs to sub ("coffer idp openid policy attach ALIAS POLICY${id === '_' ? '' : ` --provider ${id}`} ` +
      '--claim sub --value VALUE").',
  );
}

/**
 * Reports whether the provider has left out a claim that became too large, and names where to ask for it.
 *
 * @see https://openid.net/specs/openid-connect-core-1_0.html#AggregatedDistributedClaims
 */
function isLeftOut({ _claim_names: names }: Readonly<Record<string, unknown>>, claimName: string): boolean {
  return typeof names === 'object' && names !== null && Object.hasOwn(names, claimName.split('/', 1)[0] ?? claimName);
}

/** Clusters cannot map claims into their tokens. */
function unboundAccount({ sub }: Readonly<Record<string, unknown>>): RequestError {
  return stsError(
    'InvalidParameterValue',
    `No policy is attached to ${typeof sub === 'string' ? shortened(sub) : 'the service account'}, credentials will not be generated. ` +
      'Bind one to the service account by a PolicyBinding, or attach one to the claim sub or kubernetes.io/namespace of this provider.',
  );
}

function quoted(names: readonly string[]): string {
  const listed = names.slice(0, maxListed).map((name) => `\`${shortened(name)}\``);
  const more = names.length - listed.length;
  return `${listed.join(', ')}${more === 0 ? '' : `, and ${more} more`}`;
}

function shortened(text: string): string {
  return text.length > 128 ? `${text.slice(0, 128)}…` : text;
}

interface KnownClaims {
  /** All claims, including those of the userinfo endpoint. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** `sub`. */
  readonly subject: string;
  readonly issuer: string;
}

/**
 * Returns the subject of the claims with its rights; `notDefined` has named policies that do not exist. Rejects like `grantedRights`. It
 * trusts the claims: the caller has verified the token, or asks hypothetically.
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
      ...openIdUser(claims, subject, settings),
      policies: [...policies],
      targets: [...targets],
      ...policyClaims(claims),
    },
    notDefined,
  };
}

/** Returns the same user for the audit log, with the claim that policies come from. */
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
    name: openIdUser(claims, subject, settings).displayName,
    claims: {
      ...variableClaims(claims, { lists: true }),
      ...(isShort(named) ? { [settings.claimName]: named } : {}),
    },
  };
}

/** Characters of JSON. Audit entries stay small. */
function isShort(value: unknown): boolean {
  return value !== undefined && JSON.stringify(value).length <= 4_096;
}

/** Returns MinIO's name of the user. Sessions and access keys are stored under it. */
export function parentOf(subject: string, issuer: string): string {
  return createHash('sha256').update(`openid:${subject}:${issuer}`).digest('base64url');
}
