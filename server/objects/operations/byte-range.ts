import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { ByteRange } from '../contract/object-layer.ts';

/**
 * Parses a `Range` header with one range. It ignores any other header (several ranges, another unit, an end before the start), as RFC 9110
 * requires.
 */
export function parseRange(text: string | undefined): ByteRange | undefined {
  const match = text === undefined ? null : /^bytes=([0-9]{0,16})-([0-9]{0,16})$/.exec(text);
  const [, first = '', last = ''] = match ?? [];
  if (first === '') return last === '' ? undefined : { kind: 'last', bytes: Number(last) };
  const start = Number(first);
  if (last === '') return { kind: 'from', start };
  const endInclusive = Number(last);
  return endInclusive < start ? undefined : { kind: 'from', start, endInclusive };
}

/**
 * Returns the bytes of a range in a body of `size` bytes, end exclusive.
 *
 * @throws S3Error InvalidRange when the range begins at or after the end, is empty, or ends before it begins
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-14.1.2
 */
export function resolveRange(range: ByteRange, size: number): { readonly start: number; readonly end: number } {
  const start = range.kind === 'last' ? Math.max(0, size - range.bytes) : range.start;
  const end = range.kind === 'last' ? size : Math.min(size, (range.endInclusive ?? Infinity) + 1);
  // This form of the comparison also refuses NaN.
  if (!(start >= 0 && start < end)) {
    throw new S3Error('InvalidRange', undefined, {
      details: { RangeRequested: textOf(range), ActualObjectSize: String(size) },
    });
  }
  return { start, end };
}

function textOf(range: ByteRange): string {
  return range.kind === 'last' ? `bytes=-${range.bytes}` : `bytes=${range.start}-${range.endInclusive ?? ''}`;
}
