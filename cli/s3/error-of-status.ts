import type { IncomingHttpHeaders } from 'node:http';
import { describeWait, readWaitsFor, waitsForHeader } from '../../protocol/waits-for.ts';
import { isMarkedAsS3 } from '../../protocol/s3/s3-answer.ts';
import { ResponseError } from '../../protocol/response-error.ts';

const ofStatus: Readonly<Record<number, readonly [code: string, message: string]>> = {
  301: ['PermanentRedirect', 'The bucket is addressed by another endpoint'],
  304: ['NotModified', 'Not modified'],
  // Other clients name these so.
  400: ['InvalidArgument', 'The server refused the request'],
  403: ['AccessDenied', 'Access Denied'],
  404: ['NotFound', 'The bucket or object does not exist'],
  405: ['MethodNotAllowed', 'The method is not allowed'],
  412: ['PreconditionFailed', 'A precondition did not hold'],
  416: ['InvalidRange', 'The range or part does not exist'],
  503: ['ServiceUnavailable', 'The server is not ready'],
};

/** The code and message of a response without an error document. Where the status says little, MinIO and Coffer say in headers what is wrong. */
export function errorOfStatus(
  status: number,
  headers: IncomingHttpHeaders = {},
): readonly [code: string, message: string] {
  const { 'x-minio-error-code': code, 'x-minio-error-desc': text } = headers;
  if (status === 400 && typeof code === 'string' && typeof text === 'string')
    return [code, text.replace(/^"(.*)"$/, '$1')];
  // A proxy answers 404 in place of the server, which says nothing about buckets and objects.
  if (status === 404 && !isMarkedAsS3(headers)) return [unproven, 'The answer 404 is not that of an S3 server'];
  const waitsFor = status === 503 ? readWaitsFor(headers[waitsForHeader]) : undefined;
  if (waitsFor !== undefined) return ['ServiceUnavailable', `The server is not ready: ${describeWait(waitsFor)}`];
  return ofStatus[status] ?? [`Http${status}`, `The server answered with the status ${status}`];
}

/** The code of a 404 that is not known to be that of the server. */
const unproven = 'Http404';

/** Reports whether the server says that a bucket or an object does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ResponseError && error.status === 404 && error.code !== unproven;
}

/** Reports whether an answer 404 may be that of a proxy. The document of the answer to a GET tells it. */
export function isUnproven(error: unknown): boolean {
  return error instanceof ResponseError && error.code === unproven;
}
