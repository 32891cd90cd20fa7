import { OpenIdProblem } from '../../../platform/openid/openid-problem.ts';
import type { PersonState } from '../../../platform/openid/keycloak-admin.ts';
import type { FederatedSubject } from '../../identities/subject.ts';
import type { LdapDirectory } from './ldap-directory.ts';
import { LdapProblem } from './ldap-problem.ts';
import { ldapPerson } from './ldap-subject.ts';

/**
 * Whether a person of the directory may keep what they have, in the words of the check of people at OpenID providers. Who left a group
 * that their credentials were given for counts as disabled: the rights of the group are in them. Rejects with `OpenIdProblem` Unreachable
 * where the directory cannot tell. Undefined for a subject of another source.
 */
export async function ldapPersonState(
  directory: Pick<LdapDirectory, 'stateOf'>,
  subject: FederatedSubject,
): Promise<PersonState | undefined> {
  const person = ldapPerson(subject);
  if (person === undefined) return undefined;
  try {
    const state = await directory.stateOf(person);
    if (state.kind === 'present') return { kind: 'active' };
    return { kind: state.why === 'removed' ? 'gone' : 'disabled' };
  } catch (error) {
    if (error instanceof LdapProblem) throw new OpenIdProblem('Unreachable', error.message, { cause: error });
    throw error;
  }
}
