import { S3Error } from '../../protocol/s3/s3-error.ts';
import { normalizeDn } from '../access/ldap/distinguished-name.ts';
import { ldapSubject } from '../access/ldap/ldap-subject.ts';
import type { NewServiceAccount } from '../identities/identities.ts';
import type { FederatedSubject } from '../identities/subject.ts';
import { isPersonHash } from '../identities/identity-names.ts';
import type { Archive } from './identity-archive.ts';

type AccountEntry = NonNullable<Archive['serviceAccounts']>[string];

/**
 * Whose an access key of an archive is: ours say it, MinIO's name the parent alone. A distinguished name is a person of the directory, with
 * the groups that MinIO found; no user here has one. Any other name is taken for a user, who may be missing.
 */
export function importedSubject(entry: AccountEntry, rootUser: string): NewServiceAccount['subject'] {
  const { parent, groups, claims, cofferSubject } = entry;
  if (cofferSubject !== undefined) return checked(cofferSubject);
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

/** The name of a person of a provider must have the form that this provider gives: any other could be a user's, or call the owner root. */
function checked(subject: NewServiceAccount['subject']): NewServiceAccount['subject'] {
  if (subject.kind !== 'federated' || namesPerson(subject)) return subject;
  const name = JSON.stringify(subject.parent.slice(0, 128));
  throw new S3Error(
    'InvalidArgument',
    `${name} is no name of a person whom a provider of the kind ${subject.source} has.`,
  );
}

function namesPerson({ source, parent }: FederatedSubject): boolean {
  switch (source) {
    case 'openid':
      return isPersonHash(parent);
    case 'ldap':
      return normalizeDn(parent) === parent;
    case 'certificate':
      return parent.startsWith('tls:');
    case 'custom':
      return parent.startsWith('custom:');
    default:
      return source satisfies never;
  }
}
