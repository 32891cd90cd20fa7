/** A refusal of the server, in its own words. */
export class S3ResponseError extends Error {
  override readonly name = 'S3ResponseError';
  readonly status: number;
  /** e.g. `NoSuchKey`; made from the status where the server gave no document, as for HEAD. */
  readonly code: string;
  /** Elements of the error document. */
  readonly fields: Readonly<Record<string, string>>;
  /** How often the request was sent: above 1, an earlier one may have succeeded unseen. */
  readonly attempts: number;

  constructor(
    status: number,
    code: string,
    message: string,
    fields: Readonly<Record<string, string>>,
    attempts: number,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = fields;
    this.attempts = attempts;
  }
}

const ofStatus: Readonly<Record<number, readonly [code: string, message: string]>> = {
  301: ['PermanentRedirect', 'The bucket is addressed by another endpoint'],
  304: ['NotModified', 'Not modified'],
  400: ['BadRequest', 'The server refused the request'],
  403: ['AccessDenied', 'Access Denied'],
  404: ['NotFound', 'The bucket or object does not exist'],
  405: ['MethodNotAllowed', 'The method is not allowed'],
  412: ['PreconditionFailed', 'A precondition did not hold'],
  503: ['ServiceUnavailable', 'The server is not ready'],
};

/** For answers without an error document. */
export function errorOfStatus(status: number): readonly [code: string, message: string] {
  return ofStatus[status] ?? [`Http${status}`, `The server answered with the status ${status}`];
}

export function isNotFound(error: unknown): boolean {
  return error instanceof S3ResponseError && error.status === 404;
}
