import { S3Error } from '../../protocol/s3/s3-error.ts';
import { waitsForHeader, type WaitsFor } from '../../protocol/waits-for.ts';
import type { Answer, RequestHandler, IncomingRequest } from './contract/request.ts';
import { isMetricsPath } from '../observability/metrics/metrics-handler.ts';
import { asS3Error, hostId } from '../s3/answers.ts';

/** This server waits or goes: nothing failed. Its own log says once why; the requests that meet it say so only to who looks. */
export class NotServing extends S3Error {
  constructor() {
    super('ServiceUnavailable');
  }
}

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
function answerHealth(
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

interface FreezerLimits {
  /** Milliseconds that a request is held. A connection that is silent for longer is cut, which a client cannot tell from a crash. */
  readonly patienceMs?: number;
  /** Requests that are held at a time. */
  readonly most?: number;
}

/**
 * Holds requests while an administrator has frozen the server (`mc admin service freeze`): clients wait and notice nothing else. Who
 * waits for too long, or comes when many wait, is told to come again.
 */
export class Freezer {
  readonly #patienceMs: number;
  readonly #most: number;
  #thaw: PromiseWithResolvers<void> | undefined;
  #held = 0;

  constructor({ patienceMs = 60_000, most = 4_096 }: FreezerLimits = {}) {
    this.#patienceMs = patienceMs;
    this.#most = most;
  }

  set(frozen: boolean): void {
    if (frozen) this.#thaw ??= Promise.withResolvers();
    else {
      this.#thaw?.resolve();
      this.#thaw = undefined;
    }
  }

  /** The same room, behind it. */
  guard(handle: RequestHandler): RequestHandler {
    return (request) => (this.#thaw === undefined ? handle(request) : this.#wait().then(() => handle(request)));
  }

  async #wait(): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    if (this.#held >= this.#most) throw frozen();
    this.#held += 1;
    const timer = setTimeout(() => reject(frozen()), this.#patienceMs);
    try {
      // It may have been frozen again meanwhile.
      while (this.#thaw !== undefined) await Promise.race([this.#thaw.promise, late]);
    } finally {
      clearTimeout(timer);
      this.#held -= 1;
    }
  }
}

function frozen(): S3Error {
  return new S3Error('SlowDown', 'An administrator has frozen this server; try again later.');
}

/** The rooms behind the S3 port. */
export interface Rooms {
  readonly s3: RequestHandler;
  readonly sts: RequestHandler;
  readonly admin: RequestHandler;
}

interface DispatchOptions {
  readonly readiness: () => Readiness;
  /** Undefined as long as the server is not ready. */
  readonly rooms: () => Rooms | undefined;
  /** Answers before the server is ready, too. */
  readonly metrics: RequestHandler;
  /** The names of background tasks that fail, for probes. */
  readonly failingTasks?: () => readonly string[];
}

/** Which room a request is for. */
export function createDispatch({
  readiness,
  rooms,
  metrics,
  failingTasks = () => [],
}: DispatchOptions): RequestHandler {
  return async (request): Promise<Answer> => {
    const now = readiness();
    const health = answerHealth(request, now, failingTasks);
    if (health !== undefined) return health;
    if (isMetricsPath(request.rawPath)) return metrics(request);
    request.watch?.enters(roomOf(request));
    const open = rooms();
    if (now.kind === 'waiting' || now.kind === 'refusing' || open === undefined) throw new NotServing();
    return open[roomOf(request)](request);
  };
}

/** STS takes forms without a query, or its parameters in the query, on `POST /` alone. */
function roomOf({ method, rawPath, rawQuery, headers }: IncomingRequest): keyof Rooms {
  if (isAdminPath(rawPath)) return 'admin';
  if (method !== 'POST' || rawPath !== '/') return 's3';
  const isForm = /^application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '');
  return (isForm && rawQuery === '') || /(?:^|&)Action=/.test(rawQuery) ? 'sts' : 's3';
}

export function isAdminPath(rawPath: string): boolean {
  return rawPath.startsWith('/minio/admin/') || rawPath.startsWith('/minio/kms/');
}

/** Below `/minio/admin/` and `/minio/kms/` refusals are JSON with the field names of the XML. */
export function answerAdminError(error: unknown, request: IncomingRequest): Answer {
  const refusal = asS3Error(error);
  const document = {
    Code: refusal.wireCode,
    Message: refusal.message,
    ...refusal.details,
    Resource: request.rawPath,
    RequestId: request.requestId,
    HostId: hostId,
  };
  return {
    status: refusal.status,
    headers: { 'content-type': 'application/json' },
    body: { kind: 'bytes', bytes: Buffer.from(JSON.stringify(document)) },
  };
}
