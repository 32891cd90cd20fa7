import type { CommandGroup } from '../command-group.ts';
import { addKeyCommands, listOptions, newKeyOptions } from './access-key-commands.ts';
import type { KeyOptions } from './access-keys.ts';
import { addHolderCommands } from './policy-commands.ts';

/** Adds the commands that only LDAP has; users and groups are DNs. */
export function addLdapCommands(ldap: CommandGroup): void {
  addLdapTest(ldap);
  addDirectoryPolicies(ldap);
  addDirectoryKeys(ldap);
}

function addLdapTest(ldap: CommandGroup): void {
  ldap
    .from(() => import('./sign-in-test.ts'))
    .add('test <alias> [user]', {
      description:
        'walk the way of a sign-in at the directory without a password, and say where it breaks: connection, lookup account, ' +
        'user, groups, policies',
      examples: [
        ['mine', 'the steps that need no user'],
        ['mine ann', 'by name, or by DN'],
      ],
      doing: 'test the directory',
      run: (module) => module.testLdap,
    });
}

function addDirectoryPolicies(ldap: CommandGroup): void {
  addHolderCommands(ldap.group('policy', 'policies of users and groups of the directory'), {
    kind: 'ldap',
    who: 'a user or group',
    holders: [
      "mine readwrite --user 'uid=ann,ou=people,dc=example,dc=org'",
      "mine readonly --group 'cn=staff,ou=groups,dc=example,dc=org'",
    ],
    entities: {
      description: 'show who of the directory has which policies; without options all that are attached',
      examples: ['mine'],
    },
  });
}

function addDirectoryKeys(ldap: CommandGroup): void {
  const keys = ldap.group('accesskey', 'access keys of users of the directory');
  keys
    .from(() => import('./access-key-list.ts'))
    .add('list <alias> [users...]', {
      alias: 'ls',
      description: 'show access keys and temporary credentials of users by DN; without any those of all',
      options: listOptions,
      examples: ["mine 'uid=ann,ou=people,dc=example,dc=org'"],
      doing: 'list the access keys of',
      run: (module) => module.listDirectoryKeys,
    });
  keys
    .from(() => import('./access-keys.ts'))
    .add('create <alias> [user]', {
      description: 'make an access key for yourself, or for a user by name or DN',
      options: newKeyOptions,
      examples: ['mine ann --name backup'],
      doing: 'make an access key for',
      run:
        ({ createAccessKey }) =>
        (context, args, options: KeyOptions) =>
          createAccessKey(context, args, options, 'idp/ldap/add-service-account'),
    });
  keys
    .from(() => import('./ldap-login.ts'))
    .add('create-with-login <url>', {
      description: 'make an access key for yourself by name and password of the directory, which are asked for',
      options: newKeyOptions,
      examples: [
        ['https://coffer.example.com', 'needs no alias'],
        ['mine --name laptop', 'the server of an alias'],
      ],
      doing: 'make an access key by a login at',
      run: (module) => module.createKeyWithLogin,
    });
  addKeyCommands(keys, 'ldap');
}
