import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { redactText } from '../../../platform/output/redact-secrets.ts';
import type { FinishedRequest } from '../../http/contract/request.ts';
import { headersOfList } from '../../http/contract/request-audit.ts';

const hidden = '[redacted]';

/** Headers with SSE-C keys, cookies and session tokens. */
const secretHeader = /cookie|security-token|session-token|customer-key|password|secret/i;

/** Parameters of signed URLs and STS with secret values. */
const secretParameter = /signature|token|password|secret|customer-key|^code$/i;

/** Returns headers for a trace, without secret values. */
export function shownHeaders(headers: IncomingHttpHeaders | OutgoingHttpHeaders): Record<string, readonly string[]> {
  const shown = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    shown.set(
      canonicalName(name),
      [value].flat().map((one) => shownHeader(name, String(one))),
    );
  }
  return Object.fromEntries(shown);
}

/** Returns the name as Go writes it. Clients look for `Host`, and compare names by their letters. MinIO writes `ETag` in this way alone. */
function canonicalName(name: string): string {
  if (name.toLowerCase() === 'etag') return 'ETag';
  return name.toLowerCase().replaceAll(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

function shownHeader(name: string, value: string): string {
  if (name.toLowerCase() === 'authorization') {
    // The credential and the signed headers help in a trace; other schemes are secret as a whole.
    return value.startsWith('AWS4-HMAC-SHA256 ') ? value.replace(/Signature=[^,\s]*/i, `Signature=${hidden}`) : hidden;
  }
  return secretHeader.test(name) ? hidden : redactText(value);
}

/** Returns the query without the values of secret parameters. */
export function shownQuery(rawQuery: string): string {
  if (rawQuery === '') return '';
  return rawQuery
    .split('&')
    .map((part) => {
      const name = part.split('=', 1)[0] ?? '';
      return part.includes('=') && secretParameter.test(plain(name)) ? `${name}=${hidden}` : part;
    })
    .join('&');
}

function plain(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}

/** Trace types, one bit each, as clients know them. */
export const traceTypes = { s3: 4, internal: 8 } as const;

/** The status that Nginx uses for a client that disconnected. */
const clientClosed = 499;

export interface TraceLine {
  readonly type: number;
  readonly nodename: string;
  readonly funcname: string;
  /** Nanoseconds. */
  readonly dur: number;
  readonly error?: string;
  /** An open page of the console repeats this read by itself. Coffer's own. */
  readonly refresh?: true;
  readonly http: {
    readonly response: { readonly statuscode: number; readonly [field: string]: unknown };
    readonly [field: string]: unknown;
  };
}

/** Converts a finished request for `mc admin trace`, without body and secrets. */
export function traceLine(finished: FinishedRequest, node: string): TraceLine & Readonly<Record<string, unknown>> {
  const { request, api, operation, refusal } = finished;
  const time = new Date(finished.startedAt).toISOString();
  const dur = nanoseconds(finished.ms);
  const path = decoded(request.rawPath);
  return {
    type: api === 's3' ? traceTypes.s3 : traceTypes.internal,
    nodename: node,
    funcname: `${api}.${operation ?? 'Unknown'}`,
    time,
    path,
    dur,
    ...(refusal === undefined ? {} : { error: `${refusal.code}: ${refusal.message}` }),
    ...(finished.refresh === true ? { refresh: true } : {}),
    http: {
      request: {
        time,
        proto: 'HTTP/1.1',
        method: request.method,
        path,
        rawquery: shownQuery(request.rawQuery),
        headers: shownHeaders(request.headers),
        client: request.remoteAddress,
      },
      response: {
        time: new Date(finished.startedAt + finished.ms).toISOString(),
        headers: shownHeaders(headersOfList(finished.responseHeaders)),
        statuscode: finished.status === 0 || finished.outcome === 'canceled' ? clientClosed : finished.status,
      },
      stats: {
        inputbytes: finished.received,
        outputbytes: finished.sent,
        latency: dur,
        timetofirstbyte: nanoseconds(finished.firstByteMs ?? finished.ms),
      },
    },
  };
}

function nanoseconds(ms: number): number {
  return Math.round(ms * 1e6);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
