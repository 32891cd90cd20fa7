import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { ByteRange } from '../objects/object-layer.ts';

/**
 * Parses a `Range` header with one range. It ignores any other header (several ranges, another unit, an end before the start), as RFC 9110
 * requires.
 */
export function parseRange(text: string | undefined): ByteRange | undefined {
  const match = text === undefined ? null : /^bytes=\s*([0-9]{0,16})-([0-9]{0,16})\s*$/.exec(text);
  const [, first = '', last = ''] = match ?? [];
  if (first === '') return last === '' ? undefined : { kind: 'last', bytes: Number(last) };
  const start = Number(first);
  if (last === '') return { kind: 'from', start };
  const endInclusive = Number(last);
  return endInclusive < start ? undefined : { kind: 'from', start, endInclusive };
}

/** Parses `x-amz-copy-source-range`, which must have both ends. */
export function parseCopyRange(text: string | undefined): (ByteRange & { readonly kind: 'from' }) | undefined {
  if (text === undefined) return undefined;
  const range = parseRange(text);
  if (range?.kind === 'from' && range.endInclusive !== undefined) return range;
  throw new S3Error(
    'InvalidArgument',
    'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy.',
    { details: { ArgumentName: 'x-amz-copy-source-range', ArgumentValue: text.slice(0, 100) } },
  );
}
