import { laterGroups, type CommandGroup, type OptionDefinition } from '../command-group.ts';

const ruleOptions: readonly OptionDefinition[] = [
  ['--id <id>', 'the ID of the rule'],
  ['--tags <tags>', 'only objects with these tags: KEY=VALUE&KEY=VALUE'],
  ['--storage-class <class>', 'the storage class of the copies'],
  ['--priority <number>', 'which rule is first where several match'],
  ['--remote-bucket <bucket>', 'ALIAS/BUCKET, whose keys the server then uses'],
  ['--replicate <parts>', 'delete-marker, delete, existing-objects, metadata-sync, with commas'],
  ['--path <path>', 'name the bucket in the path: auto, on, off'],
  ['--bandwidth <rate>', 'at most this many bytes each second, such as 2GB'],
  ['--healthcheck-seconds <seconds>', 'ask the other server for a sign of life this often (60)'],
];

/** Adds the commands for the replication of buckets. */
export function addReplicateCommands(commands: CommandGroup): void {
  const replicate = commands.group('replicate', laterGroups.replicate).from(() => import('./replicate.ts'));
  replicate.add('add <target>', {
    description: 'copy new objects of a bucket to another server',
    options: [
      ...ruleOptions,
      ['--disable', 'add the rule, but do not use it yet'],
      ['--region <region>', 'of the other bucket'],
      ['--sync', 'answer an upload after the copy is made'],
      ['--disable-proxy', 'do not ask the other server for what is missing here'],
      ['--arn <arn>', 'ignored, as by other clients', 'hidden'],
    ],
    examples: [
      'mine/photos --remote-bucket other/photos',
      'mine/photos/2025/ --remote-bucket other/photos --priority 2',
    ],
    doing: 'replicate',
    run: (module) => module.addReplication,
  });
  replicate.add('update <target>', {
    description: 'change a rule; what no flag names stays',
    alias: 'edit',
    options: [
      ...ruleOptions,
      ['--state <state>', 'enable or disable'],
      ['--sync <state>', 'enable or disable; with --remote-bucket'],
      ['--proxy <state>', 'enable or disable; with --remote-bucket'],
    ],
    examples: ['mine/photos --id c79ntj94b0t6rukh6lr0 --state disable'],
    doing: 'change the replication of',
    run: (module) => module.updateReplication,
  });
  replicate.add('list <target>', {
    alias: 'ls',
    description: 'show the rules',
    options: [['--status <status>', 'only enabled or disabled ones']],
    examples: ['mine/photos'],
    doing: 'list the replication of',
    run: (module) => module.listReplication,
  });
  replicate.add('remove <target>', {
    alias: 'rm',
    description: 'remove a rule, or all',
    options: [
      ['--id <id>', 'the rule'],
      ['--all', 'all rules; needs --force'],
      ['--force', 'allow --all'],
    ],
    examples: ['mine/photos --id c79ntj94b0t6rukh6lr0', 'mine/photos --all --force'],
    doing: 'remove the replication of',
    run: (module) => module.removeReplication,
  });
  replicate.add('export <target>', {
    description: 'print the rules as JSON, for `import`',
    examples: ['mine/photos > rules.json'],
    doing: 'export the replication of',
    run: (module) => module.exportReplication,
  });
  replicate.add('import <target>', {
    description: 'replace the rules by those of standard input',
    examples: ['mine/photos < rules.json'],
    doing: 'import the replication of',
    run: (module) => module.importReplication,
  });
  addStates(replicate);
  replicate
    .from(() => import('./verify/verify.ts'))
    .add('verify <source> [target]', {
      description: 'compare a bucket with its target, version by version',
      options: [
        ['--sample <number>', 'read tags, metadata and locks of this many versions, or of a share such as 1% (all)'],
        ['--start-after <key>', 'begin after this key, as an interrupted comparison says'],
      ],
      examples: ['mine/photos', 'mine/photos/2025/ other/photos --sample 1%'],
      doing: 'compare',
      subject: 0,
      run: (module) => module.verifyReplication,
    });
}

function addStates(replicate: CommandGroup<unknown>): void {
  const states = replicate.from(() => import('./replication-state.ts'));
  states.add('status <target>', {
    description: 'show how far the replication is',
    options: [
      ['-b, --backlog <kind>', 'ignored, as by other clients', 'hidden'],
      ['-n, --nodes', 'of each server'],
    ],
    examples: ['mine/photos'],
    doing: 'show the replication of',
    run: (module) => module.replicationStatus,
  });
  states.add('backlog <target>', {
    alias: 'diff',
    description: 'show what is not replicated',
    options: [
      ['--arn <arn>', 'to this other bucket'],
      ['-v, --verbose', 'also what is replicated'],
      ['-n, --nodes <nodes>', 'of this server (all)'],
      ['-a, --full', 'all that is not replicated, not only what failed'],
    ],
    examples: ['mine/photos --full'],
    doing: 'list the backlog of',
    run: (module) => module.replicationBacklog,
  });
  const resync = states.group('resync', 'replicate again what is there already');
  resync.add('start <target>', {
    description: 'begin again',
    options: [
      ['--remote-bucket <arn>', 'to this other bucket'],
      ['--older-than <duration>', 'only what is older, such as 7d or 1h30m'],
    ],
    examples: ['mine/photos --remote-bucket arn:minio:replication::ID:photos'],
    doing: 'replicate again',
    run: (module) => module.startResync,
  });
  resync.add('cancel <target>', {
    description: 'end it; what waits for the other bucket already is still sent',
    options: [['--remote-bucket <arn>', 'to this other bucket']],
    examples: ['mine/photos --remote-bucket arn:minio:replication::ID:photos'],
    doing: 'end the replication of what is there in',
    run: (module) => module.cancelResync,
  });
  resync.add('status <target>', {
    description: 'show how far that is',
    options: [['--remote-bucket <arn>', 'to this other bucket']],
    examples: ['mine/photos'],
    doing: 'show the replication of',
    run: (module) => module.resyncStatus,
  });
}
