import { counted } from '../../../platform/text/message-text.ts';
import { adminPath, nowOf, type AdminAnswer, type AdminCall, type Route } from '../call.ts';
import { type TraceLine, traceTypes } from './trace-line.ts';
import { askedServers } from '../../administration/other-servers.ts';
import { mergedLines, namesOf } from './merged-lines.ts';
import { adminError } from '../../administration/admin-error.ts';

/** Milliseconds. */
const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Parses a Go duration to milliseconds: `1m30s`, `1.5s`, `100µs`, `0`. Returns undefined for other texts.
 *
 * @see https://pkg.go.dev/time#ParseDuration
 */
export function goDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(?:\d{1,15}(?:\.\d{0,9})?(?:ns|us|µs|μs|ms|s|m|h)){1,8}$/.test(text)) return undefined;
  let sum = 0;
  for (const [, amount, unit = ''] of text.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    sum += Number(amount) * (units[unit] ?? 0);
  }
  return sum;
}

/** `mc admin trace`: requests of all servers as they finish, or of the one that `node` names. */
export const traceRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: adminPath('trace'),
    action: 'admin:ServerTrace',
    serve: (call) => Promise.resolve(trace(call)),
  },
];

function trace({ services, query }: AdminCall): AdminAnswer {
  const traced = services.process;
  if (traced === undefined) throw adminError('XCofferRefused', 'This server has no process to trace.');
  const wanted = wantedOf(query);
  const servers = askedServers(services, namesOf(query, 'node'));
  const lineWithout = (nodename: string, msg: string) => ({
    type: wanted.types,
    nodename,
    funcname: 'trace.Lost',
    time: nowOf(services).toISOString(),
    path: '',
    dur: 0,
    msg,
  });
  const own = async function* (signal: AbortSignal) {
    for await (const { lines, dropped } of traced.trace(signal)) {
      const shown = lines.map((line) => JSON.parse(line) as TraceLine).filter((line) => isWanted(line, wanted));
      if (dropped === 0 && shown.length === 0) continue;
      const lost = `${counted(dropped, 'request is', 'requests are')} not shown: this client reads more slowly than requests come`;
      yield dropped === 0 ? shown : [lineWithout(services.server.endpoint, lost), ...shown];
    }
  };
  const others = {
    servers,
    call: () => ({ call: 'trace', query: Object.fromEntries(query) }),
    missing: (endpoint: string, reason: string) =>
      lineWithout(endpoint, `its requests are not shown: ${reason}; they are asked for again`),
  };
  return { kind: 'lines', lines: (signal) => mergedLines({ own, ...others }, signal) };
}

interface WantedTraces {
  /** Bits of `traceTypes`. */
  readonly types: number;
  readonly errorsAlone: boolean;
  /** False to leave out the reads that open pages of the console repeat by themselves, unless they fail. */
  readonly refreshes: boolean;
  readonly thresholdMs: number;
}

/** Parses the filter of a client. Trace types without requests are accepted and match nothing. */
export function wantedOf(query: URLSearchParams): WantedTraces {
  const asks = (name: string) => query.get(name) === 'true';
  const all = asks('all');
  const threshold = query.get('threshold') || '0';
  const thresholdMs = goDuration(threshold);
  if (thresholdMs === undefined) {
    throw adminError(
      'XCofferInvalidRequest',
      `The parameter threshold is ${JSON.stringify(threshold.slice(0, 40))}: expected a duration such as 5ms or 1m30s.`,
    );
  }
  const types = (all || asks('s3') ? traceTypes.s3 : 0) | (all || asks('internal') ? traceTypes.internal : 0);
  return { types, errorsAlone: asks('err'), refreshes: query.get('refreshes') !== 'left-out', thresholdMs };
}

export function isWanted({ type, dur, error, refresh, http }: TraceLine, wanted: WantedTraces): boolean {
  if ((type & wanted.types) === 0 || dur < wanted.thresholdMs * 1e6) return false;
  if (error !== undefined || http.response.statuscode >= 400) return true;
  return !wanted.errorsAlone && (wanted.refreshes || refresh !== true);
}
