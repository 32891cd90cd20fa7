import type { Command } from 'commander';
import { define, group, type Runner } from '../define.ts';
import type { RotateOptions } from './rotate-key.ts';

export function addKmsCommands(admin: Command, run: Runner): void {
  const kms = group(admin, 'kms', 'encryption keys');
  const key = group(kms, 'key', 'encryption keys');
  define(key, run, {
    usage: 'create <alias> <key>',
    description: 'make a key, which objects can then be encrypted with',
    examples: [['admin kms key create mine my-key', '']],
    doing: 'create the key',
    run: async (context, args) => (await import('./kms-keys.ts')).createKey(context, args),
  });
  define(key, run, {
    usage: 'status <alias> [key]',
    description: 'try whether a key encrypts and decrypts; without one the default key; exit with 1 when not',
    examples: [['admin kms key status mine my-key', '']],
    doing: 'try the key',
    run: async (context, args) => (await import('./kms-keys.ts')).showKeyStatus(context, args),
  });
  define(key, run, {
    usage: 'list <alias> [pattern]',
    alias: 'ls',
    description: 'show the names of keys; * in the pattern stands for any characters',
    examples: [["admin kms key list mine 'tenant-a-*'", '']],
    doing: 'list the keys of',
    subject: 0,
    run: async (context, args) => (await import('./kms-keys.ts')).listKeys(context, args),
  });
  define(key, run, {
    usage: 'import <alias> <key> [base64]',
    description: 'make a key of 32 bytes that you have; they are asked for without echo',
    examples: [['admin kms key import mine my-key', 'from a pipe it reads one line of base64']],
    doing: 'import the key',
    run: async (context, args) => (await import('./kms-keys.ts')).importKey(context, args),
  });
  define<RotateOptions>(key, run, {
    usage: 'rotate <alias> [key]',
    description: 'give a key a new version and its objects that, or another key; without a key show how far that is',
    options: [
      ['--to <key>', 'the other key'],
      ['--newest', 'no new version: the newest that there is'],
      ['--rewrite', 'encrypt the objects themselves anew'],
      ['--rate <count>', 'so many objects in a second at most'],
      ['--wait', 'until it is done'],
    ],
    examples: [
      ['admin kms key rotate mine my-key', 'a new version; what older ones encrypted stays readable'],
      ['admin kms key rotate mine my-key --to other-key --wait', ''],
      ['admin kms key rotate mine', 'how far it is'],
    ],
    doing: 'rotate the key',
    run: async (context, args, options) => (await import('./rotate-key.ts')).rotateKey(context, args, options),
  });
  define(key, run, {
    usage: 'usage <alias>',
    description: 'count what is encrypted with each key',
    examples: [['admin kms key usage mine', '']],
    doing: 'count the use of keys at',
    run: async (context, args) => (await import('./key-usage.ts')).showKeyUsage(context, args),
  });
  define<{ force?: string }>(key, run, {
    usage: 'remove <alias> <key>',
    alias: 'rm',
    description: 'remove a key that nothing is encrypted with',
    options: [['--force <key>', 'though something is, which is then lost for ever: the name of the key again']],
    examples: [['admin kms key remove mine my-key', '']],
    doing: 'remove the key',
    run: async (context, args, options) => (await import('./key-usage.ts')).removeKey(context, args, options),
  });
}
