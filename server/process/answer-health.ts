import type { WaitsFor } from '../../protocol/waits-for.ts';
import type { IncomingRequest, Answer } from '../http/contract/request.ts';
import { waitsForHeader } from '../../protocol/waits-for.ts';

/**
 * The state of this server; `reason` explains what it waits for. A `serving` thread answers requests while another thread may not do so
 * yet, so probes still fail. A `stopping` server answers requests and wants no new clients. A `refusing` server only finishes the requests
 * that have begun. An `impaired` server answers requests, of which some fail: writes need what it waits for.
 */
export type Readiness =
  | { readonly kind: 'serving' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'refusing' }
  | { readonly kind: 'waiting'; readonly waitsFor: WaitsFor; readonly reason: string }
  | { readonly kind: 'impaired'; readonly waitsFor: WaitsFor; readonly reason: string };

const checks: Readonly<Record<string, 'live' | 'ready' | 'cluster'>> = {
  live: 'live',
  ready: 'ready',
  cluster: 'cluster',
  'cluster/read': 'cluster',
};

/**
 * Answers the probes; undefined for any other request. Signed requests below `/health/` address a bucket of that name.
 *
 * `live` is 200 as long as this process answers: a failed probe restarts it, which never helps against a missing key service. `ready` lists
 * the background tasks that fail in a header; they affect no request. While the server is not ready, a header names the dependency that it
 * waits for. The reason contains addresses and names, so it is only in the log. `cluster?maintenance=true` asks whether this server may be stopped:
 * 412 if no other one serves its requests.
 */
export function answerHealth(
  request: IncomingRequest,
  readiness: Readiness,
  failingTasks: () => readonly string[],
  others: () => number,
): Answer | undefined {
  const check = checkOf(request);
  if (check === undefined) return undefined;
  if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405);
  if (check === 'live' || readiness.kind === 'ready') {
    const failing = check === 'ready' ? failingTasks() : [];
    if (failing.length > 0) return answer(200, { 'x-coffer-failing-tasks': failing.join(', ') });
    if (check !== 'cluster') return answer(200);
    const isMissed = new URLSearchParams(request.rawQuery).get('maintenance') === 'true' && others() === 0;
    return answer(isMissed ? 412 : 200, { 'x-minio-write-quorum': '1', 'x-minio-read-quorum': '1' });
  }
  const waitsFor = waitsForOf(readiness);
  return answer(503, { 'retry-after': '5', ...(waitsFor === undefined ? {} : { [waitsForHeader]: waitsFor }) });
}

/** Returns the dependency that the server waits for; undefined if it stops. */
function waitsForOf(readiness: Exclude<Readiness, { readonly kind: 'ready' }>): WaitsFor | undefined {
  switch (readiness.kind) {
    case 'waiting':
    case 'impaired':
      return readiness.waitsFor;
    case 'serving':
      return 'start';
    case 'stopping':
    case 'refusing':
      return undefined;
    default:
      return readiness satisfies never;
  }
}

function checkOf({ rawPath, rawQuery, headers }: IncomingRequest): 'live' | 'ready' | 'cluster' | undefined {
  if (!rawPath.startsWith('/minio/') && !rawPath.startsWith('/health/')) return undefined;
  const path = /^(\/minio)?\/health\/([a-z/]+)$/.exec(rawPath);
  if (path === null) return undefined;
  if (path[1] === undefined && (headers.authorization !== undefined || /X-Amz-|AWSAccessKeyId=/i.test(rawQuery)))
    return undefined;
  return checks[path[2] ?? ''];
}

function answer(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers, body: { kind: 'empty' } };
}
