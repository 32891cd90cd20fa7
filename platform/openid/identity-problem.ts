/** Why a token buys nothing. Stable: the STS room chooses its error by them. */
export type IdentityProblemCode =
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

/** A token that is refused. `message` is for the person who sent it: it names claims and settings, never the token or a secret. */
export class IdentityProblem extends Error {
  override readonly name = 'IdentityProblem';
  readonly code: IdentityProblemCode;
  constructor(code: IdentityProblemCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
