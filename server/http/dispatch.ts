import { S3Error } from '../../protocol/s3/s3-error.ts';
import { waitsForHeader, type WaitsFor } from '../../protocol/waits-for.ts';
import type { Answer, RequestHandler, IncomingRequest } from './contract/request.ts';
import { answerError, asS3Error, hostId } from '../s3/answers.ts';

/**
 * Returns the error of a server that starts or stops. This is no failure: its own log gives the reason once, and each refused request is
 * logged only at the level debug.
 */
export function notServing(): S3Error {
  return new S3Error('ServiceUnavailable', undefined, { cause: starting });
}

const starting = Symbol('this server does not serve now');

/** Reports if an error is that of `notServing`. */
export function isNotServing(error: unknown): boolean {
  return error instanceof S3Error && error.cause === starting;
}

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
function answerHealth(
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

/** Reports if a path is one of MinIO's metrics. Those of versions 1 and 3 have other paths, names and labels. */
function isMetricsPath(rawPath: string): boolean {
  if (!rawPath.startsWith('/minio/')) return false;
  return /^\/minio\/(?:v2\/metrics\/(?:cluster|node|bucket|resource)$|(?:metrics\/v3|v[13]\/metrics|prometheus\/metrics)(?:\/|$))/.test(
    rawPath,
  );
}

function answer(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers, body: { kind: 'empty' } };
}

interface FreezerLimits {
  /** Milliseconds that a request is held. A longer silence would cut the connection, which looks like a crash to a client. */
  readonly timeoutMs?: number;
  /** The maximum number of held requests. */
  readonly maxHeld?: number;
}

/**
 * Holds requests while an administrator has frozen the server (`mc admin service freeze`). Clients only see a slow answer. A request that
 * waits for too long, or comes when too many wait, gets SlowDown.
 */
export class Freezer {
  readonly #timeoutMs: number;
  readonly #maxHeld: number;
  #thaw: PromiseWithResolvers<void> | undefined;
  #held = 0;

  constructor({ timeoutMs = 60_000, maxHeld = 4_096 }: FreezerLimits = {}) {
    this.#timeoutMs = timeoutMs;
    this.#maxHeld = maxHeld;
  }

  set(frozen: boolean): void {
    if (frozen) this.#thaw ??= Promise.withResolvers();
    else {
      this.#thaw?.resolve();
      this.#thaw = undefined;
    }
  }

  /** Wraps a handler, so that it gets no requests while the server is frozen. */
  guard(handle: RequestHandler): RequestHandler {
    return (request) => (this.#thaw === undefined ? handle(request) : this.#wait().then(() => handle(request)));
  }

  async #wait(): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    if (this.#held >= this.#maxHeld) throw frozen();
    this.#held += 1;
    const timer = setTimeout(() => reject(frozen()), this.#timeoutMs);
    try {
      // An administrator may have frozen the server again.
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

/** The handlers behind the S3 port. */
export interface Handlers {
  readonly s3: RequestHandler;
  readonly sts: RequestHandler;
  readonly admin: RequestHandler;
}

interface DispatchOptions {
  readonly readiness: () => Readiness;
  /** Undefined until the server is ready. */
  readonly handlers: () => Handlers | undefined;
  /** Answers also before the server is ready. */
  readonly metrics: RequestHandler;
  /** The names of the background tasks that fail, for probes. */
  readonly failingTasks?: () => readonly string[];
  /** The number of other servers of the deployment that live. */
  readonly others?: () => number;
}

/** Creates the handler that passes a request to the API that it is for. */
export function createDispatch({
  readiness,
  handlers,
  metrics,
  failingTasks = () => [],
  others = () => 0,
}: DispatchOptions): RequestHandler {
  return async (request): Promise<Answer> => {
    const now = readiness();
    // Below a bucket's own name every path is a key.
    const ofBucket = request.hostStyle?.kind === 'bucket';
    const health = ofBucket ? undefined : answerHealth(request, now, failingTasks, others);
    if (health !== undefined) return health;
    if (!ofBucket && isMetricsPath(request.rawPath)) return metrics(request);
    const api = apiOf(request);
    request.audit?.setApi(api);
    const open = handlers();
    if (now.kind === 'waiting' || now.kind === 'refusing' || open === undefined) throw notServing();
    return open[api](request);
  };
}

/** Returns the API that a request is for. STS accepts forms without a query, or parameters in the query, only on `POST /`. */
function apiOf(request: IncomingRequest): keyof Handlers {
  const { method, rawPath, rawQuery, headers } = request;
  if (request.hostStyle?.kind === 'bucket') return 's3';
  if (isAdminPath(rawPath)) return 'admin';
  if (method !== 'POST' || rawPath !== '/') return 's3';
  const isForm = /^application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '');
  return (isForm && rawQuery === '') || /(?:^|&)Action=/.test(rawQuery) ? 'sts' : 's3';
}

function isAdminPath(rawPath: string): boolean {
  return rawPath.startsWith('/minio/admin/') || rawPath.startsWith('/minio/kms/');
}

/** Returns the answer to a request that failed, in the form of its API. */
export function answerFailure(error: unknown, request: IncomingRequest): Answer {
  return apiOf(request) === 'admin' ? answerAdminError(error, request) : answerError(error, request);
}

/** Below `/minio/admin/` and `/minio/kms/` an error is JSON with the field names of the XML document. */
function answerAdminError(error: unknown, request: IncomingRequest): Answer {
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
