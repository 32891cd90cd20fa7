import { S3Error } from '../../../protocol/s3/s3-error.ts';

/**
 * Reports whether the move of a body failed since its tier takes nothing now: it does not answer, or it is full. Other bodies would be read
 * and sent in vain.
 */
export function isTierUnavailable(error: unknown): boolean {
  return error instanceof S3Error && (error.code === 'ServiceUnavailable' || error.code === 'XMinioStorageFull');
}
