import type { BodyMemory } from '../streams/body-memory.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { verifiedBody } from '../auth/verified-body.ts';
import type { SessionS3, SessionS3Answer, SessionS3Call, SessionS3Operation } from '../console/services.ts';
import { readXml, textOf } from '../../protocol/s3/xml-reader.ts';
import { createS3Api, type S3Services } from '../s3/s3-api.ts';
import { CrossOrigin } from '../s3/cross-origin.ts';
import type { Answer, IncomingRequest, RequestEvents, RequestHandler } from '../http/contract/request.ts';
import { listOfHeaders, RequestAudit } from '../http/contract/request-audit.ts';
import { MessageBody } from '../http/message-body.ts';
import { sendAnswer } from '../http/send-answer.ts';
import { answerError, asS3Error } from '../http/contract/error-answer.ts';
import { WatchedAccess, requestOf, type WatchableAccess } from './session-request.ts';

/** The services that the S3 API of sessions shares with the HTTP threads. */
export type SharedS3Services = Pick<
  S3Services,
  | 'objects'
  | 'region'
  | 'hasRegion'
  | 'clock'
  | 'cannedAcls'
  | 'customerKeysWithoutTls'
  | 'queryBudget'
  | 'notificationTargets'
  | 'replications'
>;

type Services = SharedS3Services & {
  readonly access: WatchableAccess;
  /** The shared count of the bodies in memory. */
  readonly bodies?: BodyMemory;
  /** Observers of the operations of background work. */
  readonly auditEvents?: RequestEvents;
};

/**
 * Runs operations of the S3 API for sessions of the console. The session takes the place of the signature; parsing, authorization, object
 * lock and answers are those of the S3 API, so that the console can do nothing that an S3 client with the same credentials could not do.
 */
export function createSessionS3(services: Services): SessionS3 {
  const crossOrigin = new CrossOrigin(services.objects, []);
  const apiOf = ({ principal }: Pick<SessionS3Call, 'principal'>, access: WatchedAccess) =>
    createS3Api({
      ...services,
      crossOrigin,
      access,
      authenticate: (request, headers = request.headers) =>
        Promise.resolve({ principal, ...verifiedBody(request, headers, undefined) }),
      authenticateForm: () => Promise.resolve(undefined),
    });
  return {
    async serve(message, response, call) {
      const body = new MessageBody(message, response, false, services.bodies);
      const access = new WatchedAccess(services.access);
      try {
        const answer = await apiOf(call, access)(requestOf(message, body, call, pathOf(call)));
        const replaced = { ...answer, headers: { ...answer.headers, ...call.headers } };
        await sendAnswer(message, response, replaced, { requestId: call.requestId });
      } catch (error) {
        const refusal = asS3Error(error);
        if (refusal.code !== 'AccessDenied' || access.denied === undefined || response.headersSent) throw refusal;
        throw new S3Error('AccessDenied', await call.explain(access.denied), { cause: refusal.cause });
      } finally {
        body.release();
      }
    },
    async run(operation) {
      const access = new WatchedAccess(services.access);
      const answer = await runOperation(apiOf(operation, access), operation, services.auditEvents);
      return answer.error?.code === 'AccessDenied' ? { ...answer, denied: access.denied } : answer;
    },
  };
}

/** Runs an operation without a connection. Audit log and traces get it as an operation of the console. */
async function runOperation(
  api: RequestHandler,
  operation: SessionS3Operation,
  events: RequestEvents | undefined,
): Promise<SessionS3Answer> {
  const audit = events?.hasSubscribers === true ? new RequestAudit(noConnection) : undefined;
  audit?.setApi('console');
  const { requestId, method, rawQuery, body, origin } = operation;
  const request: IncomingRequest = {
    requestId,
    method,
    rawPath: pathOf(operation),
    rawQuery,
    headers: { ...operation.headers, 'content-length': String(Buffer.byteLength(body)) },
    body: bodyOf(body),
    secure: origin.secure,
    remoteAddress: origin.remoteAddress,
    audit,
  };
  const finish = (status: number, headers: Answer['headers']): void => {
    if (audit === undefined) return;
    const end = { status, outcome: 'answered', firstByteMs: undefined } as const;
    events?.emit(audit.finish(request, { ...end, responseHeaders: listOfHeaders(headers) }));
  };
  let answer: Answer;
  let document: Buffer;
  try {
    answer = await answered(api, request);
    document = await documentOf(answer);
  } catch (error) {
    const refusal = asS3Error(error);
    audit?.setError(refusal);
    finish(refusal.status, {});
    throw refusal;
  }
  finish(answer.status, answer.headers);
  const error = answer.status < 400 ? undefined : errorOf(answer, document);
  return { headers: answer.headers, document, ...(error !== undefined && { error }) };
}

function bodyOf(text: string): IncomingRequest['body'] {
  return {
    async pipe(take) {
      if (text !== '') await take(Buffer.from(text));
    },
  };
}

const noConnection = { rawHeaders: [], complete: true, socket: { bytesRead: 0, bytesWritten: 0 } };

async function answered(api: RequestHandler, request: IncomingRequest): Promise<Answer> {
  try {
    const answer = await api(request);
    return answer.body.kind === 'slow' ? await answer.body.result : answer;
  } catch (error) {
    const refusal = asS3Error(error);
    request.audit?.setError(refusal);
    if (refusal.code === 'InternalError') throw refusal;
    return answerError(refusal, request);
  }
}

async function documentOf({ body }: Answer): Promise<Buffer> {
  if (body.kind === 'bytes') return body.bytes;
  // The size of an object is in the headers.
  if (body.kind === 'chunks' || body.kind === 'stream') await body.chunks.close();
  return Buffer.alloc(0);
}

function errorOf({ status, headers }: Answer, document: Buffer): NonNullable<SessionS3Answer['error']> {
  const root = document.length === 0 ? undefined : readXml(document, { maxBytes: 1_000_000 });
  const text = (name: string) => root && textOf(root, name);
  return {
    code: text('Code') ?? headers['x-minio-error-code'] ?? String(status),
    message: text('Message') ?? headers['x-minio-error-desc'] ?? `The server answered ${status}.`,
  };
}

export function pathOf({ bucket, key }: Pick<SessionS3Call, 'bucket' | 'key'>): string {
  const path = key === undefined ? '' : `/${encodeURIComponent(key).replaceAll('%2F', '/')}`;
  return `/${encodeURIComponent(bucket)}${path}`;
}
