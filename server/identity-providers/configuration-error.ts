export type ConfigurationErrorCode =
  | 'exists'
  | 'no-such-name'
  | 'from-environment'
  /** What was given cannot be used. */
  | 'invalid'
  /** The provider cannot be used. */
  | 'unusable'
  | 'no-such-history'
  | 'no-such-subsystem'
  | 'busy';

/** A configuration that is refused. `message` is for the administrator: which key, which value, what to do; never a secret. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly code: ConfigurationErrorCode;
  constructor(code: ConfigurationErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
