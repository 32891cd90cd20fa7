/** The ciphertext was changed, cut, reordered, or is not of this key. */
export class DamagedCiphertext extends Error {
  override readonly name = 'DamagedCiphertext';
}

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
interface CipherRange {
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

/**
 * The nonces of one stream: 96 bits, whether it is the last package, three zero bytes, the index. Each is written over the one before,
 * which a cipher has copied.
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

/**
 * Gives back the memory of what a cipher returned, in whole, which must be the caller's alone and used no more: the buffer is empty
 * afterwards.
 *
 * Such memory lies outside V8's heap. Left to V8, the next package gets other memory, cold in the processor's cache, and after some MiB
 * V8 marks its heap: of 8 ms for 8 MiB deciphered, this saves 2 to 3 (docs/decisions/0027-encryption-speed.md).
 */
export function freeNow({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
