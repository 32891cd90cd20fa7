import type { CommandGroup } from '../command-group.ts';

export function addConfigCommands(admin: CommandGroup): void {
  const config = admin.group('config', 'settings that the server keeps').from(() => import('./config.ts'));
  config.add('get <alias> [subsystem]', {
    description: 'show the settings of a subsystem; without one, which there are',
    examples: [['mine', 'the subsystems'], 'mine identity_openid:PRIMARY_IAM'],
    doing: 'get the settings of',
    run: (module) => module.getConfig,
  });
  config.add('set <alias> [subsystem] [settings...]', {
    description: 'set key=value; without settings show which there are; the value - is asked for without echo',
    options: [['--env', 'name them as the environment does']],
    examples: [
      ['mine identity_openid', 'what can be set'],
      'mine identity_openid:PRIMARY_IAM display_name="Company sign-in"',
    ],
    doing: 'set the settings of',
    run: (module) => module.setConfig,
  });
  config.add('reset <alias> <subsystem> [keys...]', {
    description: 'take a subsystem, or some of its keys, back to what it is without settings',
    options: [['--env', 'show the settings as the environment names them, and change nothing']],
    examples: ['mine identity_openid:PRIMARY_IAM display_name'],
    doing: 'reset the settings of',
    run: (module) => module.resetConfig,
  });
  config.add('history <alias>', {
    description: 'show what was set before',
    options: [
      ['-n, --count <count>', 'the number of changes (10)'],
      ['-c, --clear', 'forget them'],
    ],
    examples: ['mine'],
    doing: 'show the history of',
    run: (module) => module.configHistory,
  });
  config.add('restore <alias> <restoreId>', {
    description: 'set what was set before, by its id in the history',
    examples: ['mine RESTOREID'],
    doing: 'restore the settings',
    run: (module) => module.restoreConfig,
  });
  config.add('export <alias>', {
    description: 'write all settings as lines',
    options: [['-o, --output <file>', 'into a file that only you can read']],
    examples: ['mine --output settings.txt'],
    doing: 'export the settings of',
    run: (module) => module.exportConfig,
  });
  config.add('import <alias> [file]', {
    description: 'set what an export says, from a file or standard input',
    examples: ['mine settings.txt'],
    doing: 'import the settings of',
    subject: 0,
    run: (module) => module.importConfig,
  });
}
