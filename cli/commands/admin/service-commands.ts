import type { CommandGroup, OptionDefinition } from '../command-group.ts';
import type { ServiceAction, ServiceOptions } from './service.ts';

const actions: Readonly<Record<ServiceAction, string>> = {
  restart: 'restart a server, and wait until it serves again',
  stop: 'stop a server; whatever looks after it may start it again',
  freeze: 'let requests of S3 wait',
  unfreeze: 'let requests of S3 go on',
};

const dryRun: OptionDefinition = ['--dry-run', 'do nothing, but say what would be'];

/** The flags of a trace that compare sizes. */
export const sizeFilters: readonly OptionDefinition[] = [
  ['--filter-request', 'with a request of more bytes than --filter-size'],
  ['--filter-response', 'with a response of more bytes than --filter-size'],
  ['--filter-size <size>', 'the size, such as 1MiB'],
];

const metricsOptions: readonly OptionDefinition[] = [
  ['--api-version <version>', 'v2 or v3 (v2)'],
  ['--bucket <bucket>', 'of one bucket, for the kinds api and replication of v3'],
];

/** Adds the commands for the process of the server: state, restarts, traces, logs, metrics. */
export function addServiceCommands(admin: CommandGroup): void {
  admin
    .from(() => import('./server-info.ts'))
    .add('info <alias>', {
      description: 'show the state of a server',
      options: [['--offline', 'only servers that are not online, or have a drive that is not']],
      examples: ['mine'],
      doing: 'show the state of',
      run: (module) => module.adminInfo,
    });
  const service = admin.group('service', 'restart, stop and freeze servers').from(() => import('./service.ts'));
  for (const [action, description] of Object.entries(actions) as [ServiceAction, string][]) {
    const wait: readonly OptionDefinition[] = [
      ['-w, --wait', 'as it always does', 'hidden'],
      ['--timeout <seconds>', 'how long it may take (60)'],
    ];
    service.add(`${action} <alias>`, {
      description,
      options: action === 'restart' ? [dryRun, ...wait] : [dryRun],
      examples: ['mine'],
      doing: `${action} the server`,
      run: (module) => (context, args, options: ServiceOptions) => module.service(context, args, options, action),
    });
  }
  admin
    .from(() => import('./trace.ts'))
    .add('trace <alias>', {
      description: 'show requests as they end, until Ctrl-C',
      options: [
        ['-v, --verbose', 'with headers'],
        ['-a, --all', 'calls of every type'],
        ['-e, --errors', 'failed ones alone'],
        ['--call <type>', 's3 (what is shown without it), internal, …', 'repeatable'],
        ['--status-code <code>', 'of this status; * stands for any characters', 'repeatable'],
        ['--method <method>', 'of this HTTP method', 'repeatable'],
        ['--funcname <name>', 'of this operation, such as s3.PutObject', 'repeatable'],
        ['--path <path>', 'of this path, such as photos/*', 'repeatable'],
        ['--node <node>', 'of this server', 'repeatable'],
        ['--request-header <text>', 'with this text in a header, or without it after !', 'repeatable'],
        ['--request-query <text>', 'with this text in a parameter, or without it after !', 'repeatable'],
        ['--response-duration <duration>', 'that took longer, such as 5ms'],
        ...sizeFilters,
      ],
      examples: ['mine', 'mine --errors --path photos/* --verbose'],
      doing: 'trace the server',
      run: (module) => module.trace,
    });
  admin
    .from(() => import('./logs.ts'))
    .add('logs <alias> [node]', {
      description: 'show the log of a server, its last lines and those that come, until Ctrl-C',
      options: [
        ['-l, --last <count>', 'the number of earlier lines (10)'],
        ['-t, --type <type>', 'minio (errors of the server), application, all'],
      ],
      examples: ['mine', 'mine --last 100 --type minio'],
      doing: 'show the log of',
      subject: 0,
      run: (module) => module.logs,
    });
  const prometheus = admin.group('prometheus', 'metrics for Prometheus').from(() => import('./prometheus.ts'));
  prometheus.add('generate <alias> [kind]', {
    description:
      'print what Prometheus needs to read the metrics: cluster, node, bucket or resource; of v3: api, system, cluster, …',
    options: [['--public', 'without a token'], ...metricsOptions],
    examples: ['mine bucket'],
    doing: 'write the configuration for',
    subject: 0,
    run: (module) => module.generatePrometheus,
  });
  prometheus.add('metrics <alias> [kind]', {
    description: 'print the metrics',
    options: metricsOptions,
    examples: ['mine node'],
    doing: 'read the metrics of',
    subject: 0,
    run: (module) => module.showMetrics,
  });
}

export function addUsageCommands(admin: CommandGroup): void {
  admin
    .from(() => import('./server-info.ts'))
    .add('usage <alias>', {
      description: 'show how many objects and bytes each bucket holds',
      options: [['--now', 'have the server count now; without it, what it counted last']],
      examples: ['mine', 'mine --now'],
      doing: 'show the usage of',
      run: (module) => module.showUsage,
    });
}

export function addClusterCommands(admin: CommandGroup): void {
  const cluster = admin.group('cluster', 'what the servers of a cluster share');
  addIdentities(cluster);
  addBuckets(cluster);
}

function addBuckets(cluster: CommandGroup): void {
  const bucket = cluster
    .group('bucket', 'what is set for buckets: policies, tags, encryption')
    .from(() => import('./archives.ts'));
  bucket.add('export <target>', {
    description: 'write what is set for all buckets, or for one, into an archive; objects are not in it',
    options: [['-o, --output <file>', 'where (ALIAS-bucket-metadata.zip, ALIAS-BUCKET-metadata.zip)']],
    examples: ['mine --output buckets.zip', ['mine/photos', 'of one bucket']],
    doing: 'export the buckets of',
    run: (module) => module.exportBuckets,
  });
  bucket.add('import <target> <file>', {
    description: 'set what an archive of Coffer or MinIO holds, of all its buckets or of one; missing buckets are made',
    examples: ['mine buckets.zip', ['mine/photos buckets.zip', 'of one bucket']],
    doing: 'import the buckets',
    run: (module) => module.importBuckets,
  });
}

function addIdentities(cluster: CommandGroup): void {
  const iam = cluster
    .group('iam', 'users, groups, policies and access keys as a whole')
    .from(() => import('./archives.ts'));
  iam.add('export <alias>', {
    description: 'write all identities into an archive, secret keys included',
    options: [['-o, --output <file>', 'where (ALIAS-iam-info.zip); only you can read it']],
    examples: ['mine --output identities.zip'],
    doing: 'export the identities of',
    run: (module) => module.exportIdentities,
  });
  iam.add('import <alias> <file>', {
    description: 'add what an archive of Coffer or MinIO holds; what has the same name is replaced',
    examples: ['mine identities.zip'],
    doing: 'import the identities',
    run: (module) => module.importIdentities,
  });
}
