import type { Command } from 'commander';
import { define, type Runner } from '../define.ts';

export function addLdapTest(ldap: Command, run: Runner, path: string): void {
  define(ldap, run, {
    usage: 'test <alias> [person]',
    description:
      'walk the way of a sign-in at the directory without a password, and say where it breaks: connection, lookup account, ' +
      'person, groups, policies',
    examples: [
      [`${path} test mine`, 'as far as it goes without a person'],
      [`${path} test mine ann`, 'by name, or by DN'],
    ],
    doing: 'test the directory',
    run: async (context, args) => (await import('./ldap-test.ts')).testLdap(context, args),
  });
}
