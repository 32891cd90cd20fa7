import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Hasher, hasherOf } from '../../../platform/checksums/hashers.ts';
import type { Checksum, ExpectedDigests } from '../contract/object-layer.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { type Md5Stream, Md5Streams } from '../hashing/md5-streams.ts';
import { type BlockSums, BlockSumsHasher } from './block-sums.ts';

/** The streams of this thread. */
const md5Streams = new Md5Streams();

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

/** Computes the digests of a stream, and refuses a body that differs from the expected ones. The caller closes it. */
export class BodyHasher {
  readonly #expected: ExpectedDigests;
  readonly #md5: Md5Stream | undefined;
  readonly #hasher: Hasher | undefined;
  /** That of the checksum to store where the request has another one. */
  readonly #stored: Hasher | undefined;
  readonly #sums: BlockSumsHasher | undefined;

  constructor(expected: ExpectedDigests, wanted: Wanted) {
    this.#expected = expected;
    const md5 = wanted.md5 === 'elsewhere' ? false : wanted.md5 || expected.md5 !== undefined;
    this.#md5 = md5 ? md5Streams.start() : undefined;
    const algorithm = algorithmOf(expected);
    this.#hasher = algorithm && hasherOf(algorithm);
    const other = otherAlgorithm(expected);
    this.#stored = other && hasherOf(other);
    this.#sums = wanted.sum ? new BlockSumsHasher() : undefined;
  }

  /** The chunk must not change before it is released. */
  update(chunk: Buffer): void {
    this.#md5?.update(chunk);
    this.#hasher?.update(chunk);
    this.#stored?.update(chunk);
    this.#sums?.update(chunk);
  }

  /** Must be called after the last byte. Throws `BadDigest`, and `InvalidDigest` for a value that cannot be a digest. */
  finish(md5: Buffer | undefined = this.#md5?.digest()): BodyDigests {
    const found = checked(this.#expected, md5, this.#hasher?.digest(), this.#sums?.digest());
    return withStored(found, otherAlgorithm(this.#expected), this.#stored?.digest());
  }

  /** Calls `done` when the chunk may change, at once or later. Until then it must not. */
  release(chunk: Buffer, done: () => void): void {
    if (this.#md5 === undefined) done();
    else this.#md5.release(chunk, done);
  }

  /** Must be called for each hasher, after `finish` or without it. */
  close(): void {
    this.#md5?.close();
  }
}

/** The bytes from which on a body in memory waits for others, to be hashed with them. */
export const MIN_TOGETHER = 16 * 1024;

/** As `digestWhole`. The MD5 is computed together with those of other bodies. The bytes must not change meanwhile. */
export async function digestTogether(
  bytes: Buffer,
  expected: ExpectedDigests,
  { md5, sum }: { readonly md5: boolean; readonly sum: boolean },
): Promise<BodyDigests> {
  if (!md5 && expected.md5 === undefined) return digestWhole(bytes, expected, { md5, sum });
  return digestWhole(bytes, expected, { md5: 'elsewhere', sum }, await md5Streams.digestOf(bytes));
}

/** Computes the digests of a body in memory. Without a hash object, MD5 of 4 KiB costs a third less. */
export function digestWhole(bytes: Buffer, expected: ExpectedDigests, wanted: Wanted, known?: Buffer): BodyDigests {
  const md5 = known ?? (wanted.md5 || expected.md5 !== undefined ? Buffer.from(hash('md5', bytes), 'hex') : undefined);
  const algorithm = algorithmOf(expected);
  // The checksum that most SDKs send is also the one that a plain body is stored with.
  const crc = wanted.sum || algorithm === 'CRC32' ? crc32(bytes) : undefined;
  const digest = algorithm && (algorithm === 'CRC32' && crc !== undefined ? bytesOf(crc) : digestOf(algorithm, bytes));
  const found = checked(expected, md5, digest, wanted.sum && crc !== undefined ? { crc } : undefined);
  const other = otherAlgorithm(expected);
  return withStored(found, other, other && digestOf(other, bytes));
}

function bytesOf(crc: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes;
}

function digestOf(algorithm: Checksum['algorithm'], bytes: Buffer): Buffer {
  const hasher = hasherOf(algorithm);
  hasher.update(bytes);
  return hasher.digest();
}

function algorithmOf(expected: ExpectedDigests): Checksum['algorithm'] | undefined {
  return expected.checksum?.algorithm ?? expected.trailing?.algorithm ?? expected.compute;
}

/** Returns the algorithm of the checksum to store, if the request has the checksum of another one. */
function otherAlgorithm(expected: ExpectedDigests): Checksum['algorithm'] | undefined {
  return expected.compute === algorithmOf(expected) ? undefined : expected.compute;
}

function withStored(
  found: BodyDigests,
  algorithm: Checksum['algorithm'] | undefined,
  digest: Buffer | undefined,
): BodyDigests {
  if (algorithm === undefined || digest === undefined) return found;
  return { ...found, checksum: { algorithm, value: digest.toString('base64'), type: 'FULL_OBJECT' } };
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
    throw new S3Error('InvalidDigest', `The ${name} you specified was invalid.`, {
      details: { [name]: expected.slice(0, 100) },
    });
  }
  if (!bytes.equals(actual)) {
    const what = name === 'Content-MD5' ? 'what we received' : 'the calculated checksum';
    throw new S3Error('BadDigest', `The ${name} you specified did not match ${what}.`, {
      details: { ExpectedDigest: expected, CalculatedDigest: actual.toString('base64') },
    });
  }
}
