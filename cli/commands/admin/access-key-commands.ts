import type { Command } from 'commander';
import { define, group, type OptionDefinition, type Runner } from '../define.ts';
import type { ListKeysOptions } from './access-key-list.ts';
import type { KeyOptions } from './access-keys.ts';
import type { RevokeOptions } from './revoke-tokens.ts';

export const keyOptions: readonly OptionDefinition[] = [
  ['--secret-key <secret>', '`-` asks for it; left out, the server makes one'],
  ['--policy <file>', 'what the key may do at most, in JSON; `-` reads standard input'],
  ['--name <name>', 'a name for people'],
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
  ['--all', 'those of everybody'],
];

export const revokeOptions: readonly OptionDefinition[] = [
  ['--all', 'all of them'],
  ['--self', 'your own'],
  ['--token-type <label>', 'those that were made with this label'],
];

/** The older name of access keys, with the words of then. */
export function addServiceAccountCommands(user: Command, run: Runner): void {
  const svcacct = group(user, 'svcacct', 'access keys of a user; `admin accesskey` is the newer name');
  define<KeyOptions>(svcacct, run, {
    usage: 'add <alias> <user>',
    description: 'make an access key for a user',
    options: newKeyOptions,
    examples: [['admin user svcacct add mine ann --name backup', '']],
    doing: 'make an access key for',
    run: async (context, args, options) => (await import('./access-keys.ts')).createAccessKey(context, args, options),
  });
  define(svcacct, run, {
    usage: 'list <alias> <user>',
    alias: 'ls',
    description: 'show the access keys of a user',
    examples: [['admin user svcacct list mine ann', '']],
    doing: 'list the access keys of',
    run: async (context, args) => (await import('./access-key-list.ts')).listServiceAccounts(context, args),
  });
  define<{ policy?: boolean }>(svcacct, run, {
    usage: 'info <alias> <accessKey>',
    description: 'show an access key without its secret',
    options: [['--policy', 'the policy alone']],
    examples: [['admin user svcacct info mine ACCESSKEY --policy', '']],
    doing: 'show the access key',
    run: async (context, args, options) =>
      (await import('./access-keys.ts')).showAccessKey(context, args, options, 'info-service-account'),
  });
  addChanges(svcacct, run, 'admin user svcacct');
}

export function addAccessKeyCommands(admin: Command, run: Runner): void {
  const keys = group(admin, 'accesskey', 'access keys: your own, and of others');
  define<KeyOptions>(keys, run, {
    usage: 'create <alias> [user]',
    description: 'make an access key for yourself, or for a user',
    options: newKeyOptions,
    examples: [
      ['admin accesskey create mine --name backup --expiry-duration 90d', ''],
      ['admin accesskey create mine ann --policy only-backups.json', 'as an administrator'],
      ['admin accesskey create mine --access-key MYKEY --secret-key -', 'asks for the secret key'],
    ],
    doing: 'make an access key for',
    run: async (context, args, options) => (await import('./access-keys.ts')).createAccessKey(context, args, options),
  });
  define<ListKeysOptions>(keys, run, {
    usage: 'list <alias> [users...]',
    alias: 'ls',
    description: 'show access keys and temporary credentials by user; without users those of everybody',
    options: listOptions,
    examples: [
      ['admin accesskey list mine --self', ''],
      ['admin accesskey list mine ann bob', ''],
    ],
    doing: 'list the access keys of',
    run: async (context, args, options) =>
      (await import('./access-key-list.ts')).listAccessKeys(context, args, options),
  });
  addInfo(keys, run, 'admin accesskey');
  addChanges(keys, run, 'admin accesskey');
  addRevoke(keys, run, 'builtin', 'admin accesskey');
}

export function addInfo(parent: Command, run: Runner, path: string): void {
  define<{ policy?: boolean }>(parent, run, {
    usage: 'info <alias> [accessKeys...]',
    description: 'show access keys or temporary credentials without their secrets; without any the one of the alias',
    options: [['--policy', 'the policy alone']],
    examples: [
      [`${path} info mine ACCESSKEY`, ''],
      [`${path} info mine`, 'whose key is this?'],
    ],
    doing: 'show the access key',
    run: async (context, args, options) => (await import('./access-keys.ts')).showAccessKey(context, args, options),
  });
}

export function addChanges(parent: Command, run: Runner, path: string): void {
  define<KeyOptions>(parent, run, {
    usage: 'edit <alias> <accessKey>',
    alias: 'set',
    description: 'change an access key; what is left out stays',
    options: keyOptions,
    examples: [
      [`${path} edit mine ACCESSKEY --policy narrower.json`, ''],
      [`${path} edit mine ACCESSKEY --secret-key -`, 'asks for the new secret key'],
    ],
    doing: 'edit the access key',
    run: async (context, args, options) => (await import('./access-keys.ts')).editAccessKey(context, args, options),
  });
  for (const [name, status, description] of [
    ['enable', 'on', 'let an access key work again'],
    ['disable', 'off', 'refuse an access key until it is enabled'],
  ] as const) {
    define(parent, run, {
      usage: `${name} <alias> <accessKey>`,
      description,
      examples: [[`${path} ${name} mine ACCESSKEY`, '']],
      doing: `${name} the access key`,
      run: async (context, args) => (await import('./access-keys.ts')).setKeyStatus(context, args, status),
    });
  }
  define(parent, run, {
    usage: 'remove <alias> <accessKey>',
    alias: 'rm',
    description: 'remove an access key',
    examples: [[`${path} remove mine ACCESSKEY`, '']],
    doing: 'remove the access key',
    run: async (context, args) => (await import('./access-keys.ts')).removeAccessKey(context, args),
  });
}

export function addRevoke(parent: Command, run: Runner, kind: 'builtin' | 'openid' | 'ldap', path: string): void {
  define<RevokeOptions>(parent, run, {
    usage: 'sts-revoke <alias> [user]',
    description: 'end temporary credentials at once',
    options: revokeOptions,
    examples: [
      [`${path} sts-revoke mine ann --all`, ''],
      [`${path} sts-revoke mine --self --token-type nightly`, ''],
    ],
    doing: 'end the temporary credentials of',
    run: async (context, args, options) =>
      (await import('./revoke-tokens.ts')).revokeTokens(context, args, options, kind),
  });
}
