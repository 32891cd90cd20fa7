/**
 * The format of an encrypted stream: one byte of format version, then packages of 65,536 bytes of ciphertext and 16 bytes of tag. The
 * last package may be shorter. An empty stream has one empty package, so that a missing one is detected.
 */
export const STREAM_FORMAT = 1;
export const HEADER_SIZE = 1;
export const PACKAGE_SIZE = 65_536;
export const TAG_SIZE = 16;

/** Returns the number of packages of a stream of `size` plaintext bytes. */
export function packageCount(size: number): number {
  return Math.max(1, Math.ceil(size / PACKAGE_SIZE));
}

/** Returns the length of the ciphertext of `size` plaintext bytes. */
export function cipherSize(size: number): number {
  return HEADER_SIZE + size + TAG_SIZE * packageCount(size);
}

/** The ends of packages in the ciphertext. Reading is fastest if chunks end there. */
export const packageCuts = { from: HEADER_SIZE, every: PACKAGE_SIZE + TAG_SIZE } as const;

/** The range of ciphertext to read for a range of plaintext, and the plaintext to keep of it. */
interface CipherRange {
  /** The bytes of the ciphertext from `start` (inclusive) to `end` (exclusive). */
  readonly start: number;
  readonly end: number;
  /** The package at `start`. The header comes before package 0. */
  readonly firstPackage: number;
  /** The number of plaintext bytes to drop from the first package, and the number to keep after them. */
  readonly skip: number;
  readonly length: number;
}

/**
 * Returns the ciphertext of the plaintext bytes from `start` (inclusive) to `end` (exclusive). Throws `RangeError` unless
 * 0 ≤ start ≤ end ≤ size.
 */
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

/**
 * Makes the nonces of one stream: a byte that is 1 for the last package, three zero bytes, and the index in 8 bytes. All share one
 * buffer, because a cipher copies its nonce.
 */
export class PackageNonce {
  readonly #bytes = Buffer.alloc(12);

  of(index: number, last: boolean): Buffer {
    this.#bytes[0] = last ? 1 : 0;
    this.#bytes.writeUInt32BE(Math.floor(index / 2 ** 32), 4);
    this.#bytes.writeUInt32BE(index % 2 ** 32, 8);
    return this.#bytes;
  }
}
