import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { S3Call } from './operation.ts';

/**
 * Bytes of an upload's body.
 *
 * @throws S3Error MissingContentLength where the request does not declare them, EntityTooLarge above `max`
 */
export function uploadSize(call: S3Call, max: number): number {
  const { size } = call.auth;
  if (size === undefined) throw new S3Error('MissingContentLength');
  if (size <= max) return size;
  throw new S3Error('EntityTooLarge', undefined, {
    details: { ProposedSize: String(size), MaxSizeAllowed: String(max) },
  });
}
