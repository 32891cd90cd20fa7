import { CodedError } from '../../protocol/coded-error.ts';

/** The kinds of errors that stop a program or a command. */
type ProgramErrorCode =
  /** An argument or an address in the command line is wrong. */
  | 'usage'
  /** A setting of the environment, or the file of settings, is wrong. */
  | 'settings'
  /** A single value does not have the form that its setting or option has. */
  | 'invalid-value'
  /** A configuration file is wrong. */
  | 'configuration'
  /** A certificate, a private key or a bundle of authorities is unusable. */
  | 'tls-files'
  /** The file of records is missing or damaged. */
  | 'record-file'
  /** The server cannot listen on its address. The cause has the code of the system. */
  | 'listen'
  /** The address of a store is wrong. */
  | 'store-address'
  /** A folder of data cannot be used. */
  | 'data-folder'
  /** Another process uses the data. */
  | 'in-use'
  /** The stores belong to different deployments. */
  | 'deployment'
  /** Another server of the deployment runs with other settings. */
  | 'other-settings'
  /** A newer version wrote the data. */
  | 'newer-format'
  /** A command refuses its work, or it failed. The message has the reason. */
  | 'failed'
  | ClientErrorCode;

/** The codes of the client, in the style of S3: its JSON output shows them, as those of servers. */
type ClientErrorCode =
  | 'BadAlias'
  | 'BadArgument'
  | 'BadConfig'
  /** The server or the system refused the command; `cause` has the reason. */
  | 'Failed'
  | 'NoSuchAlias'
  /** A bucket has no lifecycle rules. The code is that of S3, which scripts read. */
  | 'NoSuchLifecycleConfiguration'
  | 'NotFound'
  | 'NotReady'
  | 'Unsafe'
  /** The identity of a server is not proven, and the user has not accepted it. */
  | 'Untrusted'
  /** The command has already reported each failure, so only the exit code is left. */
  | 'Reported';

/**
 * An error that the user of a program can solve. Programs print its message without a stack and exit; the client prints the message of
 * `cause`, too. It is not a `MaintenanceError`, which a request of an administrator gets as its answer while the program goes on.
 *
 * @example
 * throw new ProgramError('usage', '--key and --cert go together: give both or neither');
 */
export class ProgramError extends CodedError<ProgramErrorCode> {
  override readonly name = 'ProgramError';
  /** The exit code, where the program does not choose it by `code`. */
  readonly exitCode: number | undefined;

  constructor(
    code: ProgramErrorCode,
    message: string,
    options?: ErrorOptions & { readonly exitCode?: number | undefined },
  ) {
    super(code, message, options);
    this.exitCode = options?.exitCode;
  }
}
