import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checksumAlgorithms, checksumSizes } from '../../../protocol/s3/checksum-algorithms.ts';
import type { Checksum } from '../contract/object-layer.ts';
import { combineCrcs } from './combine-crc.ts';
import { crc32c, Crc64Nvme, hasherOf } from '../../../platform/checksums/hashers.ts';

function crc64(...chunks: Uint8Array[]): string {
  const crc = new Crc64Nvme();
  for (const chunk of chunks) crc.update(chunk);
  return crc.digest().toString('hex');
}

describe('CRC-32C', () => {
  // RFC 3720, appendix B.4, and the check value of the catalogue of CRCs.
  it.each([
    ['', 0],
    ['123456789', 0xe3069283],
    [Buffer.alloc(32), 0x8a9136aa],
    [Buffer.alloc(32, 0xff), 0x62a8ab43],
    [Buffer.from(Array.from({ length: 32 }, (_, index) => index)), 0x46dd794e],
    [Buffer.from(Array.from({ length: 32 }, (_, index) => 31 - index)), 0x113fdb5c],
  ])('of %o', (bytes, expected) => {
    expect(crc32c(Buffer.from(bytes))).toBe(expected);
  });
});

describe('CRC-64/NVME', () => {
  // NVM Command Set Specification 1.0, figure of test vectors, and the check value of the catalogue of CRCs.
  it.each([
    ['', '0000000000000000'],
    ['123456789', 'ae8b14860a799888'],
    [Buffer.alloc(4096), '6482d367eb22b64e'],
    [Buffer.alloc(4096, 0xff), 'c0ddba7302eca3ac'],
  ])('of %o', (bytes, expected) => {
    expect(crc64(Buffer.from(bytes))).toBe(expected);
  });
});

function digestWith(algorithm: Checksum['algorithm'], part: Buffer): { digest: Buffer; size: number } {
  const hasher = hasherOf(algorithm);
  hasher.update(part);
  return { digest: hasher.digest(), size: part.length };
}

describe('checksums', () => {
  const bytes = randomBytes(1000);

  it.each(checksumAlgorithms)('have the size that is said of them: %s', (algorithm) => {
    expect(hasherOf(algorithm).digest().length).toBe(checksumSizes[algorithm]);
  });

  for (const algorithm of checksumAlgorithms) {
    it(`do not depend on how a body is cut: ${algorithm}`, () => {
      const whole = hasherOf(algorithm);
      whole.update(bytes);
      const expected = whole.digest();
      fc.assert(
        fc.property(fc.nat(1000), fc.nat(1000), (a, b) => {
          const [first, second] = [Math.min(a, b), Math.max(a, b)];
          const hasher = hasherOf(algorithm);
          for (const [start, end] of [
            [0, first],
            [first, second],
            [second, 1000],
          ] as const) {
            hasher.update(bytes.subarray(start, end));
          }
          return hasher.digest().equals(expected);
        }),
      );
    });
  }

  it('of four bytes are big-endian', () => {
    const hasher = hasherOf('CRC32');
    hasher.update(Buffer.from('hello'));
    expect(hasher.digest().readUInt32BE()).toBe(crc32('hello'));
  });

  for (const algorithm of ['CRC32', 'CRC32C', 'CRC64NVME'] as const) {
    it(`combine from those of parts: ${algorithm}`, () => {
      fc.assert(
        fc.property(fc.array(fc.nat(300), { minLength: 1, maxLength: 5 }), (sizes) => {
          const parts = sizes.map((size) => randomBytes(size));
          const combined = combineCrcs(
            algorithm,
            parts.map((part) => digestWith(algorithm, part)),
          );
          return combined.equals(digestWith(algorithm, Buffer.concat(parts)).digest);
        }),
      );
    });
  }
});
