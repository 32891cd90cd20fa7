import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';
import type { PolicySource } from '../access/policy-source.ts';
import { StsError } from './sts-error.ts';

/** More names than this in a claim are a mistake, or an attempt to make every request slow. */
const mostPolicies = 100;

/**
 * The policies that a token brings: those of the role, or those that its claim names and that exist. Rejects with an `StsError`
 * that says which claim was looked for, which claims came (names only) and which policies are not defined.
 */
export async function grantedPolicies(
  claims: Readonly<Record<string, unknown>>,
  provider: Pick<OpenIdProviderSettings, 'id' | 'claimName' | 'rolePolicy'>,
  policies: PolicySource,
): Promise<readonly string[]> {
  const byRole = provider.rolePolicy.length > 0;
  const names = byRole ? provider.rolePolicy : namesInClaim(claims, provider.claimName);
  const exists = await Promise.all(names.map(async (name) => (await policies.get(name)) !== undefined));
  const granted = names.filter((_, at) => exists[at]);
  if (granted.length > 0) return granted;
  const source = byRole ? `the role policy of the provider ${provider.id}` : `the claim "${provider.claimName}"`;
  throw new StsError(
    'InvalidParameterValue',
    `None of the given policies (${quoted(names)}) are defined, credentials will not be generated. ` +
      `They come from ${source}; define one of them here, or name one that exists.`,
  );
}

/** Text with commas, or a list of such texts: Keycloak makes either of a mapper, by its "multivalued". */
function namesInClaim(claims: Readonly<Record<string, unknown>>, claimName: string): string[] {
  const value = claims[claimName];
  if (value === undefined || value === null) throw missing(claims, claimName, 'is missing from the token');
  const texts: unknown[] = Array.isArray(value) ? value : [value];
  if (!texts.every((text) => typeof text === 'string')) {
    throw missing(claims, claimName, 'must be text or a list of texts');
  }
  const names = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
  const unique = [...new Set(names)].filter((name) => name !== '');
  if (unique.length === 0) throw missing(claims, claimName, 'is empty');
  if (unique.length > mostPolicies) {
    throw new StsError(
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
    `The policy claim "${claimName}" ${what}, credentials will not be generated. The token has these claims: ${came}. ` +
      'Map the policies of the user to that claim at the provider, or set CLAIM_NAME to the claim that has them.',
  );
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${shortened(name)}\``).join(', ');
}

function shortened(text: string): string {
  return text.length > 128 ? `${text.slice(0, 128)}…` : text;
}
