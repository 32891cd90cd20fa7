import type { Command } from 'commander';
import { define, group, type Runner } from '../define.ts';
import { addServiceAccountCommands } from './access-key-commands.ts';

export function addUserCommands(admin: Command, run: Runner): void {
  const user = group(admin, 'user', 'users of this server');
  define(user, run, {
    usage: 'add <alias> [accessKey] [secretKey]',
    description: 'make a user, or give one another secret key; what is left out is asked for',
    examples: [
      ['admin user add mine ann', 'asks for the secret key without echo'],
      ['admin user add mine ann -', 'the same; from a pipe it reads one line'],
    ],
    doing: 'add the user',
    run: async (context, args) => (await import('./users.ts')).addUser(context, args),
  });
  define(user, run, {
    usage: 'list <alias>',
    alias: 'ls',
    description: 'show users, their policies and groups',
    examples: [['admin user list mine', '']],
    doing: 'list the users of',
    run: async (context, args) => (await import('./users.ts')).listUsers(context, args),
  });
  define(user, run, {
    usage: 'info <alias> <user>',
    description: 'show one user',
    examples: [['admin user info mine ann', '']],
    doing: 'show the user',
    run: async (context, args) => (await import('./users.ts')).showUser(context, args),
  });
  define(user, run, {
    usage: 'policy <alias> <user>',
    description: "print the documents of a user's own policies as one",
    examples: [['admin user policy mine ann', '']],
    doing: 'show the policies of',
    run: async (context, args) => (await import('./users.ts')).showUserPolicy(context, args),
  });
  define(user, run, {
    usage: 'disable <alias> <user>',
    description: 'refuse everything that a user owns: access keys and temporary credentials too',
    examples: [['admin user disable mine ann', '']],
    doing: 'disable the user',
    run: async (context, args) => (await import('./users.ts')).setUserStatus(context, args, 'disabled'),
  });
  define(user, run, {
    usage: 'enable <alias> <user>',
    description: 'undo disable',
    examples: [['admin user enable mine ann', '']],
    doing: 'enable the user',
    run: async (context, args) => (await import('./users.ts')).setUserStatus(context, args, 'enabled'),
  });
  define(user, run, {
    usage: 'remove <alias> <user>',
    alias: 'rm',
    description: 'remove a user with the access keys and temporary credentials that it owns',
    examples: [['admin user remove mine ann', '']],
    doing: 'remove the user',
    run: async (context, args) => (await import('./users.ts')).removeUser(context, args),
  });
  addServiceAccountCommands(user, run);
  const sts = group(user, 'sts', 'temporary credentials');
  define<{ policy?: boolean }>(sts, run, {
    usage: 'info <alias> <accessKey>',
    description: 'show temporary credentials without their secrets',
    options: [['--policy', 'the policy alone']],
    examples: [['admin user sts info mine ACCESSKEY', '']],
    doing: 'show the temporary credentials',
    run: async (context, args, options) =>
      (await import('./access-keys.ts')).showAccessKey(context, args, options, 'temporary-account-info'),
  });
}
