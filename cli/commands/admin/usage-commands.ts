import type { CommandGroup } from '../command-group.ts';

export function addUsageCommands(admin: CommandGroup): void {
  admin
    .from(() => import('./usage.ts'))
    .add('usage <alias>', {
      description: 'show how many objects and bytes each bucket holds',
      options: [['--now', 'have the server count now; without it, what it counted last']],
      examples: ['mine', 'mine --now'],
      doing: 'show the usage of',
      run: (code) => code.showUsage,
    });
}
