import { CodedError } from './coded-error.ts';

/**
 * Another program answered a call with an error, or did not answer. The client, the operator's calls of tenants, the calls between sites and
 * the transfers and the page of the console share it. It is not a `RequestError`, which is an error of this program.
 * The code is that of the answer, for example `NoSuchKey`; the caller chooses it where the answer has none, or none came.
 */
export class ResponseError extends CodedError {
  override readonly name = 'ResponseError';
  /** The HTTP status; 0 if no answer came. */
  readonly status: number;
  /** The elements of the error document. */
  readonly fields: Readonly<Record<string, string>>;
  /** The number of attempts. Above 1 an earlier attempt may have succeeded. */
  readonly attempts: number;

  constructor(
    code: string,
    message: string,
    {
      status = 0,
      fields = {},
      attempts = 1,
      ...options
    }: ErrorOptions & {
      readonly status?: number;
      readonly fields?: Readonly<Record<string, string>>;
      readonly attempts?: number;
    } = {},
  ) {
    super(code, message, options);
    this.status = status;
    this.fields = fields;
    this.attempts = attempts;
  }
}
