import { TooManyGuesses } from '../access/guess-limits.ts';

/**
 * Codes of the STS API with their status.
 *
 * @see https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html
 */
export const stsErrorCodes = {
  AccessDenied: 403,
  /** The session token of who signed has expired; S3 says the same of it. */
  ExpiredToken: 400,
  /** The token of the provider has expired: SDKs know it by this name alone. */
  ExpiredTokenException: 400,
  /** SDKs try again by the code. */
  IDPCommunicationError: 400,
  InternalError: 500,
  InsecureConnection: 400,
  InvalidAction: 400,
  InvalidClientCertificate: 400,
  InvalidClientGrantsToken: 400,
  InvalidClientTokenId: 403,
  InvalidParameterValue: 400,
  InvalidIdentityToken: 400,
  MalformedPolicyDocument: 400,
  MissingParameter: 400,
  NotImplemented: 501,
  RequestTimeTooSkewed: 403,
  ServiceUnavailable: 503,
  SignatureDoesNotMatch: 403,
  /** SDKs try again later by the code, and by the status. */
  Throttling: 429,
} as const;

export type StsErrorCode = keyof typeof stsErrorCodes;

/** A refusal in the protocol's own terms; `message` is shown to the caller: it names claims and values, never a token or secret. */
export class StsError extends Error {
  override readonly name = 'StsError';
  readonly code: StsErrorCode;

  constructor(code: StsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get status(): number {
    return stsErrorCodes[this.code];
  }
}

/** Says in the terms of STS that too many secrets were wrong. */
export async function limited<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof TooManyGuesses)) throw error;
    throw new StsError('Throttling', error.message, { cause: error });
  }
}
