import type { LdapSettings } from '../../platform/settings/identity-settings.ts';
import type { LdapPerson } from '../access/ldap/ldap-directory.ts';
import { ldapSubject } from '../access/ldap/ldap-subject.ts';
import type { IdentityReader } from '../identities/identities.ts';
import type { TestStep } from './identity-provider-configurations.ts';

/** What is attached to people of the directory here. */
export type DirectoryRights = Pick<IdentityReader, 'policiesOf' | 'policy'>;

/** Walks the way of a sign-in without a password: connection, lookup account, the person, their groups, and what they may do here. */
export async function testLdapDirectory(
  settings: LdapSettings,
  person: string | undefined,
  rights: DirectoryRights,
): Promise<readonly TestStep[]> {
  // Its library is some MiB, which nobody needs who has no directory.
  const { walkDirectory } = await import('../access/ldap/walk-directory.ts');
  const walk = await walkDirectory(settings, person);
  return walk.person === undefined ? walk.steps : [...walk.steps, await policiesStep(walk.person, rights)];
}

async function policiesStep(person: LdapPerson, rights: DirectoryRights): Promise<TestStep> {
  const step = 'Policies';
  const names = await rights.policiesOf(ldapSubject(person));
  if (names.length === 0) {
    return {
      step,
      outcome: 'failed',
      message:
        'Nothing is attached to the DN or one of the groups, so a sign-in is refused. ' +
        'Attach a policy: coffer idp ldap policy attach ALIAS POLICY --user DN (or --group DN).',
    };
  }
  const defined = await Promise.all(names.map(async (name) => (await rights.policy(name)) !== undefined));
  const missing = names.filter((_name, index) => defined[index] === false);
  if (missing.length === 0) return { step, outcome: 'ok', message: `${names.join(', ')}.` };
  return { step, outcome: 'unclear', message: `${names.join(', ')}; no policy is called ${missing.join(', ')}.` };
}
