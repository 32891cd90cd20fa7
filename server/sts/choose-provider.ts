import { decodeJwt, type JWTPayload } from 'jose';
import type { OpenIdProvider, OpenIdProviders, ProviderStatus } from '../federation/openid-providers.ts';
import { namesRoleOf } from '../auth/principal.ts';
import { stsError } from './sts-error.ts';

interface ProviderChoice {
  readonly token: string;
  readonly roleArn?: string;
  readonly providerId?: string;
}

/**
 * Chooses the provider that verifies a token: the named one, the one of the role, or the one of the issuer. The choice trusts nothing: the
 * provider's checks follow.
 */
export function chooseProvider(
  providers: Pick<OpenIdProviders, 'list' | 'byId'>,
  request: ProviderChoice,
): OpenIdProvider {
  if (request.providerId !== undefined) {
    const named = providers.byId(request.providerId);
    if (named !== undefined) return named;
    throw stsError('InvalidParameterValue', `There is no OpenID provider ${request.providerId}.`);
  }
  if (providers.list.length === 0) {
    throw stsError(
      'InvalidParameterValue',
      'No OpenID provider is configured, so that no token can be checked; set SVC_IDENTITY_OPENID_CONFIG_URL.',
    );
  }
  const { roleArn } = request;
  if (roleArn !== undefined) {
    const byRole = providers.list.find((p) => p.roleArn !== undefined && namesRoleOf(roleArn, p.settings.clientId));
    if (byRole !== undefined) return byRole;
  }
  // An unknown ARN is not an error: AWS SDKs must send one, and providers by claims have none.
  return byIssuer(providers, claimsOf(request.token));
}

function byIssuer({ list }: Pick<OpenIdProviders, 'list'>, claims: JWTPayload): OpenIdProvider {
  const { iss } = claims;
  const issued = list.filter((p) => p.status.kind === 'ready' && p.status.metadata.issuer === iss);
  const [first] = issued.toSorted((a, b) => rank(a, claims) - rank(b, claims));
  if (first !== undefined) return first;
  const only = list.length === 1 ? list[0] : undefined;
  // The checks of a single provider give the best error.
  if (only !== undefined && only.status.kind === 'ready') return only;
  const known = list.map((p) => `${p.id}: ${describeStatus(p.status)}`).join('; ');
  throw stsError(
    list.every((p) => p.status.kind === 'unavailable') ? 'IDPCommunicationError' : 'InvalidIdentityToken',
    `No OpenID provider that is ready issues tokens as ${JSON.stringify(iss ?? null)} (iss). Configured: ${known}.`,
  );
}

type Ranked = Pick<OpenIdProvider, 'settings' | 'roleArn'>;

/** Ranks configurations of one issuer: a client that the token names first, and claims before roles. */
export function rank(provider: Ranked, claims: Readonly<Record<string, unknown>>): number {
  return (isForClient(provider, claims) ? 0 : 2) + (provider.roleArn === undefined ? 0 : 1);
}

/** Reports whether the claims are of a token for a client of the provider. */
export function isForClient({ settings }: Ranked, claims: Readonly<Record<string, unknown>>): boolean {
  const { clientId, cliClientId } = settings;
  const named: readonly unknown[] = [claims['azp'] ?? [], claims['aud'] ?? []].flat();
  return named.includes(clientId) || (cliClientId !== undefined && named.includes(cliClientId));
}

export function describeStatus(status: ProviderStatus): string {
  if (status.kind === 'ready') return `issuer "${status.metadata.issuer}"`;
  return `not reachable yet (${status.issue?.code ?? 'starting'})`;
}

function claimsOf(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    throw stsError(
      'InvalidIdentityToken',
      'WebIdentityToken is not a JWT (three parts separated by dots); send the access token or ID token of the provider.',
    );
  }
}
