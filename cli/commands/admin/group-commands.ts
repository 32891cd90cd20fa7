import type { CommandGroup } from '../command-group.ts';

export function addGroupCommands(admin: CommandGroup): void {
  const groups = admin.group('group', 'groups of users').from(() => import('./groups.ts'));
  groups.add('add <alias> <group> <members...>', {
    description: 'add users to a group, which is made where there is none',
    examples: ['mine staff ann bob'],
    doing: 'add members to the group',
    run: (code) => code.addToGroup,
  });
  groups.add('remove <alias> <group> [members...]', {
    alias: 'rm',
    description: 'take users out of a group; without members remove the group, which must be empty',
    examples: [
      ['mine staff bob', 'a member'],
      ['mine staff', 'the group'],
    ],
    doing: 'remove from the group',
    run: (code) => code.removeFromGroup,
  });
  groups.add('list <alias>', {
    alias: 'ls',
    description: 'show groups',
    examples: ['mine'],
    doing: 'list the groups of',
    run: (code) => code.listGroups,
  });
  groups.add('info <alias> <group>', {
    description: 'show the members and policies of a group',
    examples: ['mine staff'],
    doing: 'show the group',
    run: (code) => code.showGroup,
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
