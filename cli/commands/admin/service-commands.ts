import type { CommandGroup } from '../command-group.ts';
import type { OptionDefinition } from '../define.ts';
import type { ServiceAction, ServiceOptions } from './service.ts';

const actions: Readonly<Record<ServiceAction, string>> = {
  restart: 'restart a server, and wait until it serves again',
  stop: 'stop a server; whatever looks after it may start it again',
  freeze: 'let requests of S3 wait',
  unfreeze: 'let requests of S3 go on',
};

const dryRun: OptionDefinition = ['--dry-run', 'do nothing, but say what would be'];

/** The process of the server: what it does, says and measures. */
export function addServiceCommands(admin: CommandGroup): void {
  admin
    .from(() => import('../admin-info.ts'))
    .add('info <alias>', {
      description: 'show the state of a server',
      examples: ['mine'],
      doing: 'show the state of',
      run:
        ({ adminInfo }) =>
        (context, [alias = '']) =>
          adminInfo(context, alias),
    });
  const service = admin.group('service', 'restart, stop and freeze servers').from(() => import('./service.ts'));
  for (const [action, description] of Object.entries(actions) as [ServiceAction, string][]) {
    const wait: OptionDefinition = ['--wait <seconds>', 'how long it may take (60)'];
    service.add(`${action} <alias>`, {
      description,
      options: action === 'restart' ? [dryRun, wait] : [dryRun],
      examples: ['mine'],
      doing: `${action} the server`,
      run: (code) => (context, args, options: ServiceOptions) => code.service(context, args, options, action),
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
        ['--response-duration <duration>', 'that took longer, such as 5ms'],
      ],
      examples: ['mine', 'mine --errors --path photos/* --verbose'],
      doing: 'trace the server',
      run: (code) => code.trace,
    });
  admin
    .from(() => import('./logs.ts'))
    .add('logs <alias> [node]', {
      description: 'show the log of a server, its last lines and those that come, until Ctrl-C',
      options: [
        ['-l, --last <count>', 'so many lines of before (10)'],
        ['-t, --type <type>', 'minio (errors of the server), application, all'],
      ],
      examples: ['mine', 'mine --last 100 --type minio'],
      doing: 'show the log of',
      subject: 0,
      run: (code) => code.logs,
    });
  const prometheus = admin.group('prometheus', 'metrics for Prometheus').from(() => import('./prometheus.ts'));
  prometheus.add('generate <alias> [kind]', {
    description: 'print what Prometheus needs to read the metrics: cluster, node, bucket or resource',
    options: [['--public', 'without a token']],
    examples: ['mine bucket'],
    doing: 'write the configuration for',
    subject: 0,
    run: (code) => code.generatePrometheus,
  });
  prometheus.add('metrics <alias> [kind]', {
    description: 'print the metrics',
    examples: ['mine node'],
    doing: 'read the metrics of',
    subject: 0,
    run: (code) => code.showMetrics,
  });
}
