/** Why a provider cannot be used. Stable: conditions, logs and the console show them, and tests compare them. */
export type OpenIdProblemCode =
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
