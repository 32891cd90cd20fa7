import type { Answer, RequestHandler } from '../access/answer.ts';
import type { IncomingRequest } from '../access/incoming-request.ts';
import { answerHealth, type Readiness } from './health.ts';
import { isMetricsPath } from '../observability/metrics/metrics-handler.ts';
import { NotServing } from './not-serving.ts';

/** The rooms behind the S3 port. */
export interface Rooms {
  readonly s3: RequestHandler;
  readonly sts: RequestHandler;
  readonly admin: RequestHandler;
}

export interface DispatchOptions {
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
export function roomOf({ method, rawPath, rawQuery, headers }: IncomingRequest): keyof Rooms {
  if (isAdminPath(rawPath)) return 'admin';
  if (method !== 'POST' || rawPath !== '/') return 's3';
  const isForm = /^application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '');
  return (isForm && rawQuery === '') || /(?:^|&)Action=/.test(rawQuery) ? 'sts' : 's3';
}

export function isAdminPath(rawPath: string): boolean {
  return rawPath.startsWith('/minio/admin/') || rawPath.startsWith('/minio/kms/');
}
