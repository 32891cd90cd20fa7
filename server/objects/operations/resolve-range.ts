import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ByteRange } from '../object-layer.ts';

/**
 * Converts a range header to bytes of a body of `size` bytes, end exclusive. This function is pure. Throws `InvalidRange` where the
 * range is empty: it begins at or after the end, asks for the last 0 bytes, or ends before it begins.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-14.1.2
 */
export function resolveRange(range: ByteRange, size: number): { readonly start: number; readonly end: number } {
  const start = range.kind === 'last' ? Math.max(0, size - range.bytes) : range.start;
  const end = range.kind === 'last' ? size : Math.min(size, (range.endInclusive ?? Infinity) + 1);
  // The condition is written so that it refuses NaN too.
  if (!(start >= 0 && start < end)) {
    throw new S3Error('InvalidRange', undefined, { details: { ActualObjectSize: String(size) } });
  }
  return { start, end };
}
