import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { isStoreError, isStoreUnavailable, type UnavailableCode } from '../../store/store-error.ts';
import { isExhausted } from '../../../platform/errors/system-error.ts';
import { describeOutage, KeyServiceError } from '../../../platform/key-service/exchange.ts';

/** An administrator made the store so. Clients learn what ends it. */
const shownOutages: ReadonlySet<string> = new Set<UnavailableCode>(['read-only', 'unpromoted']);

/**
 * Translates errors of the stores and the key service to those of the protocol, with the error as `cause` for the log. Other errors are
 * returned unchanged.
 */
export function translateFailure(error: unknown): unknown {
  if (error instanceof KeyServiceError) return keyFailure(error);
  if (isStoreUnavailable(error)) {
    const code = error.code === 'full' ? 'XMinioStorageFull' : 'ServiceUnavailable';
    return new S3Error(code, shownOutages.has(error.code) ? error.message : undefined, { cause: error });
  }
  if (isStoreError(error, 'outcome-unknown')) {
    return new S3Error(
      'ServiceUnavailable',
      'The server does not know now if the change was made; check, or try again.',
      {
        cause: error,
      },
    );
  }
  if (isExhausted(error))
    return new S3Error('ServiceUnavailable', 'The server has no files, processes or memory left; try again.', {
      cause: error,
    });
  if (isStoreError(error, 'invalid-key'))
    return new S3Error('InvalidURI', 'A name is no valid UTF-8.', { cause: error });
  return error;
}

function keyFailure(error: KeyServiceError): Error {
  const options = { cause: error };
  switch (error.code) {
    case 'not-configured':
      return new S3Error('NotImplemented', 'Server side encryption specified but KMS is not configured', options);
    case 'key-not-found':
      return new S3Error('KMSNotFound', `Invalid keyId: ${error.message}`, options);
    case 'wrong-key':
      return new S3Error('KMSInvalidState', `Invalid keyId: ${error.message}`, options);
    case 'not-permitted':
      return new S3Error('AccessDenied', 'The key service does not allow the server to use this key.', options);
    case 'unavailable':
      return new S3Error('ServiceUnavailable', describeOutage(error), options);
    case 'not-authentic':
      // An attacker gets the same answer as for any other damage. The cause in the log has the details.
      return new S3Error('InternalError', undefined, options);
    case 'invalid-request':
    case 'key-exists':
    case 'not-supported':
      // A data key has no such error.
      return error;
  }
}
