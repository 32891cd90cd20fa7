import { writeErrorDocument } from '../../protocol/s3/error-document.ts';
import type { S3Error } from '../../protocol/s3/s3-error.ts';
import type { Answer } from '../access/answer.ts';
import type { IncomingRequest } from '../access/incoming-request.ts';
import { asS3Error } from './as-s3-error.ts';

/** Stands for the host that answered; every replica says the same. */
export const hostId = 'coffer';

/**
 * When a client may come again: in seconds for everyone, and in milliseconds for the clients of AWS, which wait so long (five seconds at
 * most) before their next attempt. A lone server that restarts is back by then.
 */
const comeAgain = { 'retry-after': '5', 'x-amz-retry-after': '5000' };

/** What a request is answered that failed, whatever the failure was. */
export function answerError(
  error: unknown,
  request: Pick<IncomingRequest, 'method' | 'rawPath' | 'requestId'>,
): Answer {
  const refusal = asS3Error(error);
  const headers: Record<string, string> = {};
  if (refusal.status === 503) Object.assign(headers, comeAgain);
  const objectSize = refusal.code === 'InvalidRange' ? refusal.details['ActualObjectSize'] : undefined;
  if (objectSize !== undefined) headers['content-range'] = `bytes */${objectSize}`;
  if (refusal.status === 304) return { status: 304, headers, body: { kind: 'empty' } };
  if (request.method === 'HEAD') {
    Object.assign(headers, described(refusal));
    return { status: refusal.status, headers, body: { kind: 'empty' } };
  }
  headers['content-type'] = 'application/xml';
  return { status: refusal.status, headers, body: { kind: 'bytes', bytes: Buffer.from(document(refusal, request)) } };
}

/** An answer to HEAD has no body: MinIO says there what went wrong, and its clients read it. */
function described({ wireCode, message }: S3Error): Record<string, string> {
  return { 'x-minio-error-code': wireCode, 'x-minio-error-desc': `"${message.replace(/[^ !#-~]/g, '?')}"` };
}

function document(error: S3Error, request: Pick<IncomingRequest, 'rawPath' | 'requestId'>): string {
  return writeErrorDocument(error, { resource: request.rawPath, requestId: request.requestId, hostId });
}
