import type { FederatedSubject } from '../../auth/identities/subject.ts';
import type { LdapPerson } from './ldap-directory.ts';
import type { IdentityReader } from '../../auth/identities/identities.ts';

/**
 * Why the directory does not let somebody in. `refused`: name or password are wrong, or the account is locked; `ambiguous`: the filter
 * finds several; `unavailable`: it cannot be asked, or does not answer as it must; `not-configured`: there is none.
 */
export type LdapProblemCode = 'refused' | 'ambiguous' | 'unavailable' | 'not-configured';

/** `message` is shown to the person who asked. It names no password, and does not tell a wrong name from a wrong password. */
export class LdapProblem extends Error {
  override readonly name = 'LdapProblem';
  readonly code: LdapProblemCode;
  constructor(code: LdapProblemCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A person of the directory as credentials carry them: policies of DN and groups count as they are at each request. */
export function ldapSubject({ name, dn, groups }: LdapPerson): FederatedSubject {
  return {
    kind: 'federated',
    source: 'ldap',
    provider: 'ldap',
    parent: dn,
    displayName: name,
    subjectId: dn,
    policies: [],
    targets: [
      { kind: 'ldap-user', name: dn },
      ...groups.map((group) => ({ kind: 'ldap-group' as const, name: group })),
    ],
    claims: { user: dn, username: name, groups: [...groups] },
  };
}

/** The person again; undefined for a subject of another source. */
export function ldapPerson(subject: FederatedSubject): LdapPerson | undefined {
  if (subject.source !== 'ldap') return undefined;
  const groups = subject.targets.flatMap((target) => (target.kind === 'ldap-group' ? [target.name] : []));
  return { name: subject.displayName, dn: subject.parent, groups };
}

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
