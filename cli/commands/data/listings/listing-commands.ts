import type { CommandGroup } from '../../command-group.ts';
import {
  ageOptions,
  readKeyOption,
  rewindOption,
  versionIdOption,
  versionOptions,
  zipOption,
} from '../shared-options.ts';

/** The commands that list and compare places of servers and of this machine. */
export function addListingCommands(commands: CommandGroup): void {
  addList(commands);
  addSums(commands);
  addFind(commands);
}

function addList(commands: CommandGroup): void {
  commands
    .from(() => import('./list.ts'))
    .add('ls <targets...>', {
      description: 'list buckets, objects and files',
      options: [
        ['-r, --recursive', 'everything under the prefix'],
        ['-I, --incomplete', 'uploads that were not completed'],
        ['--summarize', 'count and sizes at the end'],
        ['--sc, --storage-class <class>', 'only objects of this storage class'],
        ...versionOptions,
        zipOption,
      ],
      examples: [
        'mine',
        'mine/photos/2026/ --recursive --summarize',
        ['mine/photos --versions', 'with noncurrent versions and delete markers'],
        ['mine/photos --rewind 7d', 'what was there a week ago'],
        './folder',
      ],
      doing: 'list',
      each: true,
      paged: true,
      run: (module) => module.list,
    });
  commands
    .from(() => import('../stat.ts'))
    .add('stat <targets...>', {
      description: 'show what is known of objects, buckets and files',
      options: [
        ['-r, --recursive', 'of everything under the prefix'],
        ['--no-list', 'send no request that lists'],
        ['-v, --verbose', 'all that is known of a bucket, which is always so'],
        ...versionOptions,
        versionIdOption,
        readKeyOption,
      ],
      examples: ['mine/photos', 'mine/photos/cat.jpg', 'mine/photos/cat.jpg --versions'],
      doing: 'stat',
      each: true,
      paged: true,
      run: (module) => module.statTarget,
    });
  commands
    .from(() => import('./tree.ts'))
    .add('tree <targets...>', {
      description: 'draw the folders of a bucket or folder',
      options: [
        ['-f, --files', 'with what is in them'],
        ['-d, --depth <levels>', 'not deeper than this'],
        rewindOption,
      ],
      examples: ['mine/photos', 'mine/photos --files --depth 2'],
      doing: 'list',
      each: true,
      paged: true,
      run: (module) => module.tree,
    });
}

function addSums(commands: CommandGroup): void {
  commands
    .from(() => import('./disk-usage.ts'))
    .add('du <targets...>', {
      description: 'add up the sizes of objects and files',
      options: [
        ['-d, --depth <levels>', 'also the folders within, this deep: 1 is the target itself (1)'],
        ['-r, --recursive', 'all folders within'],
        ...versionOptions,
      ],
      examples: ['mine/photos', 'mine/photos --depth 2', ['mine/photos --versions', 'with noncurrent versions']],
      doing: 'add up',
      each: true,
      run: (module) => module.diskUsage,
    });
  commands
    .from(() => import('./diff.ts'))
    .add('diff <first> <second>', {
      description: 'compare names and sizes: `<` only in the first, `>` only in the second, `!` differs',
      examples: ['./photos mine/photos', 'mine/photos other/photos'],
      doing: 'compare',
      joint: 'and',
      run: (module) => module.diff,
    });
}

function addFind(commands: CommandGroup): void {
  commands
    .from(() => import('./find.ts'))
    .add('find <target>', {
      description: 'find objects and files; all flags must match',
      options: [
        ['--name <pattern>', 'last part of the name, with * and ?'],
        ['--path <pattern>', 'whole name, with * and ?'],
        ['--regex <expression>', 'whole name, by a regular expression; (?i) ignores the case'],
        ['--ignore <pattern>', 'not what has such a name'],
        ['--larger <size>', 'larger than 64MiB, 1GB, 1000'],
        ['--smaller <size>', 'smaller than that'],
        ...ageOptions,
        ['--maxdepth <levels>', 'not deeper than this; 0 is no limit (0)'],
        ['--metadata <test>', 'KEY=REGEX of the metadata; may be repeated', 'repeatable'],
        ['--tags <test>', 'KEY=REGEX of the tags; may be repeated', 'repeatable'],
        ['--versions', 'all versions of objects'],
        ['--watch', 'then what is new or changed, until Ctrl-C'],
        ['--print <format>', 'with {}, {base}, {dir}, {size}, {time}, {version}, {url}'],
        ['--exec <command>', 'run a command for each, with the same words in it'],
      ],
      examples: [
        'mine/photos --name "*.jpg"',
        'mine/photos --larger 64MiB --older-than 30d',
        ['mine/photos --name "*.jpg" --exec "coffer cp {} ./photos/"', 'copies each'],
        ['mine/photos --print {url}', 'links that work for seven days'],
      ],
      doing: 'find in',
      run: (module) => module.find,
    });
}
