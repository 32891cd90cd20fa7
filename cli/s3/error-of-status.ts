import type { IncomingHttpHeaders } from 'node:http';
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
  return ofStatus[status] ?? [`Http${status}`, `The server answered with the status ${status}`];
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ResponseError && error.status === 404;
}
