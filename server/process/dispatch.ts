import type { Answer, RequestHandler, IncomingRequest } from '../http/contract/request.ts';
import { notServing } from '../http/contract/not-serving.ts';
import { answerError, asS3Error, hostId } from '../http/contract/error-answer.ts';
import type { Readiness } from './answer-health.ts';
import { answerHealth } from './answer-health.ts';

/** Reports if a path is one of MinIO's metrics. Those of versions 1 and 3 have other paths, names and labels. */
function isMetricsPath(rawPath: string): boolean {
  if (!rawPath.startsWith('/minio/')) return false;
  return /^\/minio\/(?:v2\/metrics\/(?:cluster|node|bucket|resource)$|(?:metrics\/v3|v[13]\/metrics|prometheus\/metrics)(?:\/|$))/.test(
    rawPath,
  );
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
    if (now.kind === 'waiting') throw notServing(now.waitsFor);
    if (now.kind === 'refusing' || open === undefined) throw notServing();
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
