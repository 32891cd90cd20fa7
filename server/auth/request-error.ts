/**
 * An error that a call of the admin API, of STS or of the console's API is answered with. The S3 API and its codes have `S3Error`. Each
 * API makes its errors with a function that knows its codes: `adminError`, `stsError`, `consoleError`. The caller sees `message`: it has
 * values and claims, but no token or secret, and says what to do.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly api: 'admin' | 'sts' | 'console';
  readonly code: string;
  /** The HTTP status of the answer. */
  readonly status: number;
  /** The field of a form that caused the error. */
  readonly field: string | undefined;

  constructor(
    api: RequestError['api'],
    code: string,
    status: number,
    message: string,
    options?: ErrorOptions & { readonly field?: string },
  ) {
    super(message, options);
    this.api = api;
    this.code = code;
    this.status = status;
    this.field = options?.field;
  }
}
