/** A failure as a person sees it: what was wrong with which value, and what to do. `cause` is what the system or server said. */
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
  /** A command that a server or the system did not let through: `cause` says why. */
  | 'Failed'
  | 'NoSuchAlias'
  | 'NotFound'
  | 'NotReady'
  | 'Unsafe'
  /** Failures of single arguments, each reported already: the exit code is all that is left. */
  | 'Reported';
