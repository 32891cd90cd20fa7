import type { CommandGroup, OptionDefinition } from '../command-group.ts';

/** For commands that add an alias. */
const trustOption: OptionDefinition = [
  '--trust <fingerprint>',
  'trust the certificate with this public key (SHA-256 in hexadecimal), without a question',
];

/** The commands for aliases, and for single sign-on, which gives them credentials. */
export function addAliasCommands(commands: CommandGroup): void {
  const group = commands.group('alias', 'keep servers and their keys under short names');
  const alias = group.from(() => import('./alias.ts'));
  alias.add('set <alias> <url> [accessKey] [secretKey]', {
    alias: 's',
    description: 'add or replace an alias; missing keys are asked for, or read from standard input',
    options: [['--api <api>', 'S3v4'], ['--path <path>', 'name buckets in the path: auto, on, off'], trustOption],
    examples: [
      ['mine https://coffer.example.com', 'asks for the keys, without echo for the secret key'],
      ['mine 10.0.0.1:9000', 'tries https, and asks before it uses http'],
      ['mine https://coffer.example.com < keys.txt', 'reads both keys, each from a line'],
    ],
    doing: 'set the alias',
    subject: 0,
    run: (module) => module.setAlias,
  });
  alias.add('list [alias]', {
    alias: 'ls',
    description: 'show aliases',
    examples: ['', 'mine'],
    doing: 'list aliases',
    run: (module) => module.listAliases,
  });
  alias.add('remove <alias>', {
    alias: 'rm',
    description: 'forget an alias',
    examples: ['mine'],
    doing: 'remove the alias',
    run: (module) => module.removeAlias,
  });
  const files = group.from(() => import('./alias-files.ts'));
  files.add('import <alias> [file]', {
    alias: 'i',
    description: 'add or replace an alias by a JSON document, from a file or standard input',
    examples: ['mine ./alias.json', { of: 'alias export mine | coffer alias import copy', remark: 'copies an alias' }],
    doing: 'import the alias',
    subject: 0,
    run: (module) => module.importAlias,
  });
  files.add('export <alias>', {
    alias: 'e',
    description: 'print an alias as JSON, with its secret key',
    examples: ['mine > alias.json'],
    doing: 'export the alias',
    run: (module) => module.exportAlias,
  });
  addLogin(commands);
}

function addLogin(commands: CommandGroup): void {
  const login = commands.from(() => import('../login/login.ts'));
  login.add('login <alias> [url]', {
    description: 'sign in by single sign-on; the alias then has temporary credentials, which are renewed',
    options: [
      ['--provider <name>', 'one of several identity providers of the server'],
      ['--device', 'show a code to enter in a browser of any machine'],
      ['--no-browser', 'print the address instead of opening a browser'],
      trustOption,
    ],
    examples: [
      ['mine', 'opens a browser'],
      ['mine https://coffer.example.com', 'adds the alias first'],
      ['mine --device', 'for a machine without a browser'],
    ],
    doing: 'sign in at',
    subject: 0,
    run: (module) => module.login,
  });
  login.add('logout <alias>', {
    description: 'forget the temporary credentials of a login, and revoke what renews them',
    examples: ['mine'],
    doing: 'sign out from',
    run: (module) => module.logout,
  });
  commands
    .from(() => import('../login/credentials.ts'))
    .add('credentials <alias>', {
      description: "print the credentials of an alias, for the setting credential_process of AWS's tools",
      examples: ['mine'],
      doing: 'print the credentials of',
      run: (module) => module.printCredentials,
    });
}
