import { normalizeDn } from '../access/ldap/distinguished-name.ts';
import { ldapSubject } from '../access/ldap/ldap-subject.ts';
import type { NewServiceAccount } from '../identities/identities.ts';
import type { Archive } from './identity-archive.ts';

type AccountEntry = NonNullable<Archive['serviceAccounts']>[string];

/**
 * Whose an access key of an archive is: ours say it, MinIO's name the parent alone. A distinguished name is a person of the directory, with
 * the groups that MinIO found; no user here has one. Any other name is taken for a user, who may be missing.
 */
export function importedSubject(entry: AccountEntry, rootUser: string): NewServiceAccount['subject'] {
  const { parent, groups, claims, cofferSubject } = entry;
  if (cofferSubject !== undefined) return cofferSubject;
  if (parent === rootUser) return { kind: 'root' };
  const dn = normalizeDn(parent);
  if (dn === undefined) return { kind: 'user', name: parent };
  const name = claims?.['ldapUsername'];
  return ldapSubject({
    name: typeof name === 'string' ? name : parent,
    dn,
    groups: (groups ?? []).map((group) => normalizeDn(group)).filter((group) => group !== undefined),
  });
}
