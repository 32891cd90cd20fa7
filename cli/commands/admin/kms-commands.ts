import type { CommandGroup } from '../command-group.ts';

export function addKmsCommands(admin: CommandGroup): void {
  const kms = admin.group('kms', 'encryption keys');
  const key = kms.group('key', 'encryption keys').from(() => import('./kms-keys.ts'));
  const usage = key.from(() => import('./kms-keys.ts'));
  key.add('create <alias> <key>', {
    description: 'make a key, which objects can then be encrypted with',
    examples: ['mine my-key'],
    doing: 'create the key',
    run: (module) => module.createKey,
  });
  key.add('status <alias> [key]', {
    description: 'try whether a key encrypts and decrypts; without one the default key; exit with 1 when not',
    examples: ['mine my-key'],
    doing: 'try the key',
    run: (module) => module.showKeyStatus,
  });
  key.add('list <alias> [pattern]', {
    alias: 'ls',
    description: 'show the names of keys; * in the pattern stands for any characters',
    examples: ["mine 'tenant-a-*'"],
    doing: 'list the keys of',
    subject: 0,
    run: (module) => module.listKeys,
  });
  key.add('import <alias> <key> [base64]', {
    description: 'make a key of 32 bytes that you have; they are asked for without echo',
    examples: [['mine my-key', 'from a pipe it reads one line of base64']],
    doing: 'import the key',
    run: (module) => module.importKey,
  });
  key
    .from(() => import('./rotate-key.ts'))
    .add('rotate <alias> [key]', {
      description: 'give a key a new version and its objects that, or another key; without a key show how far that is',
      options: [
        ['--to <key>', 'the other key'],
        ['--newest', 'no new version: the newest that there is'],
        ['--rewrite', 'encrypt the objects themselves anew'],
        ['--rate <count>', 'the maximum of objects in a second'],
        ['--wait', 'until it is done'],
      ],
      examples: [
        ['mine my-key', 'a new version; what older ones encrypted stays readable'],
        'mine my-key --to other-key --wait',
        ['mine', 'how far it is'],
      ],
      doing: 'rotate the key',
      run: (module) => module.rotateKey,
    });
  usage.add('usage <alias>', {
    description: 'count what is encrypted with each key',
    examples: ['mine'],
    doing: 'count the use of keys at',
    run: (module) => module.showKeyUsage,
  });
  usage.add('remove <alias> <key>', {
    alias: 'rm',
    description: 'remove a key that nothing is encrypted with',
    options: [['--force <key>', 'though something is, which is then lost for ever: the name of the key again']],
    examples: ['mine my-key'],
    doing: 'remove the key',
    run: (module) => module.removeKey,
  });
}
