import type { IdentityReader } from '../../identities/identities.ts';
import type { LdapPerson } from './ldap-directory.ts';
import { ldapSubject } from './ldap-subject.ts';

/** Policies attached to somebody's DN or groups; a name may be attached that nobody has defined. */
export type RightsOfPerson = (
  person: LdapPerson,
) => Promise<readonly { readonly name: string; readonly defined: boolean }[]>;

export function rightsOfPerson(identities: Pick<IdentityReader, 'policiesOf' | 'policy'>): RightsOfPerson {
  return async (person) => {
    const names = await identities.policiesOf(ldapSubject(person));
    return Promise.all(names.map(async (name) => ({ name, defined: (await identities.policy(name)) !== undefined })));
  };
}
