import type { CommandGroup } from '../command-group.ts';
import { addTiers } from '../lifecycle/lifecycle-commands.ts';
import { addTop } from '../support/support-commands.ts';
import { sizeFilters } from './service-commands.ts';

/** Adds what several servers do together, and what a server does in the background. */
export function addStateCommands(admin: CommandGroup): void {
  addSites(admin);
  addOldBucketNames(admin.group('bucket', 'older names: use `quota`, `stat` and `replicate`'));
  addScanner(admin);
  addTop(admin.group('top', 'what a server does now'), 'admin');
  addTiers(admin);
  admin
    .from(() => import('./logs.ts'))
    .add('console <alias> [node]', {
      description: 'the older name of `admin logs`',
      options: [
        ['-l, --limit <count>', 'the number of earlier lines (10)'],
        ['-t, --type <type>', 'minio (errors of the server), application, all'],
      ],
      examples: ['mine'],
      doing: 'show the log of',
      subject: 0,
      run: (module) => (context, args, options: { readonly limit?: string; readonly type?: string }) =>
        module.logs(context, args, { ...options, ...(options.limit !== undefined && { last: options.limit }) }),
    });
}

function addSites(admin: CommandGroup): void {
  const sites = admin.group('replicate', 'servers that hold the same').from(() => import('../replication/sites.ts'));
  sites.add('add <aliases...>', {
    description: 'let servers hold the same: buckets, objects, identities',
    options: [['--replicate-ilm-expiry', 'lifecycle rules that expire, too']],
    examples: ['one two'],
    doing: 'replicate the sites',
    subject: 0,
    run: (module) => module.addSites,
  });
  sites.add('update <alias>', {
    description: 'change a site',
    alias: 'edit',
    options: [
      ['--deployment-id <id>', 'the site'],
      ['--endpoint <url>', 'its new address'],
      ['--mode <mode>', 'sync or async'],
      ['--sync <state>', '--mode', 'hidden'],
      ['--bucket-bandwidth <rate>', 'at most this many bytes each second for a bucket'],
      ['--enable-ilm-expiry-replication', 'lifecycle rules that expire, too'],
      ['--disable-ilm-expiry-replication', 'without lifecycle rules that expire'],
    ],
    examples: ['one --deployment-id c1758167-4426-454f-9aae-5c3dfdf6df64 --endpoint https://new.example.com'],
    doing: 'change a site of',
    run: (module) => module.updateSite,
  });
  sites.add('remove <alias> [sites...]', {
    alias: 'rm',
    description: 'let a server stand alone again',
    options: [
      ['--all', 'all sites'],
      ['--force', 'needed'],
    ],
    examples: ['one two --force', 'one --all --force'],
    doing: 'remove sites of',
    subject: 0,
    run: (module) => module.removeSites,
  });
  sites.add('info <alias>', {
    description: 'show the sites',
    examples: ['one'],
    doing: 'show the sites of',
    run: (module) => module.siteInfo,
  });
  sites.add('status <alias>', {
    description: 'show what differs between the sites',
    options: [
      ['--buckets', 'of buckets'],
      ['--policies', 'of policies'],
      ['--users', 'of users'],
      ['--groups', 'of groups'],
      ['--ilm-expiry-rules', 'of lifecycle rules that expire'],
      ['--all', 'of all (without another flag)'],
      ['--bucket <name>', 'of one bucket'],
      ['--policy <name>', 'of one policy'],
      ['--user <name>', 'of one user'],
      ['--group <name>', 'of one group'],
      ['--ilm-expiry-rule <id>', 'of one rule'],
    ],
    examples: ['one', 'one --bucket photos'],
    doing: 'compare the sites of',
    run: (module) => module.siteStatus,
  });
  const resync = sites.group('resync', 'send all again');
  resync.add('status <alias> <peer>', {
    description: 'show how far sending all again is, until it ends or until Ctrl-C',
    examples: ['one two'],
    doing: 'show the resync of',
    run: (module) => module.resyncStatus,
  });
  for (const operation of ['start', 'cancel'] as const) {
    resync.add(`${operation} <alias> <peer>`, {
      description: `${operation} sending all that a server holds to another`,
      examples: ['one two'],
      doing: `${operation} the resync of`,
      run: (module) => (context, args) => module.resyncSites(context, args, operation),
    });
  }
}

/** For the help alone: `old-names.ts` replaces these words by the present ones, or refuses them, before a command runs. */
function addOldBucketNames(bucket: CommandGroup): void {
  for (const [name, description] of [
    ['quota', 'older name of `coffer quota set|info|clear`'],
    ['info', 'older name of `coffer stat`'],
    ['remote', 'refused: use `coffer replicate`'],
  ] as const) {
    bucket.add(`${name} [words...]`, { description, examples: [], doing: name, run: refuseOldName });
  }
}

function refuseOldName(): never {
  throw new Error('the words of older releases were not replaced');
}

function addScanner(admin: CommandGroup): void {
  const scanner = admin.group('scanner', 'what a server checks in the background');
  scanner
    .from(() => import('../support/diagnostics.ts'))
    .add('status <alias>', {
      description: 'show how far it is',
      alias: 'info',
      options: [
        ['--interval <seconds>', 'time between two reports (3)'],
        ['-n <count>', 'the number of reports; without it until Ctrl-C'],
        ['--nodes <nodes>', 'of these servers: HOST:PORT,HOST:PORT'],
        ['--bucket <bucket>', 'with this bucket'],
      ],
      examples: ['mine -n 1'],
      doing: 'read the metrics of',
      run: (module) => (context, args, options: { readonly bucket?: string; readonly interval?: string }) =>
        options.bucket === undefined
          ? module.topMetrics(context, args, options, 'scanner')
          : module.bucketScan(context, args, options.bucket),
    });
  scanner
    .from(() => import('./trace.ts'))
    .add('trace <alias>', {
      description: 'show its steps as they end, until Ctrl-C',
      options: [
        ['-v, --verbose', 'with headers'],
        ['--funcname <name>', 'of this operation', 'repeatable'],
        ['--node <node>', 'of this server', 'repeatable'],
        ['--path <path>', 'of this path', 'repeatable'],
        ['--response-duration <duration>', 'that took longer, such as 5ms'],
        ...sizeFilters,
      ],
      examples: ['mine'],
      doing: 'trace the scanner of',
      run: (module) => (context, args, options: object) =>
        module.trace(context, args, { ...options, call: ['scanner'] }),
    });
}
