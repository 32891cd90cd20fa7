import { CrcModule } from './crc-module.ts';
import { createHash, type Hash, hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Checksum, ExpectedDigests } from '../object-layer.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { type BlockSums, BlockSumsHasher } from './block-sums.ts';

/** CRC-32C (Castagnoli), reflected: polynomial 0x1EDC6F41. @see RFC 3720, appendix B.4 */
export const CRC32C_POLYNOMIAL = 0x82f63b78n;
/** The exponents of multiples of the polynomials with few terms, found by a search of collisions. The tests divide them. */
export const CRC32C_MULTIPLE = [0, 14, 39, 54, 144, 209] as const;

/** Created on first use: the tables take some milliseconds. */
let crc32cModule: CrcModule | undefined;
const crc32cState = new Uint32Array(2);

/** Returns the CRC-32C of `bytes` after those that gave `previous`, as an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array, previous = 0): number {
  crc32cModule ??= new CrcModule(CRC32C_POLYNOMIAL, CRC32C_MULTIPLE);
  crc32cState[0] = ~previous;
  crc32cState[1] = 0;
  crc32cModule.update(crc32cState, bytes);
  return ~(crc32cState[0] ?? 0) >>> 0;
}

/** CRC-64/NVME, reflected: polynomial 0xAD93D23594C93659. @see NVM Express NVM Command Set Specification 1.0, section 5.2.1.3.4 */
export const CRC64NVME_POLYNOMIAL = 0x9a6c9329ac4bc9b5n;
export const CRC64NVME_MULTIPLE = [0, 47, 121, 169, 172, 183, 236, 272, 285, 296, 297, 310] as const;

/** Created on first use: the tables take some milliseconds. */
let crc64Module: CrcModule | undefined;

/** A checksum in progress. */
export class Crc64Nvme {
  readonly #module = (crc64Module ??= new CrcModule(CRC64NVME_POLYNOMIAL, CRC64NVME_MULTIPLE));
  /** Lower half, upper half. */
  readonly #state = Uint32Array.of(0xffff_ffff, 0xffff_ffff);

  update(bytes: Uint8Array): void {
    this.#module.update(this.#state, bytes);
  }

  /** 8 bytes, big-endian, as S3 writes them in base64. */
  digest(): Buffer {
    const [low = 0, high = 0] = this.#state;
    const digest = Buffer.alloc(8);
    digest.writeInt32BE(~high, 0);
    digest.writeInt32BE(~low, 4);
    return digest;
  }
}

/** A checksum in progress; `digest` is called once, at the end. */
interface Hasher {
  update(bytes: Buffer): unknown;
  digest(): Buffer;
}

export function hasherOf(algorithm: Checksum['algorithm']): Hasher {
  switch (algorithm) {
    case 'CRC32':
      return new Crc32(crc32);
    case 'CRC32C':
      return new Crc32(crc32c);
    case 'CRC64NVME':
      return new Crc64Nvme();
    case 'SHA1':
      return createHash('sha1');
    case 'SHA256':
      return createHash('sha256');
    case 'SHA512':
      return createHash('sha512');
    case 'MD5':
      return createHash('md5');
  }
}

class Crc32 implements Hasher {
  readonly #step: (bytes: Buffer, previous: number) => number;
  #crc = 0;

  constructor(step: (bytes: Buffer, previous: number) => number) {
    this.#step = step;
  }

  update(bytes: Buffer): void {
    this.#crc = this.#step(bytes, this.#crc);
  }

  digest(): Buffer {
    const digest = Buffer.alloc(4);
    digest.writeUInt32BE(this.#crc);
    return digest;
  }
}

export interface BodyDigests {
  /** Present where it was asked for, or the client sent Content-MD5. */
  readonly md5: Buffer | undefined;
  readonly checksum: Checksum | undefined;
  readonly sums: PlainSums | undefined;
}

/** The checksums that a plain body is stored with: the CRC-32 of a body in memory, the block sums of a stream. */
type PlainSums = { readonly crc: number } | BlockSums;

/** The digests to compute in addition to those that the request expects. */
interface Wanted {
  /** `elsewhere`: the caller passes it to `finish`. */
  readonly md5: boolean | 'elsewhere';
  /** The checksum to store: the CRC-32 of a body in memory, the block sums of a stream. */
  readonly sum: boolean;
}

/** Computes the digests of a stream, and refuses a body that differs from the expected ones. */
export class BodyHasher {
  readonly #expected: ExpectedDigests;
  readonly #md5: Hash | undefined;
  readonly #hasher: Hasher | undefined;
  readonly #sums: BlockSumsHasher | undefined;

  constructor(expected: ExpectedDigests, wanted: Wanted) {
    this.#expected = expected;
    const md5 = wanted.md5 === 'elsewhere' ? false : wanted.md5 || expected.md5 !== undefined;
    this.#md5 = md5 ? createHash('md5') : undefined;
    const algorithm = algorithmOf(expected);
    this.#hasher = algorithm && hasherOf(algorithm);
    this.#sums = wanted.sum ? new BlockSumsHasher() : undefined;
  }

  update(chunk: Buffer): void {
    this.#md5?.update(chunk);
    this.#hasher?.update(chunk);
    this.#sums?.update(chunk);
  }

  /** Must be called after the last byte. Throws `BadDigest`, and `InvalidDigest` for a value that cannot be a digest. */
  finish(md5: Buffer | undefined = this.#md5?.digest()): BodyDigests {
    return checked(this.#expected, md5, this.#hasher?.digest(), this.#sums?.digest());
  }
}

/** Computes the digests of a body in memory. Without a hash object, MD5 of 4 KiB costs a third less. */
export function digestWhole(bytes: Buffer, expected: ExpectedDigests, wanted: Wanted): BodyDigests {
  const md5 = wanted.md5 || expected.md5 !== undefined ? Buffer.from(hash('md5', bytes), 'hex') : undefined;
  const algorithm = algorithmOf(expected);
  return checked(
    expected,
    md5,
    algorithm && digestOf(algorithm, bytes),
    wanted.sum ? { crc: crc32(bytes) } : undefined,
  );
}

function digestOf(algorithm: Checksum['algorithm'], bytes: Buffer): Buffer {
  const hasher = hasherOf(algorithm);
  hasher.update(bytes);
  return hasher.digest();
}

function algorithmOf(expected: ExpectedDigests): Checksum['algorithm'] | undefined {
  return expected.checksum?.algorithm ?? expected.trailing?.algorithm ?? expected.compute;
}

function checked(
  expected: ExpectedDigests,
  md5: Buffer | undefined,
  digest: Buffer | undefined,
  sums: PlainSums | undefined,
): BodyDigests {
  if (expected.md5 !== undefined) compare('Content-MD5', expected.md5, md5);
  return { md5, checksum: checkedChecksum(expected, digest), sums };
}

function checkedChecksum(expected: ExpectedDigests, digest: Buffer | undefined): Checksum | undefined {
  const algorithm = algorithmOf(expected);
  if (algorithm === undefined || digest === undefined) return undefined;
  const { checksum, trailing } = expected;
  if (checksum !== undefined) compare(checksum.algorithm, checksum.value, digest);
  if (trailing !== undefined && checksum === undefined) {
    const value = trailing.value();
    if (value === undefined) {
      throw new S3Error('BadDigest', `The request announced a trailer with its ${trailing.algorithm} and sent none.`);
    }
    compare(trailing.algorithm, value, digest);
  }
  return { algorithm, value: digest.toString('base64'), type: 'FULL_OBJECT' };
}

/** `expected` is base64. */
function compare(name: string, expected: string, actual: Buffer | undefined): void {
  if (actual === undefined) return;
  const bytes = Buffer.from(expected, 'base64');
  if (bytes.length !== actual.length || bytes.toString('base64') !== expected) {
    throw new S3Error('InvalidDigest', `The ${name} that you specified, ${expected.slice(0, 100)}, is not valid.`);
  }
  if (!bytes.equals(actual)) {
    throw new S3Error(
      'BadDigest',
      `The ${name} that you specified, ${expected}, did not match what the server received, ${actual.toString('base64')}.`,
    );
  }
}
