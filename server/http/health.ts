import { waitsForHeader, type WaitsFor } from '../../protocol/health/waits-for.ts';
import type { Answer } from '../access/answer.ts';
import type { IncomingRequest } from '../access/incoming-request.ts';

/**
 * Whether this server can serve; `reason` says what it waits for. A thread that is `serving` serves while another may not yet: no
 * probe is told. One that stops serves on, and wants no new clients; in the end it finishes only what it has begun.
 */
export type Readiness =
  | { readonly kind: 'serving' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'stopping' }
  | { readonly kind: 'refusing' }
  | { readonly kind: 'waiting'; readonly waitsFor: WaitsFor; readonly reason: string };

const checks: Readonly<Record<string, 'live' | 'ready' | 'cluster'>> = {
  live: 'live',
  ready: 'ready',
  cluster: 'cluster',
  'cluster/read': 'cluster',
};

/**
 * Answers the probes; undefined for any other request. Signed requests below `/health/` are for a bucket of that name.
 *
 * `live` is 200 as long as this process answers at all: a probe that fails restarts it, which never helps against a missing key
 * service. `ready` names the background tasks that fail, in a header: they hinder no request. While the server is not ready a header has
 * the word for what it waits for, and never the reason: that has addresses and names, and is for the log.
 */
export function answerHealth(
  request: IncomingRequest,
  readiness: Readiness,
  failingTasks: () => readonly string[] = () => [],
): Answer | undefined {
  const check = checkOf(request);
  if (check === undefined) return undefined;
  if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405);
  if (check === 'live' || readiness.kind === 'ready') {
    const failing = check === 'ready' ? failingTasks() : [];
    if (failing.length > 0) return answer(200, { 'x-coffer-failing-tasks': failing.join(', ') });
    return answer(200, check === 'cluster' ? { 'x-minio-write-quorum': '1', 'x-minio-read-quorum': '1' } : {});
  }
  const waitsFor = waitsForOf(readiness);
  return answer(503, { 'retry-after': '5', ...(waitsFor === undefined ? {} : { [waitsForHeader]: waitsFor }) });
}

/** Undefined of a server that waits for nothing: one that stops. */
function waitsForOf(readiness: Exclude<Readiness, { readonly kind: 'ready' }>): WaitsFor | undefined {
  switch (readiness.kind) {
    case 'waiting':
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
  if (path[1] === undefined && (headers.authorization !== undefined || /[?&]?X-Amz-/i.test(rawQuery))) return undefined;
  return checks[path[2] ?? ''];
}

function answer(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers, body: { kind: 'empty' } };
}
