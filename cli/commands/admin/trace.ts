import { adminOf } from '../../admin/admin-client.ts';
import { jsonLines } from '../../admin/json-lines.ts';
import { CliError } from '../../cli-error.ts';
import type { Context } from '../../context.ts';
import { isShown, type TraceFilter } from './trace-filter.ts';
import { traceFields, traceText, type TraceLine } from './trace-line.ts';

export interface TraceOptions extends TraceFilter {
  readonly verbose?: boolean;
  readonly all?: boolean;
  readonly errors?: boolean;
  readonly call?: readonly string[];
  /** `5ms`: only what took longer. */
  readonly responseDuration?: string;
}

/** What clients may ask for; most of it has no server but MinIO. */
const callTypes = [
  's3',
  'internal',
  'storage',
  'os',
  'scanner',
  'decommission',
  'healing',
  'batch-replication',
  'batch-keyrotation',
  'batch-expiration',
  'rebalance',
  'replication-resync',
  'bootstrap',
  'ftp',
  'ilm',
] as const;

/** Shows requests as the server ends them, until Ctrl-C. */
export async function trace(context: Context, [alias = '']: readonly string[], options: TraceOptions): Promise<void> {
  const admin = await adminOf(context, alias);
  const wanted = options.all === true ? callTypes : (options.call ?? ['s3']).flatMap((types) => types.split(','));
  const unknown = wanted.find((type) => !(callTypes as readonly string[]).includes(type));
  if (unknown !== undefined) {
    throw new CliError('BadArgument', `Unknown type of call \`${unknown}\`: there are ${callTypes.join(', ')}`);
  }
  const threshold = options.responseDuration ?? '0s';
  const { body } = await admin.stream({
    method: 'GET',
    call: 'trace',
    query: {
      ...Object.fromEntries(callTypes.map((type) => [type, String(wanted.includes(type))])),
      err: String(options.errors === true),
      threshold,
    },
  });
  const verbose = options.verbose === true;
  for await (const line of jsonLines<TraceLine>(body)) {
    if (isShown(line, options)) await context.output.line(traceText(line, verbose), traceFields(line, verbose));
  }
  throw new CliError('Failed', 'The server ended the trace; it may be restarting');
}
