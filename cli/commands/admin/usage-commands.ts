import type { Command } from 'commander';
import { define, type Runner } from '../define.ts';
import type { UsageOptions } from './usage.ts';

export function addUsageCommands(admin: Command, run: Runner): void {
  define<UsageOptions>(admin, run, {
    usage: 'usage <alias>',
    description: 'show how many objects and bytes each bucket holds',
    options: [['--now', 'have the server count now; without it, what it counted last']],
    examples: [
      ['admin usage mine', ''],
      ['admin usage mine --now', ''],
    ],
    doing: 'show the usage of',
    run: async (context, args, options) => (await import('./usage.ts')).showUsage(context, args, options),
  });
}
