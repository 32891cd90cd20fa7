/** Why a provider cannot be used. Stable: conditions, logs and the console show them, and tests compare them. */
type OpenIdProblemCode =
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
  | 'ClientRefused'
  | 'ClientUnverifiable'
  | 'RedirectRefused'
  | 'AdminRefused';

/** A provider that cannot be used. `message` is one sentence for a person: what was wrong, with which value, and what to do. */
export class OpenIdProblem extends Error {
  override readonly name = 'OpenIdProblem';
  readonly code: OpenIdProblemCode;
  constructor(code: OpenIdProblemCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Whether waiting may help: the same settings can work once the provider or the network is back. */
  get transient(): boolean {
    return this.code === 'Unreachable' || this.code === 'UnexpectedStatus' || this.code === 'KeysUnreachable';
  }
}

/** Why a token buys nothing. Stable: the STS room chooses its error by them. */
type IdentityProblemCode =
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
