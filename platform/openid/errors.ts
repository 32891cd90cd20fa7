/** The codes are stable: conditions, logs and the console show them, and tests compare them. */
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

/** A provider cannot be used. `message` is one sentence for the administrator: what is wrong, with which value, and what to do. */
export class OpenIdProblem extends Error {
  override readonly name = 'OpenIdProblem';
  readonly code: OpenIdProblemCode;
  constructor(code: OpenIdProblemCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** A later attempt with the same settings may succeed, when the provider or the network is back. */
  get transient(): boolean {
    return this.code === 'Unreachable' || this.code === 'UnexpectedStatus' || this.code === 'KeysUnreachable';
  }
}

/** The codes are stable: STS maps them to its errors. */
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

/** A token is refused. `message` is for its sender: it names claims and settings, never the token or a secret. */
export class IdentityProblem extends Error {
  override readonly name = 'IdentityProblem';
  readonly code: IdentityProblemCode;
  constructor(code: IdentityProblemCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
