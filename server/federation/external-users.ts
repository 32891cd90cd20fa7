import type { UserState } from '../../platform/openid/keycloak-admin.ts';
import { OpenIdError } from '../../platform/openid/errors.ts';
import type { FederatedSubject, Subject } from '../auth/identities/subject.ts';
import type { LdapDirectory } from './ldap/ldap-directory.ts';
import { ldapUser } from './ldap/ldap-user.ts';
import { isDirectoryError } from '../auth/identity-error.ts';
import type { OpenIdProviders } from './openid-providers.ts';
import { userStatusAt, hasUserStatus } from './openid-user.ts';
import type { Identities } from '../auth/identities/identities.ts';
import type { TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';

/** `left-group`: the user exists but has left a group that the credentials were made for. */
export type UserStatus = UserState | { readonly kind: 'left-group' };

/** An external user whose provider or directory can report the status. */
export interface CheckableUser {
  readonly provider: string;
  readonly subject: FederatedSubject;
  /** Equal for credentials that share one status. */
  readonly key: string;
  /** Asks the provider. Rejects with `OpenIdError` if it cannot answer. */
  readonly ask: () => Promise<UserStatus>;
}

interface UserStatusSources {
  readonly providers: Pick<OpenIdProviders, 'byId'>;
  /** Absent where no directory is configured. */
  readonly directory?: Pick<LdapDirectory, 'stateOf'> | undefined;
}

/** Returns undefined for a subject that is not an external user, or whose provider cannot report a status. */
export function checkableUser(
  { providers, directory }: UserStatusSources,
  subject: Subject,
): CheckableUser | undefined {
  if (subject.kind !== 'federated') return undefined;
  if (subject.source === 'openid') {
    const [provider, { subjectId }] = [providers.byId(subject.provider), subject];
    if (provider === undefined || !hasUserStatus(provider) || subjectId === undefined) return undefined;
    const ask = () => userStatusAt(provider, subjectId);
    return { provider: provider.id, subject, key: statusKeyOf(subject), ask };
  }
  if (subject.source === 'ldap' && directory !== undefined) {
    const ask = () => askDirectory(directory, subject);
    return { provider: subject.provider, subject, key: statusKeyOf(subject), ask };
  }
  return undefined;
}

/** Returns the cache key of a status. Credentials of a directory user contain groups, so their status depends on the groups too. */
export function statusKeyOf(subject: FederatedSubject): string {
  const groups = ldapUser(subject)?.groups ?? [];
  return [subject.parent, ...groups.toSorted()].join('\n');
}

async function askDirectory(directory: Pick<LdapDirectory, 'stateOf'>, subject: FederatedSubject): Promise<UserStatus> {
  const user = ldapUser(subject);
  if (user === undefined) throw new Error(`${subject.parent} is of no directory`);
  try {
    const state = await directory.stateOf(user);
    if (state.kind === 'present') return { kind: 'active' };
    if (state.why === 'left-group') return { kind: 'left-group' };
    return { kind: state.why === 'removed' ? 'gone' : 'disabled' };
  } catch (error) {
    if (isDirectoryError(error)) throw new OpenIdError('Unreachable', error.message, { cause: error });
    throw error;
  }
}

export interface ExternalUser {
  readonly subject: FederatedSubject;
}

interface ExternalUserSources {
  readonly temporary: Pick<TemporaryCredentialsStore, 'owners' | 'ofOwner'>;
  readonly identities: Pick<Identities, 'serviceAccounts'>;
}

/**
 * Lists external users with temporary credentials or an enabled service account, each status key once; with `who`, only those with this
 * name.
 */
export async function* externalUsers(sources: ExternalUserSources, who?: string): AsyncIterable<ExternalUser> {
  // A hash has 43 characters, and DNs of groups come to it: a hundred thousand users take some ten MiB.
  const seen = new Set<string>();
  for await (const subject of subjects(sources)) {
    const key = statusKeyOf(subject);
    if (seen.has(key)) continue;
    seen.add(key);
    if (who === undefined || [subject.parent, subject.subjectId, subject.displayName].includes(who)) yield { subject };
  }
}

async function* subjects({ temporary, identities }: ExternalUserSources): AsyncIterable<FederatedSubject> {
  for await (const owner of temporary.owners()) {
    for await (const { principal } of temporary.ofOwner(owner)) {
      const { subject } = principal;
      if (!isOfProvider(subject)) break;
      yield subject;
      // All credentials of an OpenID user have the same key.
      if (subject.source === 'openid') break;
    }
  }
  for await (const { subject, status } of identities.serviceAccounts()) {
    if (status === 'enabled' && isOfProvider(subject)) yield subject;
  }
}

function isOfProvider(subject: Subject): subject is FederatedSubject {
  return subject.kind === 'federated' && (subject.source === 'openid' || subject.source === 'ldap');
}
