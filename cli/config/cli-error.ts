/** An error for the user. The message names the value and what to do; `cause` is the error of the system or the server. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: CliErrorCode;
  /** The exit code of the program if this error ends it. */
  readonly exitCode: number;

  constructor(code: CliErrorCode, message: string, options?: ErrorOptions & { readonly exitCode?: number }) {
    super(message, options);
    this.code = code;
    this.exitCode = options?.exitCode ?? 1;
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
  /** The identity of a server is not proven, and the user has not accepted it. */
  | 'Untrusted'
  /** The command has already reported each failure, so only the exit code is left. */
  | 'Reported';
