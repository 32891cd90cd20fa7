/**
 * Where plaintext lies in the ciphertext of a stream: one byte of format version, then packages of 65,536 plaintext bytes and a tag
 * of 16 each. The last package may be shorter; an empty stream has one empty package, so that its absence shows.
 */
export const STREAM_FORMAT = 1;
export const HEADER_SIZE = 1;
export const PACKAGE_SIZE = 65_536;
export const TAG_SIZE = 16;

/** Packages of a stream of `size` plaintext bytes. */
export function packageCount(size: number): number {
  return Math.max(1, Math.ceil(size / PACKAGE_SIZE));
}

/** Bytes of the ciphertext of `size` plaintext bytes. */
export function cipherSize(size: number): number {
  return HEADER_SIZE + size + TAG_SIZE * packageCount(size);
}

/** Where packages end in the ciphertext: whoever reads it in pieces had better cut it there, but need not. */
export const packageCuts = { from: HEADER_SIZE, every: PACKAGE_SIZE + TAG_SIZE } as const;

/** What to read and what to keep of it, to get plaintext bytes `start` (inclusive) to `end` (exclusive). */
export interface CipherRange {
  /** Bytes of the ciphertext, inclusive and exclusive. */
  readonly start: number;
  readonly end: number;
  /** The package at `start`; the header comes before package 0. */
  readonly firstPackage: number;
  /** Plaintext bytes to drop from the first package, and to keep after them. */
  readonly skip: number;
  readonly length: number;
}

/** Pure. Throws `RangeError` unless 0 ≤ start ≤ end ≤ size. */
export function cipherRange(start: number, end: number, size: number): CipherRange {
  if (!(start >= 0 && start <= end && end <= size)) throw new RangeError(`no bytes ${start} to ${end} in ${size}`);
  const lastOfStream = packageCount(size) - 1;
  const firstPackage = Math.min(Math.floor(start / PACKAGE_SIZE), lastOfStream);
  const lastPackage = end === start ? firstPackage : Math.floor((end - 1) / PACKAGE_SIZE);
  return {
    start: firstPackage === 0 ? 0 : packageStart(firstPackage),
    end: lastPackage === lastOfStream ? cipherSize(size) : packageStart(lastPackage + 1),
    firstPackage,
    skip: start - firstPackage * PACKAGE_SIZE,
    length: end - start,
  };
}

function packageStart(index: number): number {
  return HEADER_SIZE + index * (PACKAGE_SIZE + TAG_SIZE);
}
