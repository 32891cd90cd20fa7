import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { S3ErrorCode } from '../../protocol/s3/s3-error.ts';
import { answerError } from '../s3/error-answer.ts';

/** The code and message of what Node's parser refused, by the code of its error. */
const refusals: Readonly<Record<string, readonly [S3ErrorCode, string?]>> = {
  HPE_HEADER_OVERFLOW: ['RequestHeaderSectionTooLarge'],
  ERR_HTTP_REQUEST_TIMEOUT: ['RequestTimeout'],
};

/** The bytes that answer a request which could not even be parsed. The connection is closed after them. */
export function malformedAnswer(errorCode: string | undefined, requestId: string): string {
  const [code, message] = refusals[errorCode ?? ''] ?? ['InvalidRequest', 'The request is not valid HTTP/1.1.'];
  const answer = answerError(new S3Error(code, message), { method: '', rawPath: '/', requestId });
  const body = answer.body.kind === 'bytes' ? answer.body.bytes.toString() : '';
  return [
    'HTTP/1.1 400 Bad Request',
    'Server: Coffer',
    'Content-Type: application/xml',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `x-amz-request-id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
