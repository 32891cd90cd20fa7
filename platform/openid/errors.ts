import { CodedError } from '../../protocol/coded-error.ts';

/** The codes are stable: conditions, logs and the console show them, and tests compare them. */
type OpenIdErrorCode =
  | 'ConfigUrlInvalid'
  | 'CaUnusable'
  | 'Unreachable'
  | 'NotFound'
  | 'UnexpectedStatus'
  | 'TooLarge'
  | 'NotJson'
  | 'IssuerMismatch'
  | 'EndpointMissing'
  | 'KeysUnreachable'
  | 'KeysUnusable'
  | 'ClientRefused'
  | 'ClientUnverifiable'
  | 'RedirectRefused'
  | 'ScopeRefused'
  | 'AdminRefused';

/**
 * A provider cannot be used. `message` is one sentence for the administrator: what is wrong, with which value, and what to do. It is not an
 * `IdentityError`, since the client and the operator use providers without the server.
 */
export class OpenIdError extends CodedError<OpenIdErrorCode> {
  override readonly name = 'OpenIdError';

  /** A later attempt with the same settings may succeed, when the provider or the network is back. */
  get transient(): boolean {
    return this.code === 'Unreachable' || this.code === 'UnexpectedStatus' || this.code === 'KeysUnreachable';
  }
}

/** The codes are stable: STS maps them to its errors. */
type TokenErrorCode =
  | 'TokenMalformed'
  | 'AlgorithmRefused'
  | 'KeyUnknown'
  | 'KeyUnusable'
  | 'SignatureInvalid'
  | 'IssuerMismatch'
  | 'AudienceMismatch'
  | 'TokenExpired'
  | 'TokenNotYetValid'
  | 'ClaimMissing'
  | 'UserinfoRefused'
  | 'PersonDisabled';

/**
 * A token is refused. `message` is for its sender: it names claims and settings, never the token or a secret. It is not an `OpenIdError`:
 * a refused user loses access, while an unreachable provider may leave it.
 */
export class TokenError extends CodedError<TokenErrorCode> {
  override readonly name = 'TokenError';
}
