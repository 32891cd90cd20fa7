import { createHash, type Hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Checksum, ExpectedDigests } from '../object-layer.ts';
import { type Hasher, hasherOf } from './hasher.ts';

export interface BodyDigests {
  /** Where it was asked for, or the client gave Content-MD5. */
  readonly md5: Buffer | undefined;
  readonly checksum: Checksum | undefined;
  /** CRC-32 of the whole, where it was asked for. */
  readonly crc: number | undefined;
}

/** Computes what is asked for or expected of a body while it streams, and refuses a body that is another than announced. */
export class DigestsInProgress {
  readonly #expected: ExpectedDigests;
  readonly #md5: Hash | undefined;
  readonly #algorithm: Checksum['algorithm'] | undefined;
  readonly #hasher: Hasher | undefined;
  #crc: number | undefined;

  constructor(expected: ExpectedDigests, wanted: { readonly md5: boolean; readonly crc: boolean }) {
    this.#expected = expected;
    this.#md5 = wanted.md5 || expected.md5 !== undefined ? createHash('md5') : undefined;
    this.#algorithm = expected.checksum?.algorithm ?? expected.trailing?.algorithm ?? expected.compute;
    this.#hasher = this.#algorithm && hasherOf(this.#algorithm);
    this.#crc = wanted.crc ? 0 : undefined;
  }

  update(chunk: Buffer): void {
    this.#md5?.update(chunk);
    this.#hasher?.update(chunk);
    if (this.#crc !== undefined) this.#crc = crc32(chunk, this.#crc);
  }

  /** After the last byte. Throws `BadDigest`, and `InvalidDigest` for what cannot be a digest. */
  finish(): BodyDigests {
    const md5 = this.#md5?.digest();
    if (this.#expected.md5 !== undefined) compare('Content-MD5', this.#expected.md5, md5);
    return { md5, checksum: this.#finishChecksum(), crc: this.#crc };
  }

  #finishChecksum(): Checksum | undefined {
    if (this.#algorithm === undefined || this.#hasher === undefined) return undefined;
    const digest = this.#hasher.digest();
    const { checksum, trailing } = this.#expected;
    if (checksum !== undefined) compare(checksum.algorithm, checksum.value, digest);
    if (trailing !== undefined && checksum === undefined) {
      const value = trailing.value();
      if (value === undefined) {
        throw new S3Error('BadDigest', `The request announced a trailer with its ${trailing.algorithm} and sent none.`);
      }
      compare(trailing.algorithm, value, digest);
    }
    return { algorithm: this.#algorithm, value: digest.toString('base64'), type: 'FULL_OBJECT' };
  }
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
