import type { Command } from 'commander';
import { define, group, type Runner } from '../define.ts';

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
}
