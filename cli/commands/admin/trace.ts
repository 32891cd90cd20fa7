import { type TraceLine, traceFields, traceText } from './trace-line.ts';
import { adminOf, jsonLines } from '../admin-client.ts';
import { CliError } from '../../config/cli-error.ts';
import type { Context } from '../context.ts';

/** Reports whether the whole text matches, ignoring case; `*` matches any characters, `?` one. */
function matchesPattern(pattern: string, text: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'is').test(text);
}

/** Patterns with `*` and `?`. A request matches an option when it matches one of its values. */
interface TraceFilter {
  readonly statusCode?: readonly string[];
  readonly method?: readonly string[];
  readonly funcname?: readonly string[];
  readonly path?: readonly string[];
  readonly node?: readonly string[];
}

export function matchesFilter(line: TraceLine, { statusCode, method, funcname, path, node }: TraceFilter): boolean {
  const { request, response } = line.http ?? {};
  return (
    anyOf(statusCode, String(response?.statuscode ?? '')) &&
    anyOf(method, request?.method ?? '') &&
    anyOf(funcname, line.funcname ?? '') &&
    anyOf(path, (request?.path ?? line.path ?? '').replace(/^\//, '')) &&
    anyOf(node, line.nodename ?? '')
  );
}

function anyOf(patterns: readonly string[] | undefined, text: string): boolean {
  if (patterns === undefined) return true;
  return patterns.some((pattern) => matchesPattern(pattern.replace(/^\//, ''), text));
}

interface TraceOptions extends TraceFilter {
  readonly verbose?: boolean;
  readonly all?: boolean;
  readonly errors?: boolean;
  readonly call?: readonly string[];
  /** `5ms`: shows only requests that took longer. */
  readonly responseDuration?: string;
}

/** The types that a client may ask for. Only MinIO has most of them. */
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

/** Shows requests as they end, until Ctrl-C. */
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
    if (matchesFilter(line, options)) await context.output.line(traceText(line, verbose), traceFields(line, verbose));
  }
  throw new CliError('Failed', 'The server ended the trace; it may be restarting');
}
