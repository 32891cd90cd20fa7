import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import { claimAt } from '../../platform/openid/claim-at.ts';
import type { AttachmentTarget } from '../identities/attachment-target.ts';
import type { IdentityReader } from '../identities/identities.ts';
import { StsError } from './sts-error.ts';

/** More names than this in a claim are a mistake, or an attempt to make every request slow. */
const mostPolicies = 100;

/** Where names and claims lead. */
export type RightsSource = Pick<IdentityReader, 'policy' | 'claimTargets'>;

export interface GrantedRights {
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
