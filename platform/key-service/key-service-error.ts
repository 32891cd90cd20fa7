import type { KeyServiceErrorCode } from '../../protocol/key-service/errors.ts';

/** A call of the key service that failed. The message is the service's own, or says why none came. */
export class KeyServiceError extends Error {
  override readonly name = 'KeyServiceError';
  readonly code: KeyServiceErrorCode;
  /** The HTTP status; undefined where no answer came. */
  readonly status: number | undefined;

  constructor(code: KeyServiceErrorCode, status: number | undefined, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.status = status;
  }
}
