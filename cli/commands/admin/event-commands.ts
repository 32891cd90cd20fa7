import type { CommandGroup } from '../command-group.ts';

/** Adds the commands for the events that targets of notifications refuse. */
export function addHeldEventCommands(admin: CommandGroup): void {
  const events = admin
    .group('events', 'events that targets of notifications refuse')
    .from(() => import('./held-events.ts'));
  events.add('held <alias> [target]', {
    description:
      'show the events that a target refuses, such as BUILD:webhook, with the first refusal; without a target all',
    examples: ['mine', 'mine BUILD:webhook'],
    doing: 'list the held events of',
    subject: 0,
    run: (module) => module.listHeld,
  });
  events.add('retry <alias> <target> [ids...]', {
    description: 'try held events again at once; they stay held until the target takes them',
    options: [['--all', 'all held events of the target']],
    examples: ['mine BUILD:webhook --all', `mine BUILD:webhook ${'0'.repeat(48)}`],
    doing: 'retry held events of',
    subject: 0,
    run: (module) => module.retryHeld,
  });
  events.add('drop <alias> <target> [ids...]', {
    description: 'drop held events for good; the later events of their objects are sent then',
    options: [
      ['--all', 'all held events of the target; needs --force'],
      ['--force', 'allow --all'],
    ],
    examples: [`mine BUILD:webhook ${'0'.repeat(48)}`, 'mine BUILD:webhook --all --force'],
    doing: 'drop held events of',
    subject: 0,
    run: (module) => module.dropHeld,
  });
}
