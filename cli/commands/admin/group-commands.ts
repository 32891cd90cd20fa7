import type { Command } from 'commander';
import { define, group, type Runner } from '../define.ts';

export function addGroupCommands(admin: Command, run: Runner): void {
  const groups = group(admin, 'group', 'groups of users');
  define(groups, run, {
    usage: 'add <alias> <group> <members...>',
    description: 'add users to a group, which is made where there is none',
    examples: [['admin group add mine staff ann bob', '']],
    doing: 'add members to the group',
    run: async (context, args) => (await import('./groups.ts')).addToGroup(context, args),
  });
  define(groups, run, {
    usage: 'remove <alias> <group> [members...]',
    alias: 'rm',
    description: 'take users out of a group; without members remove the group, which must be empty',
    examples: [
      ['admin group remove mine staff bob', 'a member'],
      ['admin group remove mine staff', 'the group'],
    ],
    doing: 'remove from the group',
    run: async (context, args) => (await import('./groups.ts')).removeFromGroup(context, args),
  });
  define(groups, run, {
    usage: 'list <alias>',
    alias: 'ls',
    description: 'show groups',
    examples: [['admin group list mine', '']],
    doing: 'list the groups of',
    run: async (context, args) => (await import('./groups.ts')).listGroups(context, args),
  });
  define(groups, run, {
    usage: 'info <alias> <group>',
    description: 'show the members and policies of a group',
    examples: [['admin group info mine staff', '']],
    doing: 'show the group',
    run: async (context, args) => (await import('./groups.ts')).showGroup(context, args),
  });
  define(groups, run, {
    usage: 'enable <alias> <group>',
    description: 'let the policies of a group count again',
    examples: [['admin group enable mine staff', '']],
    doing: 'enable the group',
    run: async (context, args) => (await import('./groups.ts')).setGroupStatus(context, args, 'enabled'),
  });
  define(groups, run, {
    usage: 'disable <alias> <group>',
    description: 'let the policies of a group count no more',
    examples: [['admin group disable mine staff', '']],
    doing: 'disable the group',
    run: async (context, args) => (await import('./groups.ts')).setGroupStatus(context, args, 'disabled'),
  });
}
