import { RequestError } from '../../protocol/request-error.ts';
import { IdentityError } from '../auth/identity-error.ts';
import { namesRoleOf } from '../auth/principal.ts';
import type { ArchivedUser, ArchivedUsers } from '../federation/archived-users.ts';
import type { OpenIdProvider, OpenIdProviders } from '../federation/openid-providers.ts';
import { describeStatus, isForClient, rank } from './choose-provider.ts';
import { openIdSubject, parentOf, type RightsSource } from './granted-rights.ts';

interface ArchivedUsersServices {
  readonly providers: Pick<OpenIdProviders, 'list' | 'started'>;
  readonly identities: RightsSource;
}

/** Gives the users of an archive the rights that a sign-in with the same claims would give them here. */
export function createArchivedUsers({ providers, identities }: ArchivedUsersServices): ArchivedUsers {
  return {
    async subjectOf(user) {
      await providers.started;
      const { sub, iss } = user.claims;
      if (typeof sub !== 'string' || typeof iss !== 'string' || parentOf(sub, iss) !== user.parent) {
        throw new IdentityError(
          'no-such-user',
          `${user.parent} has the form of a user of an OpenID provider, and the archive does not say which (claims sub and iss).`,
        );
      }
      const { settings } = providerOf(providers.list, iss, user.claims);
      try {
        const known = { claims: tokenClaims(user, settings), subject: sub, issuer: iss };
        return (await openIdSubject(known, settings, identities)).subject;
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        throw new IdentityError('no-such-policy', error.message, { cause: error });
      }
    },
  };
}

/** Chooses the provider of the issuer: by the role of the key, then by the client of its token. Another client may give other rights. */
function providerOf(
  list: readonly OpenIdProvider[],
  issuer: string,
  claims: Readonly<Record<string, unknown>>,
): OpenIdProvider {
  const { roleArn } = claims;
  const isForRole = ({ settings }: OpenIdProvider): boolean =>
    typeof roleArn === 'string' && namesRoleOf(roleArn, settings.clientId);
  const fitting = list
    .filter((provider) => isForRole(provider) || isForClient(provider, claims))
    .toSorted((a, b) => Number(isForRole(b)) - Number(isForRole(a)) || rank(a, claims) - rank(b, claims));
  const found = fitting.find(({ status }) => status.kind === 'ready' && status.metadata.issuer === issuer);
  if (found !== undefined) return found;
  const belongs = `The key belongs to a user of the issuer ${issuer}, for the client ${JSON.stringify(claims['azp'] ?? claims['aud'] ?? null)}`;
  const away = fitting.find(({ status }) => status.kind !== 'ready');
  if (away !== undefined) {
    throw new IdentityError(
      'provider-unavailable',
      `${belongs}, and the OpenID provider ${away.id} of that client is ${describeStatus(away.status)}. Import again when it is.`,
    );
  }
  const ready = list.flatMap(({ id, status }) => (status.kind === 'ready' ? `${id} (${status.metadata.issuer})` : []));
  throw new IdentityError(
    'no-such-configuration',
    `${belongs}, and no OpenID provider here has both; ready: ${ready.join(', ') || 'none'}. ` +
      'Configure the provider, and import again.',
  );
}

/** The other server adds claims of its own. The policies of the last sign-in count before those of the key. */
function tokenClaims(
  { claims, policies = [] }: ArchivedUser,
  { claimName, rolePolicy }: OpenIdProvider['settings'],
): Readonly<Record<string, unknown>> {
  const { accessKey: _key, parent: _parent, roleArn: _role, 'sa-policy': _kind, ...own } = claims;
  return policies.length > 0 && rolePolicy.length === 0 ? { ...own, [claimName]: policies } : own;
}
