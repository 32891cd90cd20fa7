/** The kinds of problems that stop a program or a command. */
export type ProgramErrorCode =
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
  /** A newer version wrote the data. */
  | 'newer-format'
  /** A command refuses its work, or it failed. The message has the reason. */
  | 'failed';

/**
 * A problem that the person who runs a program can solve. Programs print its message without a stack and exit.
 *
 * @example
 * throw new ProgramError('usage', '--key and --cert go together: give both or neither');
 */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
  readonly code: ProgramErrorCode;

  constructor(code: ProgramErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
