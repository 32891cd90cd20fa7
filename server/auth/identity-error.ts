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
  | 'no-such-history'
  | 'no-such-subsystem'
  | 'busy';

/** A rejected change or attempt. `message` says what is wrong, with which value, and what to do. It contains no secret. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  readonly code: IdentityErrorCode;
  /** The seconds until the next attempt, for `too-many-guesses`; 0 for other codes. */
  readonly waitSeconds: number;

  constructor(code: IdentityErrorCode, message: string, options?: ErrorOptions & { readonly waitSeconds?: number }) {
    super(message, options);
    this.code = code;
    this.waitSeconds = options?.waitSeconds ?? 0;
  }
}
