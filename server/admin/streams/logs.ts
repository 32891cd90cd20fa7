import { counted } from '../../../platform/text/message-text.ts';
import { formatForTerminal } from '../../../platform/output/terminal-log-format.ts';
import { followLines } from '../../shared-memory/line-ring.ts';
import { adminPath, nowOf, type AdminAnswer, type AdminCall, type Route } from '../call.ts';
import { askedServers } from '../../administration/other-servers.ts';
import { mergedLines, namesOf } from './merged-lines.ts';
import { adminError } from '../../administration/admin-error.ts';

/** Error lines, and all other lines. */
type LogKind = 'MINIO' | 'APPLICATION';

interface LogEntry {
  readonly level: string;
  readonly errKind: LogKind;
  readonly time: string;
  readonly [field: string]: unknown;
}

interface LogSource {
  readonly deploymentId: string;
  readonly node: string;
}

/** Converts a log line for `mc admin logs`. The logger has removed secrets before. */
export function logEntry(line: string, { deploymentId, node }: LogSource): LogEntry {
  const { level, time, msg, requestId, remoteAddress, err } = fieldsOf(line);
  const isError = level === 'error' || level === 'fatal';
  return {
    deploymentid: deploymentId,
    level: (text(level) ?? 'info').toUpperCase(),
    errKind: isError ? 'MINIO' : 'APPLICATION',
    time: text(time) ?? new Date(0).toISOString(),
    ...optional('requestID', text(requestId)),
    ...optional('remotehost', text(remoteAddress)),
    message: text(msg) ?? line,
    ...optional('error', errorOf(err)),
    ConsoleMsg: formatForTerminal(line, false).trimEnd(),
    node,
  };
}

/** A truncated line is not JSON and is shown as it is. */
function fieldsOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const fields: unknown = JSON.parse(line);
    return typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function errorOf(err: unknown): object | undefined {
  if (typeof err !== 'object' || err === null) return undefined;
  const { message, stack } = err as { readonly message?: unknown; readonly stack?: unknown };
  const source = (text(stack) ?? '').split('\n').slice(1);
  return { message: text(message) ?? '', ...(source.length === 0 ? {} : { source: source.map((one) => one.trim()) }) };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function optional(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value };
}

/** `mc admin logs`: the last lines of the logs of all servers, or of the one that `node` names, and new ones. */
export const logRoutes: readonly Route[] = [
  { method: 'GET', path: adminPath('log'), action: 'admin:ConsoleLog', serve: (call) => Promise.resolve(log(call)) },
];

const kinds: Readonly<Record<string, readonly LogEntry['errKind'][]>> = {
  minio: ['MINIO'],
  application: ['APPLICATION'],
  all: ['MINIO', 'APPLICATION'],
};

function log({ services, query }: AdminCall): AdminAnswer {
  const { process, server } = services;
  if (process === undefined) throw adminError('XCofferRefused', 'This server keeps no log to show.');
  const asked = askedOf(query);
  const servers = askedServers(services, namesOf(query, 'node'));
  const source = { deploymentId: server.deploymentId, node: server.endpoint };
  const wanted = (lines: readonly string[]) =>
    lines.map((line) => logEntry(line, source)).filter(({ errKind }) => asked.kinds.includes(errKind));
  const lineWithout = (node: string, message: string): LogEntry => ({
    level: 'WARN',
    errKind: 'APPLICATION',
    time: nowOf(services).toISOString(),
    ConsoleMsg: message,
    node,
  });
  const ring = process.log;
  async function* own(signal: AbortSignal) {
    const end = ring.newest();
    const kept: LogEntry[] = [];
    let place = ring.oldest();
    while (place.line < end.line) {
      const read = ring.read(place);
      kept.push(...wanted(read.lines));
      place = read.next;
    }
    if (kept.length > 0) yield kept.slice(-asked.limit);
    for await (const { lines, dropped } of followLines(ring, place, signal)) {
      const shown = wanted(lines);
      const lost = `${counted(dropped, 'line is', 'lines are')} not shown: this client reads more slowly than lines come`;
      if (shown.length > 0 || dropped > 0) yield dropped === 0 ? shown : [lineWithout(server.endpoint, lost), ...shown];
    }
  }
  const others = {
    servers,
    // After a break the last line alone: the ones before it were shown.
    call: (again: boolean) => ({
      call: 'log',
      query: { ...Object.fromEntries(query), ...(again && { limit: '1' }) },
    }),
    missing: (endpoint: string, reason: string) =>
      lineWithout(endpoint, `its log is not shown: ${reason}; it is asked for again`),
  };
  return { kind: 'lines', lines: (signal) => mergedLines({ own, ...others }, signal) };
}

function askedOf(query: URLSearchParams) {
  const type = (query.get('logType') || 'all').toLowerCase();
  const wanted = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  if (wanted === undefined) {
    throw adminError(
      'XCofferInvalidRequest',
      `The parameter logType is one of ${Object.keys(kinds).join(', ')}, not ${JSON.stringify(type.slice(0, 40))}.`,
    );
  }
  // Zero or none means all lines.
  const limit = Number(query.get('limit') || 0);
  if (!Number.isSafeInteger(limit) || limit < 0) {
    throw adminError('XCofferInvalidRequest', 'The parameter limit is a whole number, how many lines are shown.');
  }
  return { kinds: wanted, limit: limit === 0 ? Number.MAX_SAFE_INTEGER : limit };
}
