import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { isMissingBody } from '../../objects/records/damage.ts';
import { translateFailure } from '../../objects/operations/translate-failure.ts';
import type { IncomingRequest, Answer } from './request.ts';
import { writeErrorDocument } from '../../../protocol/s3/responses.ts';
import { resourcePath } from './request.ts';

/**
 * Returns the S3 error that the client gets for any failure. A defect becomes an InternalError without its message; the cause stays
 * attached for the log.
 */
export function asS3Error(error: unknown): S3Error {
  const known = translateFailure(error);
  if (known instanceof S3Error) return known;
  return new S3Error('InternalError', isMissingBody(error) ? missingBytes : undefined, { cause: error });
}

/** The object exists, so that it is no NoSuchKey. The cause in the log names the place. */
const missingBytes =
  'The stored bytes of this object are missing. The log of the server says where. Unless they come back there, restore the object from a backup, or upload it again.';

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

export function document(
  error: S3Error,
  request: Pick<IncomingRequest, 'method' | 'rawPath' | 'requestId' | 'hostStyle'>,
): string {
  // The object layer, which refuses to read a delete marker, does not know the method.
  const more: Record<string, string> = error.code === 'MethodNotAllowed' ? { Method: request.method } : {};
  return writeErrorDocument(error, more, { resource: resourcePath(request), requestId: request.requestId, hostId });
}
