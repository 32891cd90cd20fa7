import type { FinishedRequest } from '../access/request-events.ts';
import { shownHeaders, shownQuery } from './shown-request.ts';

/** What a trace is of: one bit each, as clients know them. */
export const traceTypes = { s3: 4, internal: 8 } as const;

/** Nginx' status for a client that went away. */
const clientClosed = 499;

export interface TraceLine {
  readonly type: number;
  readonly nodename: string;
  readonly funcname: string;
  /** Nanoseconds. */
  readonly dur: number;
  readonly error?: string;
  readonly http: {
    readonly response: { readonly statuscode: number; readonly [field: string]: unknown };
    readonly [field: string]: unknown;
  };
}

/** A request that is over, as `mc admin trace` reads it: no body, and nothing that lets anybody in. */
export function traceLine(finished: FinishedRequest, node: string): TraceLine & Readonly<Record<string, unknown>> {
  const { request, room, operation, refusal } = finished;
  const time = new Date(finished.startedAt).toISOString();
  const dur = nanoseconds(finished.ms);
  const path = decoded(request.rawPath);
  return {
    type: room === 's3' ? traceTypes.s3 : traceTypes.internal,
    nodename: node,
    funcname: `${room}.${operation ?? 'Unknown'}`,
    time,
    path,
    dur,
    ...(refusal === undefined ? {} : { error: `${refusal.code}: ${refusal.message}` }),
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
        headers: shownHeaders(finished.responseHeaders),
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
