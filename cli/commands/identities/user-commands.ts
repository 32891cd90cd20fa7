import type { CommandGroup } from '../command-group.ts';
import { addServiceAccountCommands, policyAlone } from './access-key-commands.ts';

export function addUserCommands(admin: CommandGroup): void {
  const user = admin.group('user', 'users of this server').from(() => import('./users.ts'));
  user.add('add <alias> [accessKey] [secretKey]', {
    description: 'make a user, or give one another secret key; what is left out is asked for',
    examples: [
      ['mine ann', 'asks for the secret key without echo'],
      ['mine ann -', 'the same; from a pipe it reads one line'],
    ],
    doing: 'add the user',
    run: (module) => module.addUser,
  });
  user.add('list <alias>', {
    alias: 'ls',
    description: 'show users, their policies and groups',
    examples: ['mine'],
    doing: 'list the users of',
    run: (module) => module.listUsers,
  });
  user.add('info <alias> <user>', {
    description: 'show one user',
    examples: ['mine ann'],
    doing: 'show the user',
    run: (module) => module.showUser,
  });
  user.add('policy <alias> <user>', {
    description: "print the documents of a user's own policies as one",
    examples: ['mine ann'],
    doing: 'show the policies of',
    run: (module) => module.showUserPolicy,
  });
  user.addSwitch({
    args: '<alias> <user>',
    example: 'mine ann',
    what: 'the user',
    verbs: {
      disable: 'refuse everything that a user owns: access keys and temporary credentials too',
      enable: 'undo disable',
    },
    run:
      ({ setUserStatus }, verb) =>
      (context, args) =>
        setUserStatus(context, args, `${verb}d`),
  });
  user.add('remove <alias> <user>', {
    alias: 'rm',
    description: 'remove a user with the access keys and temporary credentials that it owns',
    examples: ['mine ann'],
    doing: 'remove the user',
    run: (module) => module.removeUser,
  });
  addServiceAccountCommands(user);
  const sts = user.group('sts', 'temporary credentials').from(() => import('./access-keys.ts'));
  sts.add('info <alias> <accessKey>', {
    description: 'show temporary credentials without their secrets',
    options: policyAlone,
    examples: ['mine ACCESSKEY'],
    doing: 'show the temporary credentials',
    run:
      ({ showAccessKey }) =>
      (context, args, options: { policy?: boolean }) =>
        showAccessKey(context, args, options, 'temporary-account-info'),
  });
}

export function addGroupCommands(admin: CommandGroup): void {
  const groups = admin.group('group', 'groups of users').from(() => import('./groups.ts'));
  groups.add('add <alias> <group> <members...>', {
    description: 'add users to a group, which is made where there is none',
    examples: ['mine staff ann bob'],
    doing: 'add members to the group',
    run: (module) => module.addToGroup,
  });
  groups.add('remove <alias> <group> [members...]', {
    alias: 'rm',
    description: 'take users out of a group; without members remove the group, which must be empty',
    examples: [
      ['mine staff bob', 'a member'],
      ['mine staff', 'the group'],
    ],
    doing: 'remove from the group',
    run: (module) => module.removeFromGroup,
  });
  groups.add('list <alias>', {
    alias: 'ls',
    description: 'show groups',
    examples: ['mine'],
    doing: 'list the groups of',
    run: (module) => module.listGroups,
  });
  groups.add('info <alias> <group>', {
    description: 'show the members and policies of a group',
    examples: ['mine staff'],
    doing: 'show the group',
    run: (module) => module.showGroup,
  });
  groups.addSwitch({
    args: '<alias> <group>',
    example: 'mine staff',
    what: 'the group',
    verbs: { enable: 'let the policies of a group count again', disable: 'let the policies of a group count no more' },
    run:
      ({ setGroupStatus }, verb) =>
      (context, args) =>
        setGroupStatus(context, args, `${verb}d`),
  });
}
