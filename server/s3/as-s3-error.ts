import { S3Error } from '../../protocol/s3/s3-error.ts';
import { translateFailure } from '../objects/operations/translate-failure.ts';

/** What a client is told of any failure. A defect is an InternalError without its message: the cause stays with it for the log. */
export function asS3Error(error: unknown): S3Error {
  const known = translateFailure(error);
  return known instanceof S3Error ? known : new S3Error('InternalError', undefined, { cause: error });
}
