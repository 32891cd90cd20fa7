import type { Command } from 'commander';
import { define, group, type Runner } from '../define.ts';
import type { HistoryOptions } from './config.ts';

export function addConfigCommands(admin: Command, run: Runner): void {
  const config = group(admin, 'config', 'settings that the server keeps');
  define(config, run, {
    usage: 'get <alias> [subsystem]',
    description: 'show the settings of a subsystem; without one, which there are',
    examples: [
      ['admin config get mine', 'the subsystems'],
      ['admin config get mine identity_openid:PRIMARY_IAM', ''],
    ],
    doing: 'get the settings of',
    run: async (context, args) => (await import('./config.ts')).getConfig(context, args),
  });
  define<{ env?: boolean }>(config, run, {
    usage: 'set <alias> [subsystem] [settings...]',
    description: 'set key=value; without settings show which there are; the value - is asked for without echo',
    options: [['--env', 'name them as the environment does']],
    examples: [
      ['admin config set mine identity_openid', 'what can be set'],
      ['admin config set mine identity_openid:PRIMARY_IAM display_name="Company sign-in"', ''],
    ],
    doing: 'set the settings of',
    run: async (context, args, options) => (await import('./config.ts')).setConfig(context, args, options),
  });
  define(config, run, {
    usage: 'reset <alias> <subsystem> [keys...]',
    description: 'take a subsystem, or some of its keys, back to what it is without settings',
    examples: [['admin config reset mine identity_openid:PRIMARY_IAM display_name', '']],
    doing: 'reset the settings of',
    run: async (context, args) => (await import('./config.ts')).resetConfig(context, args),
  });
  define<HistoryOptions>(config, run, {
    usage: 'history <alias>',
    description: 'show what was set before',
    options: [
      ['-n, --count <count>', 'so many changes (10)'],
      ['--clear', 'forget them'],
    ],
    examples: [['admin config history mine', '']],
    doing: 'show the history of',
    run: async (context, args, options) => (await import('./config.ts')).configHistory(context, args, options),
  });
  define(config, run, {
    usage: 'restore <alias> <restoreId>',
    description: 'set what was set before, by its id in the history',
    examples: [['admin config restore mine RESTOREID', '']],
    doing: 'restore the settings',
    run: async (context, args) => (await import('./config.ts')).restoreConfig(context, args),
  });
  define<{ output?: string }>(config, run, {
    usage: 'export <alias>',
    description: 'write all settings as lines',
    options: [['-o, --output <file>', 'into a file that only you can read']],
    examples: [['admin config export mine --output settings.txt', '']],
    doing: 'export the settings of',
    run: async (context, args, options) => (await import('./config.ts')).exportConfig(context, args, options),
  });
  define(config, run, {
    usage: 'import <alias> [file]',
    description: 'set what an export says, from a file or standard input',
    examples: [['admin config import mine settings.txt', '']],
    doing: 'import the settings of',
    subject: 0,
    run: async (context, args) => (await import('./config.ts')).importConfig(context, args),
  });
}
