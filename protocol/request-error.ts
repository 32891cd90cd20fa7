import { CodedError } from './coded-error.ts';

/**
 * An error that a call of the admin API, of STS, of the console's API or of the key service is answered with. It is not an `S3Error`, whose
 * closed list of codes fixes status and message. Each API makes its errors with a function that knows its codes: `adminError`, `stsError`,
 * `consoleError`, `callError`. The caller sees `message`: it has values and claims, but no token or secret, and says what to do.
 * The answers of the key service do not have the code.
 */
export class RequestError extends CodedError {
  override readonly name = 'RequestError';
  readonly api: 'admin' | 'sts' | 'console' | 'key-service';
  /** The HTTP status of the answer. */
  readonly status: number;
  /** The field of a form that caused the error. */
  readonly field: string | undefined;
  /** Further headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    api: RequestError['api'],
    code: string,
    status: number,
    message: string,
    options: ErrorOptions & { readonly field?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(code, message, options);
    this.api = api;
    this.status = status;
    this.field = options.field;
    this.headers = options.headers ?? {};
  }
}
