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

/** The code and message of a response without an error document. */
export function errorOfStatus(status: number): readonly [code: string, message: string] {
  return ofStatus[status] ?? [`Http${status}`, `The server answered with the status ${status}`];
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ResponseError && error.status === 404;
}
