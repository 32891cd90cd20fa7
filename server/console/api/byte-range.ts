import { S3Error } from '../../../protocol/s3/s3-error.ts';

export interface ResolvedRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** Whether the answer is 206. */
  readonly partial: boolean;
}

/**
 * The bytes that a `Range` header asks for. Several ranges, other units and malformed ones are ignored, as RFC 9110 allows;
 * a range outside the object is `InvalidRange`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-14.2
 */
export function resolveByteRange(header: string | undefined, size: number): ResolvedRange {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  const [first, last] = [match?.[1] ?? '', match?.[2] ?? ''];
  const whole = { start: 0, end: size, partial: false };
  if (match === null || (first === '' && last === '')) return whole;
  if (first === '') {
    if (Number(last) === 0 || size === 0) throw outside(header ?? '', size);
    return { start: Math.max(0, size - Number(last)), end: size, partial: true };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return whole;
  if (start >= size) throw outside(header ?? '', size);
  return { start, end: last === '' ? size : Math.min(size, Number(last) + 1), partial: true };
}

function outside(header: string, size: number): S3Error {
  return new S3Error('InvalidRange', `The range ${header.slice(0, 80)} lies outside the object of ${size} bytes.`);
}
