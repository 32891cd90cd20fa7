import { matchesText, textMatcher } from '../../../protocol/policy/glob.ts';
import { type TraceLine, traceFields, traceText } from './trace-line.ts';
import { adminOf, jsonLines } from '../admin-client.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';
import { parseSize } from '../data/entries/sizes.ts';

/** Reports whether the whole text matches, ignoring case; `*` matches any characters, `?` one. */
function matchesPattern(pattern: string, text: string): boolean {
  return matchesText(textMatcher(pattern.toLowerCase()), text.toLowerCase());
}

/** Patterns with `*` and `?`. A request matches an option when it matches one of its values. */
interface TraceFilter {
  /** Texts in `NAME: VALUE` of a header, or in `NAME=VALUE` of a parameter. After `!` a request must not have them. */
  readonly requestHeader?: readonly string[];
  readonly requestQuery?: readonly string[];
  /** Shows requests with a body of more than `filterSize`. */
  readonly filterRequest?: boolean;
  /** Shows responses with a body of more than `filterSize`. */
  readonly filterResponse?: boolean;
  readonly filterSize?: string;
  readonly statusCode?: readonly string[];
  readonly method?: readonly string[];
  readonly funcname?: readonly string[];
  readonly path?: readonly string[];
  readonly node?: readonly string[];
}

export function matchesFilter(line: TraceLine, filter: TraceFilter): boolean {
  const { statusCode, method, funcname, path, node } = filter;
  const { request, response } = line.http ?? {};
  return (
    isLarger(line, filter) &&
    hasTexts(filter.requestHeader, headersOf(line)) &&
    hasTexts(filter.requestQuery, (request?.rawquery ?? '').split('&').map(decoded)) &&
    anyOf(statusCode, String(response?.statuscode ?? '')) &&
    anyOf(method, request?.method ?? '') &&
    anyOf(funcname, line.funcname ?? '') &&
    anyOf(path, (request?.path ?? line.path ?? '').replace(/^\//, '')) &&
    anyOf(node, line.nodename ?? '')
  );
}

/** @throws ProgramError BadArgument */
function checkSizes({ filterRequest, filterResponse, filterSize }: TraceFilter): void {
  const isFiltered = filterRequest === true || filterResponse === true;
  if (isFiltered !== (filterSize !== undefined)) {
    throw new ProgramError('BadArgument', '--filter-size goes with --filter-request or --filter-response');
  }
  if (filterSize !== undefined) parseSize('--filter-size', filterSize);
}

function isLarger({ http }: TraceLine, { filterRequest, filterResponse, filterSize }: TraceFilter): boolean {
  if (filterSize === undefined) return true;
  const limit = parseSize('--filter-size', filterSize);
  const { inputbytes = 0, outputbytes = 0 } = http?.stats ?? {};
  return (filterRequest !== true || inputbytes > limit) && (filterResponse !== true || outputbytes > limit);
}

function headersOf({ http }: TraceLine): readonly string[] {
  const headers = Object.entries(http?.request?.headers ?? {});
  return headers.map(([name, value]) => `${name}: ${[value].flat().join(', ')}`);
}

function decoded(parameter: string): string {
  try {
    return decodeURIComponent(parameter.replaceAll('+', ' '));
  } catch {
    return parameter;
  }
}

/** Compares without the case. */
function hasTexts(wanted: readonly string[] | undefined, texts: readonly string[]): boolean {
  return (wanted ?? []).every((one) => {
    const [isWanted, text] = one.startsWith('!') ? [false, one.slice(1)] : [true, one];
    return texts.some((given) => given.toLowerCase().includes(text.toLowerCase())) === isWanted;
  });
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
  checkSizes(options);
  const admin = await adminOf(context, alias);
  const wanted = options.all === true ? callTypes : (options.call ?? ['s3']).flatMap((types) => types.split(','));
  const unknown = wanted.find((type) => !(callTypes as readonly string[]).includes(type));
  if (unknown !== undefined) {
    throw new ProgramError('BadArgument', `Unknown type of call \`${unknown}\`: there are ${callTypes.join(', ')}`);
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
  throw new ProgramError('Failed', 'The server ended the trace; it may be restarting');
}
