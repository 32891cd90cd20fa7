import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { SelectRequest } from '../select-request.ts';
import type { ByteSource } from './byte-source.ts';

/** Bytes of an object: `end` is exclusive. */
interface Bounds {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the bytes in which a record must begin.
 *
 * @throws S3Error InvalidScanRange if the object ends before
 */
export function scanBounds(range: SelectRequest['range'], size: number): Bounds {
  if (range === undefined) return { start: 0, end: size };
  const { start, end } = range;
  // As in S3, an end alone is the number of the last bytes.
  if (start === undefined) return { start: Math.max(0, size - (end ?? 0)), end: size };
  if (start >= size && size > 0)
    throw new S3Error('InvalidScanRange', `The object has ${size} bytes, and the range begins after.`);
  return { start, end: end === undefined ? size : Math.min(end + 1, size) };
}

/**
 * Yields the bytes of the records that begin within the bounds, whole: the first may begin after the start, and the last may end after the
 * end.
 */
export async function* scanRecords(
  source: ByteSource,
  { start, end }: Bounds,
  delimiter: Buffer,
): AsyncGenerator<Buffer> {
  const width = delimiter.length;
  // A record begins at the start if a delimiter ends there.
  const from = start === 0 ? 0 : Math.max(0, start - width);
  let skipping = start > 0;
  let position = from;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of source.open(from, source.size)) {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (skipping) {
      const found = bytes.indexOf(delimiter);
      if (found < 0) {
        const kept = Math.min(width - 1, bytes.length);
        position += bytes.length - kept;
        rest = Buffer.from(bytes.subarray(bytes.length - kept));
        continue;
      }
      skipping = false;
      position += found + width;
      bytes = bytes.subarray(found + width);
      if (position >= end) return;
    }
    // The last record ends with the first delimiter that ends at the end of the bounds or after.
    const last = end >= source.size ? -1 : bytes.indexOf(delimiter, Math.max(0, end - width - position));
    if (last >= 0) {
      yield bytes.subarray(0, last + width);
      return;
    }
    const kept = Math.min(width - 1, bytes.length);
    yield bytes.subarray(0, bytes.length - kept);
    position += bytes.length - kept;
    rest = Buffer.from(bytes.subarray(bytes.length - kept));
  }
  if (!skipping && rest.length > 0) yield rest;
}
