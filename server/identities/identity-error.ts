/** Why a change of identities is refused. The admin API and the console have names of their own for these. */
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
  | 'busy';

/** A refusal; `message` says what, with which value, and what to do. It names no secret. */
export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  readonly code: IdentityErrorCode;
  constructor(code: IdentityErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
