import { decodeJwt, type JWTPayload } from 'jose';
import type { OpenIdProvider, OpenIdProviders, ProviderStatus } from '../federation/openid-providers.ts';
import { namesRoleOf } from '../auth/principal.ts';
import { StsError } from './sts-error.ts';

interface ProviderChoice {
  readonly token: string;
  readonly roleArn?: string;
  readonly providerId?: string;
}

/**
 * The provider that a token is to be checked with: the one that is named, the one whose role is asked for, or the one that says
 * it issued the token. Nothing is believed by this choice: the token must still pass the provider's own checks.
 */
export function chooseProvider(
  providers: Pick<OpenIdProviders, 'list' | 'byId'>,
  request: ProviderChoice,
): OpenIdProvider {
  if (request.providerId !== undefined) {
    const named = providers.byId(request.providerId);
    if (named !== undefined) return named;
    throw new StsError('InvalidParameterValue', `There is no OpenID provider ${request.providerId}.`);
  }
  if (providers.list.length === 0) {
    throw new StsError(
      'InvalidParameterValue',
      'No OpenID provider is configured, so that no token can be checked; set SVC_IDENTITY_OPENID_CONFIG_URL.',
    );
  }
  const { roleArn } = request;
  if (roleArn !== undefined) {
    const byRole = providers.list.find((p) => p.roleArn !== undefined && namesRoleOf(roleArn, p.settings.clientId));
    if (byRole !== undefined) return byRole;
  }
  // An unknown ARN is no mistake: AWS SDKs cannot leave it out, and a provider by claims has none.
  return byIssuer(providers, claimsOf(request.token));
}

function byIssuer({ list }: Pick<OpenIdProviders, 'list'>, claims: JWTPayload): OpenIdProvider {
  const { iss } = claims;
  const issued = list.filter((p) => p.status.kind === 'ready' && p.status.metadata.issuer === iss);
  const [first] = issued.toSorted((a, b) => rank(a, claims) - rank(b, claims));
  if (first !== undefined) return first;
  const only = list.length === 1 ? list[0] : undefined;
  // With a single provider its own check says best what is wrong.
  if (only !== undefined && only.status.kind === 'ready') return only;
  const known = list.map((p) => `${p.id}: ${describe(p.status)}`).join('; ');
  throw new StsError(
    list.every((p) => p.status.kind === 'unavailable') ? 'IDPCommunicationError' : 'InvalidIdentityToken',
    `No OpenID provider that is ready issues tokens as ${JSON.stringify(iss ?? null)} (iss). Configured: ${known}.`,
  );
}

/** Among configurations of one issuer: the one whose client the token names, and those by claims before those by role. */
function rank(provider: OpenIdProvider, claims: JWTPayload): number {
  const { clientId } = provider.settings;
  const meant = claims['azp'] === clientId || [claims.aud ?? []].flat().includes(clientId);
  return (meant ? 0 : 2) + (provider.roleArn === undefined ? 0 : 1);
}

function describe(status: ProviderStatus): string {
  if (status.kind === 'ready') return `issuer "${status.metadata.issuer}"`;
  return `not reachable yet (${status.problem?.code ?? 'starting'})`;
}

function claimsOf(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    throw new StsError(
      'InvalidIdentityToken',
      'WebIdentityToken is not a JWT (three parts separated by dots); send the access token or ID token of the provider.',
    );
  }
}
