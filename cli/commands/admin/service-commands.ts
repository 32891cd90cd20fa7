import type { Command } from 'commander';
import { define, group, type OptionDefinition, type Runner } from '../define.ts';
import type { LogsOptions } from './logs.ts';
import type { PrometheusOptions } from './prometheus.ts';
import type { ServiceAction, ServiceOptions } from './service.ts';
import type { TraceOptions } from './trace.ts';

const actions: Readonly<Record<ServiceAction, string>> = {
  restart: 'restart a server, and wait until it serves again',
  stop: 'stop a server; whatever looks after it may start it again',
  freeze: 'let requests of S3 wait',
  unfreeze: 'let requests of S3 go on',
};

const dryRun: OptionDefinition = ['--dry-run', 'do nothing, but say what would be'];

/** The process of the server: what it does, says and measures. */
export function addServiceCommands(admin: Command, run: Runner): void {
  define(admin, run, {
    usage: 'info <alias>',
    description: 'show the state of a server',
    examples: [['admin info mine', '']],
    doing: 'show the state of',
    run: async (context, [alias = '']) => (await import('../admin-info.ts')).adminInfo(context, alias),
  });
  const service = group(admin, 'service', 'restart, stop and freeze servers');
  for (const [action, description] of Object.entries(actions) as [ServiceAction, string][]) {
    const wait: OptionDefinition = ['--wait <seconds>', 'how long it may take (60)'];
    define<ServiceOptions>(service, run, {
      usage: `${action} <alias>`,
      description,
      options: action === 'restart' ? [dryRun, wait] : [dryRun],
      examples: [[`admin service ${action} mine`, '']],
      doing: `${action} the server`,
      run: async (context, args, options) => (await import('./service.ts')).service(context, args, options, action),
    });
  }
  define<TraceOptions>(admin, run, {
    usage: 'trace <alias>',
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
    examples: [
      ['admin trace mine', ''],
      ['admin trace mine --errors --path photos/* --verbose', ''],
    ],
    doing: 'trace the server',
    run: async (context, args, options) => (await import('./trace.ts')).trace(context, args, options),
  });
  define<LogsOptions>(admin, run, {
    usage: 'logs <alias> [node]',
    description: 'show the log of a server, its last lines and those that come, until Ctrl-C',
    options: [
      ['-l, --last <count>', 'so many lines of before (10)'],
      ['-t, --type <type>', 'minio (errors of the server), application, all'],
    ],
    examples: [
      ['admin logs mine', ''],
      ['admin logs mine --last 100 --type minio', ''],
    ],
    doing: 'show the log of',
    subject: 0,
    run: async (context, args, options) => (await import('./logs.ts')).logs(context, args, options),
  });
  const prometheus = group(admin, 'prometheus', 'metrics for Prometheus');
  define<PrometheusOptions>(prometheus, run, {
    usage: 'generate <alias> [kind]',
    description: 'print what Prometheus needs to read the metrics: cluster, node, bucket or resource',
    options: [['--public', 'without a token']],
    examples: [['admin prometheus generate mine bucket', '']],
    doing: 'write the configuration for',
    subject: 0,
    run: async (context, args, options) => (await import('./prometheus.ts')).generatePrometheus(context, args, options),
  });
  define(prometheus, run, {
    usage: 'metrics <alias> [kind]',
    description: 'print the metrics',
    examples: [['admin prometheus metrics mine node', '']],
    doing: 'read the metrics of',
    subject: 0,
    run: async (context, args) => (await import('./prometheus.ts')).showMetrics(context, args),
  });
}
