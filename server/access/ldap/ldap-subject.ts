import type { FederatedSubject } from '../../identities/subject.ts';
import type { LdapPerson } from './ldap-directory.ts';

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
