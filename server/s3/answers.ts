import { type Answer, type AnswerBody, type IncomingRequest, resourcePath } from '../http/contract/request.ts';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { Abortion, ObjectInfo } from '../objects/object-layer.ts';
import { translateFailure } from '../objects/operations/translate-failure.ts';
import { writeErrorDocument } from '../../protocol/s3/responses.ts';

const empty: AnswerBody = { kind: 'empty' };

export function xmlAnswer(document: string, headers: Readonly<Record<string, string>> = {}, status = 200): Answer {
  return {
    status,
    headers: { 'content-type': 'application/xml', ...headers },
    body: { kind: 'bytes', bytes: Buffer.from(document) },
  };
}

export function emptyAnswer(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers, body: empty };
}

/**
 * Returns the headers with the version that a write created, and with its expiration. As in S3, a write into a bucket with suspended
 * versioning, whose version is `null`, names none.
 */
export function createdHeaders({
  versionId,
  expiration,
}: Pick<ObjectInfo, 'versionId' | 'expiration'>): Record<string, string> {
  return {
    ...(versionId !== undefined && versionId !== 'null' && { 'x-amz-version-id': versionId }),
    ...(expiration && { 'x-amz-expiration': expirationHeader(expiration) }),
  };
}

/**
 * Writes the value of `x-amz-expiration`.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
 */
export function expirationHeader({ date, ruleId }: NonNullable<ObjectInfo['expiration']>): string {
  return `expiry-date="${date.toUTCString()}", rule-id="${encodeURIComponent(ruleId)}"`;
}

/** Returns the headers with the time when a lifecycle rule aborts an upload. */
export function abortionHeaders(abortion: Abortion | undefined): Record<string, string> {
  if (abortion === undefined) return {};
  return {
    'x-amz-abort-date': abortion.date.toUTCString(),
    'x-amz-abort-rule-id': encodeURIComponent(abortion.ruleId),
  };
}

/** Returns the header with the version of the source of a copy; none where its bucket never had versions. */
export function sourceVersion({ sourceVersionId }: { readonly sourceVersionId?: string }): Record<string, string> {
  return sourceVersionId === undefined ? {} : { 'x-amz-copy-source-version-id': sourceVersionId };
}

export function quoted(etag: string): string {
  return `"${etag}"`;
}

/**
 * Returns the S3 error that the client gets for any failure. A defect becomes an InternalError without its message; the cause stays
 * attached for the log.
 */
export function asS3Error(error: unknown): S3Error {
  const known = translateFailure(error);
  return known instanceof S3Error ? known : new S3Error('InternalError', undefined, { cause: error });
}

/** The value of `x-amz-id-2`. All servers send the same one. */
export const hostId = 'coffer';

/**
 * The time after which a client may retry: in seconds for every client, and in milliseconds for the AWS SDKs, which wait for five seconds
 * at most. A single server that restarts is back by then.
 */
const retryHeaders = { 'retry-after': '5', 'x-amz-retry-after': '5000' };

/** Returns the answer to a request that failed. */
export function answerError(
  error: unknown,
  request: Pick<IncomingRequest, 'method' | 'rawPath' | 'requestId' | 'hostStyle'>,
): Answer {
  const refusal = asS3Error(error);
  const headers: Record<string, string> = { ...refusal.headers };
  if (refusal.status === 503) Object.assign(headers, retryHeaders);
  const objectSize = refusal.code === 'InvalidRange' ? refusal.details['ActualObjectSize'] : undefined;
  if (objectSize !== undefined) headers['content-range'] = `bytes */${objectSize}`;
  if (refusal.status === 304) return { status: 304, headers, body: { kind: 'empty' } };
  if (request.method === 'HEAD') {
    Object.assign(headers, errorHeaders(refusal));
    return { status: refusal.status, headers, body: { kind: 'empty' } };
  }
  headers['content-type'] = 'application/xml';
  return { status: refusal.status, headers, body: { kind: 'bytes', bytes: Buffer.from(document(refusal, request)) } };
}

/** An answer to HEAD has no body. MinIO describes the error in these headers, and its clients read them. */
function errorHeaders({ wireCode, message }: S3Error): Record<string, string> {
  return { 'x-minio-error-code': wireCode, 'x-minio-error-desc': `"${message.replace(/[^ !#-~]/g, '?')}"` };
}

function document(
  error: S3Error,
  request: Pick<IncomingRequest, 'method' | 'rawPath' | 'requestId' | 'hostStyle'>,
): string {
  // The object layer, which refuses to read a delete marker, does not know the method.
  const more: Record<string, string> = error.code === 'MethodNotAllowed' ? { Method: request.method } : {};
  return writeErrorDocument(error, more, { resource: resourcePath(request), requestId: request.requestId, hostId });
}

/** Each XML document of this server begins with these bytes. XML allows whitespace only after them. */
const xmlDeclaration = Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n');

/**
 * Returns an answer that may take minutes, for operations whose clients expect that an error may follow the status 200.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
 */
export function slowAnswer(work: Promise<Answer>, onError: (error: unknown) => Answer): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body: { kind: 'slow', early: xmlDeclaration, result: work.catch(onError) },
  };
}

export function versionHeader({ versionId }: { readonly versionId?: string }): Record<string, string> {
  return versionId === undefined ? {} : { 'x-amz-version-id': versionId };
}
