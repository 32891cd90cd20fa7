import type { CommandGroup, OptionDefinition } from '../command-group.ts';
import { addWatch } from '../events/event-commands.ts';
import { addCopyCommands } from './copy/copy-commands.ts';
import { addListingCommands } from './listings/listing-commands.ts';
import { addSettingCommands } from './settings/setting-commands.ts';
import {
  ageOptions,
  readKeyOption,
  rewindOption,
  versionIdOption,
  versionOptions,
  zipOption,
} from './shared-options.ts';

/** The commands for buckets and objects. */
export function addDataCommands(commands: CommandGroup): void {
  addBuckets(commands);
  addListingCommands(commands);
  addCopyCommands(commands);
  addObjects(commands);
  addSql(commands);
  addWatch(commands);
  addSettingCommands(commands);
  addHealth(commands);
  addCompletion(commands);
}

function addBuckets(commands: CommandGroup): void {
  const buckets = commands.from(() => import('./buckets.ts'));
  buckets.add('mb <targets...>', {
    description: 'make buckets, and folders in them',
    options: [
      ['--region <region>', 'where the bucket shall be'],
      ['-p, --ignore-existing', 'succeed when the bucket is there already'],
      ['-l, --with-lock', 'with object lock, and so with versions'],
      ['--with-versioning', 'with versions'],
    ],
    examples: [
      'mine/photos',
      'mine/photos/2026/',
      ['mine/records --with-lock', 'objects can be kept from removal'],
      './folder',
    ],
    doing: 'make the bucket',
    each: true,
    run: (module) => module.makeBucket,
  });
  buckets.add('rb <targets...>', {
    description: 'remove buckets',
    options: [
      ['--force', 'with everything in them: objects, versions, uploads; succeed where there is none'],
      ['--dangerous', 'allow to remove all buckets of a server'],
    ],
    examples: ['mine/photos', ['mine/photos --force', 'with all objects']],
    doing: 'remove the bucket',
    each: true,
    run: (module) => module.removeBucket,
  });
}

function addObjects(commands: CommandGroup): void {
  commands
    .from(() => import('./cat.ts'))
    .add('cat <targets...>', {
      description: 'write objects and files to standard output',
      options: [
        ['--offset <bytes>', 'begin after this number of bytes'],
        ['--tail <bytes>', 'only the last bytes'],
        ['--part-number <number>', 'only this part of a multipart upload'],
        rewindOption,
        versionIdOption,
        readKeyOption,
        zipOption,
      ],
      examples: ['mine/logs/today.txt', ['mine/logs/today.txt --tail 1000', 'its last 1,000 bytes']],
      doing: 'read',
      subject: -1,
      run: (module) => module.cat,
    });
  commands
    .from(() => import('./head.ts'))
    .add('head [targets...]', {
      description: 'write the first lines of objects and files; those of gzip are unpacked',
      options: [
        ['-n, --lines <count>', 'the number of lines (10)'],
        rewindOption,
        versionIdOption,
        readKeyOption,
        zipOption,
      ],
      examples: ['mine/logs/today.txt', 'mine/data/table.csv.gz --lines 1'],
      doing: 'read',
      subject: -1,
      run: (module) => module.head,
    });
  commands
    .from(() => import('./remove.ts'))
    .add('rm [targets...]', {
      description: 'remove objects, versions, uploads and files',
      options: [
        ['-r, --recursive', 'everything in the folder, or else all that begins so; needs --force'],
        ['--force', 'allow --recursive and --stdin'],
        ['--dangerous', 'allow to remove all objects of a server'],
        ['-I, --incomplete', 'uploads that were not completed'],
        ['--non-current', 'noncurrent versions; with --versions --recursive'],
        ['--bypass', 'also under a retention of the mode governance'],
        ['--dry-run', 'show what would be removed'],
        ['--stdin', 'read names from standard input, one on each line; needs --force'],
        ['--purge', 'everything below a prefix by one request; only MinIO and Coffer; needs --force'],
        ...ageOptions,
        ...versionOptions,
        versionIdOption,
      ],
      old: { '--fake': '--dry-run' },
      examples: [
        'mine/photos/cat.jpg',
        'mine/photos/2025/ --recursive --force',
        ['mine/photos/ -r --force --versions --non-current --older-than 30d', 'what was replaced a month ago'],
        ['mine/photos/ -r --force --incomplete', 'uploads that were not completed'],
      ],
      doing: 'remove',
      subject: -1,
      run: (module) => module.remove,
    });
  addShare(commands);
  commands
    .from(() => import('./undo.ts'))
    .add('undo <target>', {
      description: 'undo the last uploads and removals in a bucket with versions',
      options: [
        ['--last <count>', 'the number of changes of each object (1)'],
        ['-r, --recursive', 'of everything under the prefix; needs --force'],
        ['--force', 'allow --recursive'],
        ['--action <action>', 'only where the newest change is PUT or DELETE'],
        ['--dry-run', 'show what would be undone'],
      ],
      examples: [
        'mine/photos/cat.jpg',
        ['mine/photos/ --recursive --force --action DELETE', 'brings back what was removed'],
      ],
      doing: 'undo the changes of',
      run: (module) => module.undo,
    });
}

function addShare(commands: CommandGroup): void {
  const share = commands.group('share', 'links to objects, for people without keys').from(() => import('./share.ts'));
  const expire: OptionDefinition = ['-E, --expire <duration>', 'how long the link works: 1s to 168h (168h)'];
  share.add('download <targets...>', {
    description: 'make links to download objects',
    options: [['-r, --recursive', 'everything under the prefix'], expire, versionIdOption],
    examples: ['mine/photos/cat.jpg', ['mine/photos/2025/ --recursive --expire 24h', 'a link for each object']],
    doing: 'share',
    each: true,
    run: (module) => module.shareDownload,
  });
  share.add('upload <targets...>', {
    description: 'make commands to upload objects',
    options: [
      ['-r, --recursive', 'any object under the prefix'],
      expire,
      ['-T, --content-type <type>', 'allow this type only'],
    ],
    examples: ['mine/inbox/report.pdf', 'mine/inbox/ --recursive --expire 2h'],
    doing: 'share',
    each: true,
    run: (module) => module.shareUpload,
  });
  share.add('list <kind>', {
    alias: 'ls',
    description: 'show the links that were made here and still work: download or upload',
    examples: ['download'],
    doing: 'list the shares for',
    run: (module) => module.listShares,
  });
}

function addSql(commands: CommandGroup): void {
  commands
    .from(() => import('./sql.ts'))
    .add('sql <targets...>', {
      description: 'query objects of CSV, JSON or Parquet by S3 Select',
      options: [
        ['-e, --query <query>', 'the query (select * from s3object)'],
        ['-r, --recursive', 'everything under the prefix'],
        ['--csv-input <settings>', 'rd=RECORD,fd=FIELD,qc=QUOTE,qec=ESCAPE,fh=HEADER,cc=COMMENT,qrd=BOOL'],
        ['--json-input <settings>', 'type=lines or type=document'],
        ['--compression <type>', 'NONE, GZIP, BZIP2, …; without it by the end of the key'],
        ['--csv-output <settings>', 'rd=RECORD,fd=FIELD,qc=QUOTE,qec=ESCAPE,qf=FIELDS'],
        ['--csv-output-header <names>', 'a first line; "" is that of the object'],
        ['--json-output <settings>', 'rd=RECORD'],
        readKeyOption,
      ],
      examples: [
        'mine/data/people.csv --query "select s.name from s3object s where s.age > \'30\'"',
        'mine/data/ --recursive --csv-input fd=; --json-output ""',
      ],
      doing: 'query',
      subject: -1,
      run: (module) => module.sql,
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
  commands
    .from(() => import('./ping.ts'))
    .add('ping <alias>', {
      description: 'ask a server for a sign of life again and again',
      options: [
        ['-c, --count <count>', 'the number of requests'],
        ['-e, --error-count <count>', 'end after this number of errors without an answer between them'],
        ['-i, --interval <seconds>', 'time between (1)'],
        ['-x, --exit', 'end when the server answers'],
        ['-a, --distributed', 'ask each server of the cluster at its own address'],
      ],
      examples: ['mine --count 3', ['mine --exit', 'wait until it answers']],
      doing: 'ping',
      run: (module) => module.ping,
    });
}

function addCompletion(commands: CommandGroup): void {
  commands
    .from(() => import('../completion/scripts.ts'))
    .add('completion <shell>', {
      description: 'print the script that completes commands, aliases, buckets and keys: bash, zsh, fish, powershell',
      examples: ['bash >> ~/.bashrc', 'fish > ~/.config/fish/completions/coffer.fish'],
      doing: 'print the completion for',
      run: (module) => module.printCompletion,
    });
}
