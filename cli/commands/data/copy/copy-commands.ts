import type { CommandGroup, OptionDefinition } from '../../command-group.ts';
import {
  ageOptions,
  encryptionOptions,
  readKeyOption,
  rewindOption,
  versionIdOption,
  zipOption,
} from '../shared-options.ts';

/** The commands that bring objects and files from one place to another. */
export function addCopyCommands(commands: CommandGroup): void {
  addCopyAndMove(commands);
  addMirror(commands);
  addSingle(commands);
}

/** The flags of every upload. */
const uploadOptions: readonly OptionDefinition[] = [
  ['--attr <attributes>', 'headers and metadata: NAME=VALUE;NAME=VALUE'],
  ['--tags <tags>', 'tags: KEY=VALUE&KEY=VALUE'],
  ['--sc, --storage-class <class>', 'storage class of the copies'],
  ['--md5', 'send the MD5 of each body, as a bucket with a default retention demands'],
  ['--checksum <algorithm>', 'send a checksum that the server keeps: CRC64NVME, CRC32, CRC32C, SHA1, SHA256'],
  ...encryptionOptions,
];

/** The flags of the commands that copy many. */
const transferOptions: readonly OptionDefinition[] = [
  ...ageOptions,
  ['-a, --preserve', 'keep mode and times of files, and locks of objects, which a move keeps always'],
  ['--disable-multipart', 'upload each file by one request'],
  ['--max-workers <count>', 'concurrent copies (32, of which 4 of large files)'],
  ['--dry-run', 'show what would be copied'],
];

function addCopyAndMove(commands: CommandGroup): void {
  const copy = commands.from(() => import('./copy.ts'));
  copy.add('cp <sources...>', {
    usage: '<source>... <target>',
    description: 'copy files and objects; a folder with a slash at its end gives its contents, without one itself',
    options: [
      ['-r, --recursive', 'folders with all that is in them'],
      ...uploadOptions,
      ...transferOptions,
      ['--retention-mode <mode>', 'governance or compliance'],
      ['--retention-duration <validity>', 'days (30d) or years (1y)'],
      ['--legal-hold <state>', 'on or off'],
      ['-c, --continue', 'continue where a killed command was, which is always so'],
      rewindOption,
      versionIdOption,
      zipOption,
    ],
    examples: [
      'cat.jpg mine/photos/',
      ['--recursive mine/photos/ ./photos', 'the contents of the bucket'],
      ['--rewind 7d mine/notes.txt ./notes.txt', 'as it was a week ago'],
    ],
    doing: 'copy to',
    subject: -1,
    run: (module) => module.copy,
  });
  copy.add('mv <sources...>', {
    usage: '<source>... <target>',
    description: 'copy files and objects, and remove each source after its copy arrived',
    options: [['-r, --recursive', 'folders with all that is in them'], ...uploadOptions, ...transferOptions],
    examples: ['cat.jpg mine/photos/', '--recursive mine/photos/2025/ mine/archive/2025/'],
    doing: 'move to',
    subject: -1,
    run: (module) => module.move,
  });
}

function addMirror(commands: CommandGroup): void {
  commands
    .from(() => import('./mirror.ts'))
    .add('mirror <source> <target>', {
      description: 'make a bucket or folder hold what another one holds; it continues after a failed copy',
      options: [
        ['--overwrite', 'replace what has another size or is older'],
        ['--remove', 'remove what the source does not have, unless the source is empty'],
        ['--max-delete <count>', 'with --remove: nothing, if more would be removed; also of an empty source'],
        ['-w, --watch', 'then copy and remove what changes in the source, until Ctrl-C'],
        ['--active-active', '--watch between two servers that mirror to each other: the newest object wins'],
        [
          '--exclude <pattern>',
          'not what has such a name, with * and ?; cache/* is a folder; may be repeated',
          'repeatable',
        ],
        ['--exclude-bucket <pattern>', 'not such buckets; may be repeated', 'repeatable'],
        ['--exclude-storageclass <class>', 'not objects of this storage class; may be repeated', 'repeatable'],
        ['--region <region>', 'where new buckets shall be'],
        ['--summary', 'print the counts at the end'],
        ['--monitoring-address <address>', 'HOST:PORT on which Prometheus finds the counts at /metrics'],
        ['--skip-errors', 'continue after a failure, which is always so'],
        ['--retry', 'send failed requests again, which is always so'],
        ...uploadOptions,
        ...transferOptions,
      ],
      old: { '--fake': '--dry-run', '--force': '--overwrite', '--multi-master': '--active-active' },
      examples: [
        './photos mine/photos',
        ['-a --overwrite --remove mine/photos other/photos', 'a copy of the latest versions, with tags and locks'],
        ['--remove --dry-run ./photos mine/photos', 'shows what would be copied and removed'],
      ],
      doing: 'mirror',
      joint: 'to',
      run: (module) => module.mirror,
    });
}

function addSingle(commands: CommandGroup): void {
  const single = commands.from(() => import('./single.ts'));
  single.add('get <source> <target>', {
    description: 'download one object',
    options: [versionIdOption, readKeyOption],
    examples: ['mine/photos/cat.jpg ./cat.jpg'],
    doing: 'get',
    subject: 0,
    run: (module) => module.get,
  });
  single.add('put <source> <target>', {
    description: 'upload one file',
    options: [
      ['-P, --parallel <count>', 'concurrent parts (4)'],
      ['-s, --part-size <size>', 'size of a part: 16MiB'],
      ['--if-not-exists', 'fail when there is such an object'],
      ['--disable-multipart', 'upload by one request'],
      ...uploadOptions,
    ],
    examples: ['cat.jpg mine/photos/', 'backup.tar mine/backups/today.tar --part-size 64MiB'],
    doing: 'put',
    subject: 0,
    run: (module) => module.put,
  });
  single.add('pipe [target]', {
    description: 'upload standard input, in parts as it comes',
    options: [
      ['--concurrent <count>', 'concurrent parts, which are in memory (2)'],
      ['--part-size <size>', 'size of a part: 16MiB'],
      ...uploadOptions,
    ],
    examples: ['mine/backups/database.sql'],
    doing: 'write',
    run: (module) => module.pipe,
  });
  commands
    .from(() => import('./object-dump.ts'))
    .add('od <operands...>', {
      usage: 'if=SOURCE of=TARGET [size=SIZE] [parts=COUNT] [skip=COUNT]',
      description: 'copy parts of one file or object, and measure the time',
      examples: ['if=./large of=mine/test/large size=64MiB', 'if=mine/test/large of=./back parts=4'],
      doing: 'copy',
      run: (module) => module.objectDump,
    });
}
