import type { CommandGroup } from '../command-group.ts';

/** The commands for buckets, objects and aliases. */
export function addDataCommands(commands: CommandGroup): void {
  addAlias(commands);
  addBuckets(commands);
  addObjects(commands);
  addHealth(commands);
}

function addAlias(commands: CommandGroup): void {
  const alias = commands
    .group('alias', 'keep servers and their keys under short names')
    .from(() => import('./alias.ts'));
  alias.add('set <alias> <url> [accessKey] [secretKey]', {
    description: 'add or replace an alias; missing keys are asked for',
    options: [
      ['--api <api>', 'S3v4'],
      ['--path <path>', 'name buckets in the path: auto, on, off'],
    ],
    examples: [['mine https://coffer.example.com', 'asks for the keys, without echo for the secret key']],
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
}

function addBuckets(commands: CommandGroup): void {
  const buckets = commands.from(() => import('./buckets.ts'));
  buckets.add('mb <targets...>', {
    description: 'make buckets',
    options: [
      ['--region <region>', 'where the bucket shall be'],
      ['-p, --ignore-existing', 'succeed when the bucket is there already'],
    ],
    examples: ['mine/photos'],
    doing: 'make the bucket',
    each: true,
    run: (module) => module.makeBucket,
  });
  buckets.add('rb <targets...>', {
    description: 'remove buckets',
    options: [['--force', 'with everything in them']],
    examples: ['mine/photos', ['mine/photos --force', 'with all objects']],
    doing: 'remove the bucket',
    each: true,
    run: (module) => module.removeBucket,
  });
  const encrypt = commands.group('encrypt', 'default encryption of buckets').from(() => import('./encryption.ts'));
  encrypt.add('set <kind> <keyOrTarget> [target]', {
    description: 'sse-s3 ALIAS/BUCKET, or sse-kms KEY ALIAS/BUCKET',
    examples: ['sse-s3 mine/photos', 'sse-kms my-key mine/photos'],
    doing: 'set the encryption of',
    subject: -1,
    run: (module) => module.setEncryption,
  });
  encrypt.add('info <target>', {
    description: 'show the default encryption of a bucket',
    examples: ['mine/photos'],
    doing: 'show the encryption of',
    run: (module) => module.showEncryption,
  });
  encrypt.add('clear <target>', {
    description: 'take the default encryption off a bucket; objects stay as they are',
    examples: ['mine/photos'],
    doing: 'clear the encryption of',
    run: (module) => module.clearEncryption,
  });
}

function addObjects(commands: CommandGroup): void {
  commands
    .from(() => import('./list.ts'))
    .add('ls <targets...>', {
      description: 'list buckets and objects',
      options: [
        ['-r, --recursive', 'everything under the prefix'],
        ['-I, --incomplete', 'uploads that were not completed'],
        ['--summarize', 'count and sizes at the end'],
      ],
      examples: ['mine', 'mine/photos/2026/ --recursive --summarize'],
      doing: 'list',
      each: true,
      run: (module) => module.list,
    });
  commands
    .from(() => import('./copy/copy.ts'))
    .add('cp <sources...>', {
      usage: '<source>... <target>',
      description: 'copy files and objects; a folder with a slash at its end gives its contents, without one itself',
      options: [
        ['-r, --recursive', 'folders with all that is in them'],
        ['--disable-multipart', 'upload each file by one request'],
        ['--attr <attributes>', 'headers and metadata: NAME=VALUE;NAME=VALUE'],
      ],
      examples: ['cat.jpg mine/photos/', ['--recursive mine/photos/ ./photos', 'the contents of the bucket']],
      doing: 'copy to',
      subject: -1,
      run: (module) => module.copy,
    });
  commands
    .from(() => import('./cat.ts'))
    .add('cat <targets...>', {
      description: 'write objects to standard output',
      examples: ['mine/logs/today.txt'],
      doing: 'read',
      subject: -1,
      run: (module) => module.cat,
    });
  commands
    .from(() => import('./stat.ts'))
    .add('stat <targets...>', {
      description: 'show what is known of objects and buckets',
      options: [['-r, --recursive', 'of everything under the prefix']],
      examples: ['mine/photos', 'mine/photos/cat.jpg'],
      doing: 'stat',
      each: true,
      run: (module) => module.statTarget,
    });
  commands
    .from(() => import('./remove.ts'))
    .add('rm <targets...>', {
      description: 'remove objects',
      options: [
        ['-r, --recursive', 'everything under the prefix; needs --force'],
        ['--force', 'without asking whether it is there'],
        ['-I, --incomplete', 'uploads that were not completed'],
      ],
      examples: ['mine/photos/cat.jpg', 'mine/photos/2025/ --recursive --force'],
      doing: 'remove',
      subject: -1,
      run: (module) => module.remove,
    });
}

function addHealth(commands: CommandGroup): void {
  const health = commands.from(() => import('./health.ts'));
  health.add('ready <alias>', {
    description: 'say whether a server can serve; exit with 1 when not',
    options: [
      ['--cluster-read', 'whether it can be read'],
      ['--maintenance', 'whether it could serve without this node'],
      ['--wait <seconds>', 'ask again until it can'],
    ],
    examples: ['mine', 'mine --wait 60'],
    doing: 'ask',
    run: (module) => module.ready,
  });
  health.add('ping <alias>', {
    description: 'ask a server for a sign of life again and again',
    options: [
      ['-c, --count <count>', 'the number of requests'],
      ['-e, --error-count <count>', 'end after this number of errors'],
      ['-i, --interval <seconds>', 'time between (1)'],
    ],
    examples: ['mine --count 3'],
    doing: 'ping',
    run: (module) => module.ping,
  });
}
