/** An error for the user. The message names the value and what to do; `cause` is the error of the system or the server. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: CliErrorCode;

  constructor(code: CliErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

type CliErrorCode =
  | 'BadAlias'
  | 'BadArgument'
  | 'BadConfig'
  /** The server or the system refused the command; `cause` has the reason. */
  | 'Failed'
  | 'NoSuchAlias'
  | 'NotFound'
  | 'NotReady'
  | 'Unsafe'
  /** The command has already reported each failure, so only the exit code is left. */
  | 'Reported';
