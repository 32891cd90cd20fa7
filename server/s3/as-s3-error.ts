import { S3Error } from '../../protocol/s3/s3-error.ts';
import { KeySourceError } from '../encryption/key-source.ts';
import { StoreUnavailable } from '../store/record-store.ts';

/**
 * What a client is told of any failure. A defect, or trouble of the store, is an InternalError without its message: the cause stays
 * with the error for the log.
 */
export function asS3Error(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  if (error instanceof KeySourceError) return fromKeySource(error);
  if (error instanceof StoreUnavailable) {
    return error.reason === 'full'
      ? new S3Error('XMinioStorageFull', undefined, { cause: error })
      : new S3Error('ServiceUnavailable', undefined, { cause: error });
  }
  return new S3Error('InternalError', undefined, { cause: error });
}

function fromKeySource(error: KeySourceError): S3Error {
  const options = { cause: error };
  switch (error.code) {
    case 'key-not-found':
      return new S3Error('KMSNotFound', undefined, options);
    case 'not-permitted':
      return new S3Error('AccessDenied', 'The key service does not let this server use the key.', options);
    case 'not-configured':
      return new S3Error('NotImplemented', 'Server side encryption specified but KMS is not configured.', options);
    case 'unavailable':
      return new S3Error('ServiceUnavailable', 'The key service cannot be reached. Please try again.', options);
    case 'not-authentic':
      return new S3Error('InternalError', 'The key of the object could not be opened.', options);
    default:
      return error.code satisfies never;
  }
}
