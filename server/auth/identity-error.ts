import { CodedError } from '../../protocol/coded-error.ts';

/** The codes of a failed call of the LDAP directory. */
const directoryErrorCodes = [
  /** The name or the password is wrong, or the account is locked. The message does not say which. */
  'sign-in-refused',
  /** The filter finds several users. */
  'ambiguous-user',
  /** The directory does not answer, or answers unexpectedly. */
  'directory-unavailable',
  'no-directory',
] as const;

export type DirectoryErrorCode = (typeof directoryErrorCodes)[number];

/** Stable codes of errors about identities and configurations of providers. The admin API translates them to its own codes. */
export type IdentityErrorCode =
  | 'no-such-user'
  | 'no-such-group'
  | 'no-such-policy'
  | 'no-such-service-account'
  | 'access-key-in-use'
  | 'invalid-access-key'
  | 'invalid-secret-key'
  | 'invalid-name'
  | 'invalid-expiration'
  | 'group-exists'
  | 'group-not-empty'
  | 'policy-in-use'
  | 'policy-changed'
  | 'policy-built-in'
  | 'nothing-to-change'
  | 'too-many-guesses'
  // Configurations of providers
  | 'configuration-exists'
  | 'no-such-configuration'
  | 'from-environment'
  | 'invalid-configuration'
  | 'unusable-provider'
  | 'provider-unavailable'
  | 'no-such-history'
  | 'no-such-subsystem'
  | 'busy'
  | DirectoryErrorCode;

/**
 * A rejected change of identities or configurations, or a rejected sign-in. `message` says what is wrong, with which value, and what to do.
 * It contains no secret. It is not a `RequestError`, since each API that gets it has its own code and status for it.
 */
export class IdentityError extends CodedError<IdentityErrorCode> {
  override readonly name = 'IdentityError';
  /** The seconds until the next attempt, for `too-many-guesses`; 0 for other codes. */
  readonly waitSeconds: number;

  constructor(code: IdentityErrorCode, message: string, options?: ErrorOptions & { readonly waitSeconds?: number }) {
    super(code, message, options);
    this.waitSeconds = options?.waitSeconds ?? 0;
  }
}

/** Reports if a call of the LDAP directory failed. Other errors of identities, such as that of a stored configuration, are none. */
export function isDirectoryError(error: unknown): error is IdentityError & { readonly code: DirectoryErrorCode } {
  return error instanceof IdentityError && directoryErrorCodes.some((code) => code === error.code);
}
