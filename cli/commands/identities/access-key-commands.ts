import type { CommandGroup, OptionDefinition } from '../command-group.ts';
import type { Provider, RevokeOptions } from './revocation.ts';

const keyOptions: readonly OptionDefinition[] = [
  ['--secret-key <secret>', '`-` asks for it; left out, the server makes one'],
  ['--policy <file>', 'what the key may do at most, in JSON; `-` reads standard input'],
  ['--name <name>', 'a readable name'],
  ['--description <text>', 'what it is for'],
  ['--expiry <time>', 'when it ends: 2030-01-31, or 2030-01-31T08:00:00Z'],
  ['--expiry-duration <duration>', 'after how long it ends: 24h, 90d'],
];

export const newKeyOptions: readonly OptionDefinition[] = [
  ['--access-key <key>', 'its access key; left out, the server makes one'],
  ...keyOptions,
];

export const listOptions: readonly OptionDefinition[] = [
  ['--users-only', 'the users alone'],
  ['--temp-only', 'temporary credentials alone'],
  ['--svcacc-only', 'access keys that last alone'],
  ['--self', 'your own'],
  ['--all', 'those of all users'],
];

export const policyAlone: readonly OptionDefinition[] = [['--policy', 'the policy alone']];

const revokeOptions: readonly OptionDefinition[] = [
  ['--all', 'all of them'],
  ['--self', 'your own'],
  ['--token-type <label>', 'those that were made with this label'],
];

/** Adds the older commands for access keys. */
export function addServiceAccountCommands(user: CommandGroup<unknown>): void {
  const svcacct = user
    .group('svcacct', 'access keys of a user; `admin accesskey` is the newer name')
    .from(() => import('./access-keys.ts'));
  svcacct.add('add <alias> <user>', {
    description: 'make an access key for a user',
    options: newKeyOptions,
    examples: ['mine ann --name backup'],
    doing: 'make an access key for',
    run: (module) => module.createAccessKey,
  });
  svcacct
    .from(() => import('./access-key-list.ts'))
    .add('list <alias> <user>', {
      alias: 'ls',
      description: 'show the access keys of a user',
      examples: ['mine ann'],
      doing: 'list the access keys of',
      run: (module) => module.listServiceAccounts,
    });
  svcacct.add('info <alias> <accessKey>', {
    description: 'show an access key without its secret',
    options: policyAlone,
    examples: ['mine ACCESSKEY --policy'],
    doing: 'show the access key',
    run:
      ({ showAccessKey }) =>
      (context, args, options: { policy?: boolean }) =>
        showAccessKey(context, args, options, 'info-service-account'),
  });
  addChanges(svcacct);
}

export function addAccessKeyCommands(admin: CommandGroup): void {
  const keys = admin.group('accesskey', 'access keys: your own, and of others').from(() => import('./access-keys.ts'));
  keys.add('create <alias> [user]', {
    description: 'make an access key for yourself, or for a user',
    options: newKeyOptions,
    examples: [
      'mine --name backup --expiry-duration 90d',
      ['mine ann --policy only-backups.json', 'as an administrator'],
      ['mine --access-key MYKEY --secret-key -', 'asks for the secret key'],
    ],
    doing: 'make an access key for',
    run: (module) => module.createAccessKey,
  });
  keys
    .from(() => import('./access-key-list.ts'))
    .add('list <alias> [users...]', {
      alias: 'ls',
      description: 'show access keys and temporary credentials by user; without users those of all users',
      options: listOptions,
      examples: ['mine --self', 'mine ann bob'],
      doing: 'list the access keys of',
      run: (module) => module.listAccessKeys,
    });
  addKeyCommands(keys, 'builtin');
}

/** Adds the commands for existing access keys. */
export function addKeyCommands(group: CommandGroup<unknown>, provider: Provider): void {
  const keys = group.from(() => import('./access-keys.ts'));
  keys.add('info <alias> [accessKeys...]', {
    description: 'show access keys or temporary credentials without their secrets; without any the one of the alias',
    options: policyAlone,
    examples: ['mine ACCESSKEY', ['mine', 'whose key is this?']],
    doing: 'show the access key',
    run: (module) => module.showAccessKey,
  });
  addChanges(keys);
  group
    .from(() => import('./revocation.ts'))
    .add('sts-revoke <alias> [user]', {
      description: 'end temporary credentials at once',
      options: revokeOptions,
      examples: ['mine ann --all', 'mine --self --token-type nightly'],
      doing: 'end the temporary credentials of',
      run:
        ({ revokeTokens }) =>
        (context, args, options: RevokeOptions) =>
          revokeTokens(context, args, options, provider),
    });
}

function addChanges(group: CommandGroup<unknown>): void {
  const keys = group.from(() => import('./access-keys.ts'));
  keys.add('edit <alias> <accessKey>', {
    alias: 'set',
    description: 'change an access key; what is left out stays',
    options: keyOptions,
    examples: [
      'mine ACCESSKEY --policy narrower.json',
      ['mine ACCESSKEY --secret-key -', 'asks for the new secret key'],
    ],
    doing: 'edit the access key',
    run: (module) => module.editAccessKey,
  });
  keys.addSwitch({
    args: '<alias> <accessKey>',
    example: 'mine ACCESSKEY',
    what: 'the access key',
    verbs: { enable: 'let an access key work again', disable: 'refuse an access key until it is enabled' },
    run:
      ({ setKeyStatus }, verb) =>
      (context, args) =>
        setKeyStatus(context, args, verb === 'enable' ? 'on' : 'off'),
  });
  keys.add('remove <alias> <accessKey>', {
    alias: 'rm',
    description: 'remove an access key',
    examples: ['mine ACCESSKEY'],
    doing: 'remove the access key',
    run: (module) => module.removeAccessKey,
  });
}
