import { followLines } from '../../platform/follow-lines.ts';
import { adminPath } from './admin-path.ts';
import { AdminError } from './admin-error.ts';
import { type LogEntry, logEntry } from './log-line.ts';
import { nowOf } from './now.ts';
import type { AdminAnswer, AdminCall, Route } from './route.ts';

/** `mc admin logs`: the last lines of this server's log, and those that come. */
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
  if (process === undefined) throw new AdminError('XCofferRefused', 'This server keeps no log to show.');
  const asked = askedOf(query, server.endpoint);
  const source = { deploymentId: server.deploymentId, node: server.endpoint };
  const wanted = (lines: readonly string[]) =>
    lines.map((line) => logEntry(line, source)).filter(({ errKind }) => asked.kinds.includes(errKind));
  const missing = (count: number): LogEntry => ({
    level: 'WARN',
    errKind: 'APPLICATION',
    time: nowOf(services).toISOString(),
    ConsoleMsg: `${count} lines are not shown: this client reads more slowly than they come`,
    node: server.endpoint,
  });
  const ring = process.log;
  return {
    kind: 'lines',
    async *lines(signal) {
      const end = ring.newest();
      const kept: LogEntry[] = [];
      let place = ring.oldest();
      while (place.line < end.line) {
        const read = ring.read(place);
        kept.push(...wanted(read.lines));
        place = read.next;
      }
      if (kept.length > 0) yield kept.slice(-asked.limit);
      for await (const { lines, lost } of followLines(ring, place, signal)) {
        const shown = wanted(lines);
        if (shown.length > 0 || lost > 0) yield lost === 0 ? shown : [missing(lost), ...shown];
      }
    },
  };
}

function askedOf(query: URLSearchParams, endpoint: string) {
  const type = (query.get('logType') || 'all').toLowerCase();
  const wanted = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  if (wanted === undefined) {
    throw new AdminError(
      'XCofferInvalidRequest',
      `The parameter logType is one of ${Object.keys(kinds).join(', ')}, not ${JSON.stringify(type.slice(0, 40))}.`,
    );
  }
  const node = query.get('node') ?? '';
  if (node !== '' && node !== endpoint && node !== endpoint.replace(/:\d+$/, '')) {
    const given = JSON.stringify(node.slice(0, 80));
    throw new AdminError(
      'XCofferInvalidRequest',
      `This server is ${endpoint} and shows its own log alone: ask ${given} itself.`,
    );
  }
  // None, and zero, is all there are.
  const limit = Number(query.get('limit') || 0);
  if (!Number.isSafeInteger(limit) || limit < 0) {
    throw new AdminError('XCofferInvalidRequest', 'The parameter limit is a whole number, how many lines are shown.');
  }
  return { kinds: wanted, limit: limit === 0 ? Number.MAX_SAFE_INTEGER : limit };
}
