import type { LdapSettings } from '../../platform/settings/identity-settings.ts';
import type { LdapPerson } from '../access/ldap/ldap-directory.ts';
import type { RightsOfPerson } from '../access/ldap/rights-of-person.ts';
import type { TestStep } from './identity-provider-configurations.ts';

/** Walks the way of a sign-in without a password: connection, lookup account, the person, their groups, and what they may do here. */
export async function testLdapDirectory(
  settings: LdapSettings,
  person: string | undefined,
  rights: RightsOfPerson,
): Promise<readonly TestStep[]> {
  // Its library is some MiB, which nobody needs who has no directory.
  const { walkDirectory } = await import('../access/ldap/walk-directory.ts');
  const walk = await walkDirectory(settings, person);
  return walk.person === undefined ? walk.steps : [...walk.steps, await policiesStep(walk.person, rights)];
}

async function policiesStep(person: LdapPerson, rights: RightsOfPerson): Promise<TestStep> {
  const step = 'Policies';
  const attached = await rights(person);
  const names = attached.map(({ name }) => name);
  if (names.length === 0) {
    return {
      step,
      outcome: 'failed',
      message:
        'Nothing is attached to the DN or one of the groups, so a sign-in is refused. ' +
        'Attach a policy: coffer idp ldap policy attach ALIAS POLICY --user DN (or --group DN).',
    };
  }
  const missing = attached.filter(({ defined }) => !defined).map(({ name }) => name);
  if (missing.length === 0) return { step, outcome: 'ok', message: `${names.join(', ')}.` };
  return { step, outcome: 'unclear', message: `${names.join(', ')}; no policy is called ${missing.join(', ')}.` };
}
