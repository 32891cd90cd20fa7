import type { PersonState } from '../../platform/openid/keycloak-admin.ts';
import { OpenIdProblem } from '../../platform/openid/errors.ts';
import type { FederatedSubject, Subject } from '../auth/identities/subject.ts';
import type { LdapDirectory } from './ldap/ldap-directory.ts';
import { LdapProblem, ldapPerson } from './ldap/ldap-user.ts';
import type { OpenIdProviders } from './openid-providers.ts';
import { askProvider, isChecked } from './openid-user.ts';
import type { Identities } from '../auth/identities/identities.ts';
import type { TemporaryCredentialsStore } from '../auth/temporary-credentials.ts';

/** `left-group`: the person is there, but not in all the groups that these credentials were given for. */
export type CheckedState = PersonState | { readonly kind: 'left-group' };

/** Somebody whose provider can be asked about them. */
export interface CheckablePerson {
  readonly provider: string;
  readonly subject: FederatedSubject;
  /** The same for credentials that share one answer. */
  readonly question: string;
  /** Asks now. Rejects with `OpenIdProblem` where it cannot be told. */
  readonly ask: () => Promise<CheckedState>;
}

interface PersonSources {
  readonly providers: Pick<OpenIdProviders, 'byId'>;
  /** Absent where no directory is configured. */
  readonly directory?: Pick<LdapDirectory, 'stateOf'> | undefined;
}

/** Undefined for who is not from a provider, or from one that cannot be asked about people. */
export function checkablePerson(
  { providers, directory }: PersonSources,
  subject: Subject,
): CheckablePerson | undefined {
  if (subject.kind !== 'federated') return undefined;
  if (subject.source === 'openid') {
    const [provider, { subjectId }] = [providers.byId(subject.provider), subject];
    if (provider === undefined || !isChecked(provider) || subjectId === undefined) return undefined;
    const ask = () => askProvider(provider, subjectId);
    return { provider: provider.id, subject, question: questionOf(subject), ask };
  }
  if (subject.source === 'ldap' && directory !== undefined) {
    const ask = () => askDirectory(directory, subject);
    return { provider: subject.provider, subject, question: questionOf(subject), ask };
  }
  return undefined;
}

/** Rights of a directory's groups are in the credentials: what they may keep depends on the groups they have. */
export function questionOf(subject: FederatedSubject): string {
  const groups = ldapPerson(subject)?.groups ?? [];
  return [subject.parent, ...groups.toSorted()].join('\n');
}

async function askDirectory(
  directory: Pick<LdapDirectory, 'stateOf'>,
  subject: FederatedSubject,
): Promise<CheckedState> {
  const person = ldapPerson(subject);
  if (person === undefined) throw new Error(`${subject.parent} is of no directory`);
  try {
    const state = await directory.stateOf(person);
    if (state.kind === 'present') return { kind: 'active' };
    if (state.why === 'left-group') return { kind: 'left-group' };
    return { kind: state.why === 'removed' ? 'gone' : 'disabled' };
  } catch (error) {
    if (error instanceof LdapProblem) throw new OpenIdProblem('Unreachable', error.message, { cause: error });
    throw error;
  }
}

export interface CheckedPerson {
  readonly subject: FederatedSubject;
}

interface PeopleSources {
  readonly temporary: Pick<TemporaryCredentialsStore, 'owners' | 'ofOwner'>;
  readonly identities: Pick<Identities, 'serviceAccounts'>;
}

/**
 * Everyone of an OpenID provider or a directory who has temporary credentials or an enabled service account, each once for all that share
 * one answer; or those that `who` names.
 */
export async function* checkedPeople(sources: PeopleSources, who?: string): AsyncIterable<CheckedPerson> {
  // Hashes of 43 characters, or DNs with those of groups: a hundred thousand people are some ten MiB.
  const seen = new Set<string>();
  for await (const subject of subjects(sources)) {
    const question = questionOf(subject);
    if (seen.has(question)) continue;
    seen.add(question);
    if (who === undefined || [subject.parent, subject.subjectId, subject.displayName].includes(who)) yield { subject };
  }
}

async function* subjects({ temporary, identities }: PeopleSources): AsyncIterable<FederatedSubject> {
  for await (const owner of temporary.owners()) {
    for await (const { principal } of temporary.ofOwner(owner)) {
      const { subject } = principal;
      if (!isOfProvider(subject)) break;
      yield subject;
      // Those of one person of an OpenID provider are alike.
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
