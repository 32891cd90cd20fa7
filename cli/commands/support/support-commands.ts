import { laterGroups, type CommandGroup, type OptionDefinition } from '../command-group.ts';

const outputOption: OptionDefinition = ['-o, --output <file>', 'where the file is written'];
/** This client never sends diagnostics to a company, with or without the flag. */
const airgapOption: OptionDefinition = ['--airgap', 'write a file only, which is always so', 'hidden'];

/** Adds the commands that show what a server does. */
export function addSupportCommands(commands: CommandGroup): void {
  const support = commands.group('support', laterGroups.support).from(() => import('./diagnostics.ts'));
  support.add('diag <alias>', {
    alias: 'diagnostics',
    description: 'write a report of the health of a server to a file',
    options: [outputOption, ['--anonymize <mode>', 'standard or strict (standard)'], airgapOption],
    examples: ['mine --output health.json'],
    doing: 'diagnose',
    run: (module) => module.diagnose,
  });
  support.add('perf <kindOrAlias> [alias]', {
    description: 'have a server measure itself: object, drive, net or site-replication',
    usage: '[KIND] ALIAS',
    options: [
      ['--duration <duration>', 'how long (10s)'],
      ['--concurrent <count>', 'requests at a time (32)'],
      ['--size <size>', 'of the objects (64MiB)'],
      ['--bucket <bucket>', 'where the objects are made'],
      ['-v, --verbose', 'with each server, which is always so', 'hidden'],
      airgapOption,
    ],
    examples: ['mine', 'object mine --size 1MiB --duration 5s'],
    doing: 'measure',
    run: (module) => module.perf,
  });
  support.add('inspect <target>', {
    description: 'write what a server stores for objects to a zip: `*` in the path matches any text',
    options: [outputOption, airgapOption],
    examples: ['mine/photos/cat.jpg/xl.meta', 'mine/photos/2026/*'],
    doing: 'inspect',
    run: (module) => module.inspect,
  });
  support.add('profile <alias>', {
    description: 'write profiles of a server to a file',
    options: [
      ['--duration <seconds>', 'how long (10)'],
      ['--type <types>', 'cpu, cpuio, mem, block, mutex, trace, threads, goroutines, runtime'],
      outputOption,
      airgapOption,
    ],
    examples: ['mine --type cpu,mem --duration 30'],
    doing: 'profile',
    run: (module) => module.profile,
  });
  addTop(support.group('top', 'what a server does now'), 'support');
  addLicense(commands.group('license', laterGroups.license));
  addBatch(commands.group('batch', laterGroups.batch));
}

const metricOptions: readonly OptionDefinition[] = [
  ['--interval <seconds>', 'time between two reports (1)'],
  ['-n <count>', 'the number of reports; without it until Ctrl-C'],
  ['--nodes <nodes>', 'of these servers: HOST:PORT,HOST:PORT'],
  airgapOption,
];

/** The commands `top`, which are also below `admin`. */
export function addTop(top: CommandGroup<unknown>, parent: 'support' | 'admin'): void {
  const from = top.from(() => import('./diagnostics.ts'));
  from.add('locks <alias>', {
    description: 'show the locks that are held longest',
    options: [
      ['--count <count>', 'the number of locks (10)'],
      ['--stale', 'also locks whose owner is gone'],
      airgapOption,
    ],
    examples: ['mine'],
    doing: 'list the locks of',
    run: (module) => module.topLocks,
  });
  top
    .from(() => import('../admin/trace.ts'))
    .add('api <alias>', {
      description: 'show requests as they end, until Ctrl-C',
      options: [
        ['--name <name>', 'of this operation, such as s3.PutObject', 'repeatable'],
        ['--path <path>', 'of this path, such as photos/*', 'repeatable'],
        ['--node <node>', 'of this server', 'repeatable'],
        ['-e, --errors', 'failed ones alone'],
        airgapOption,
      ],
      examples: ['mine --path photos/*'],
      doing: 'trace the server',
      run: (module) => (context, args, options: { readonly name?: readonly string[] }) =>
        module.trace(context, args, { ...options, ...(options.name && { funcname: options.name }) }),
    });
  if (parent === 'admin') return;
  for (const [kind, what] of [
    ['drive', 'drives'],
    ['net', 'the network'],
    ['rpc', 'calls between servers'],
  ] as const) {
    from.add(`${kind} <alias>`, {
      description: `show metrics of ${what}`,
      options:
        kind === 'drive'
          ? [...metricOptions, ['-c, --count <count>', 'the number of drives', 'hidden']]
          : metricOptions,
      examples: ['mine -n 1'],
      doing: 'read the metrics of',
      run: (module) => (context, args, options: object) => module.topMetrics(context, args, options, kind),
    });
  }
}

function addLicense(group: CommandGroup): void {
  const license = group.from(() => import('./license.ts'));
  license.add('info <alias>', {
    description: 'show under which license a server is',
    options: [airgapOption],
    examples: ['mine'],
    doing: 'show the license of',
    run: (module) => module.licenseInfo,
  });
  for (const [name, description] of [
    ['register <alias>', 'refused: Coffer needs no registration'],
    ['unregister <alias>', 'refused: nothing is registered'],
    ['update <alias> [file]', 'refused: nothing is registered'],
  ] as const) {
    license.add(name, {
      description,
      options: [airgapOption],
      examples: [],
      doing: 'register',
      subject: 0,
      run: (module) => module.refuseRegistration,
    });
  }
}

function addBatch(group: CommandGroup): void {
  const batch = group.from(() => import('./batch.ts'));
  batch.add('generate <alias> <kind>', {
    description: 'print the description of a job to fill in: replicate, keyrotate or expire',
    examples: ['mine replicate > job.yaml'],
    doing: 'describe a job',
    run: (module) => module.generateJob,
  });
  batch.add('start <alias> <file>', {
    description: 'start the job of a description',
    examples: ['mine job.yaml'],
    doing: 'start the job of',
    run: (module) => module.startJob,
  });
  batch.add('list <alias>', {
    alias: 'ls',
    description: 'show the jobs that run, and those that ended',
    options: [['--type <kind>', 'only of this kind']],
    examples: ['mine'],
    doing: 'list the jobs of',
    run: (module) => module.listJobs,
  });
  batch.add('status <alias> <id>', {
    description: 'show how far a job is, until it ends',
    examples: ['mine E24HH4nNMcgY5taynaPfxu'],
    doing: 'show the job',
    run: (module) => module.jobStatus,
  });
  batch.add('describe <alias> <id>', {
    description: 'print the description of a job that runs',
    examples: ['mine E24HH4nNMcgY5taynaPfxu'],
    doing: 'describe the job',
    run: (module) => module.describeJob,
  });
  batch.add('cancel <alias> <id>', {
    description: 'end a job',
    examples: ['mine E24HH4nNMcgY5taynaPfxu'],
    doing: 'cancel the job',
    run: (module) => module.cancelJob,
  });
}
