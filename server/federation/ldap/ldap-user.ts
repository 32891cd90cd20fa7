import type { FederatedSubject } from '../../auth/identities/subject.ts';
import type { IdentityReader } from '../../auth/identities/identities.ts';

/** The subject of a directory user. Policies attached to its DN and groups are read at each request. */
export function ldapSubject({ name, dn, groups }: LdapUser): FederatedSubject {
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

/** Returns the directory user of a subject; undefined for a subject of another source. */
export function ldapUser(subject: FederatedSubject): LdapUser | undefined {
  if (subject.source !== 'ldap') return undefined;
  const groups = subject.targets.flatMap((target) => (target.kind === 'ldap-group' ? [target.name] : []));
  return { name: subject.displayName, dn: subject.parent, groups };
}

/** The policies attached to a user's DN or groups. `defined` is false for a policy that does not exist. */
export type LdapUserPolicies = (
  user: LdapUser,
) => Promise<readonly { readonly name: string; readonly defined: boolean }[]>;

export function ldapUserPolicies(identities: Pick<IdentityReader, 'policiesOf' | 'policy'>): LdapUserPolicies {
  return async (user) => {
    const names = await identities.policiesOf(ldapSubject(user));
    return Promise.all(names.map(async (name) => ({ name, defined: (await identities.policy(name)) !== undefined })));
  };
}

/** A user of the directory. */
export interface LdapUser {
  /** The name that the user signs in with. */
  readonly name: string;
  /** The normalized DN, as policies are attached to it. */
  readonly dn: string;
  /** Normalized DNs. */
  readonly groups: readonly string[];
}

/** Folds a name like directories do, which ignore case, blanks and invisible characters. */
export function foldName(name: string): string {
  return name.normalize('NFKC').toLowerCase().replaceAll(/\p{C}/gu, '').replaceAll(/\s+/g, ' ').trim();
}
