import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Crc64Nvme,
  CrcModule,
  CRC32C_MULTIPLE,
  CRC32C_POLYNOMIAL,
  crc32c,
  CRC64NVME_MULTIPLE,
  CRC64NVME_POLYNOMIAL,
} from './hashers.ts';

const bytes = randomBytes(200_003);

describe('the module of CRCs', () => {
  // The polynomial of CRC-32 is a multiple of itself.
  const module = new CrcModule(0xedb88320n, [0, 1, 2, 4, 5, 7, 8, 10, 11, 12, 16, 22, 23, 26, 32]);
  const small = Array.from({ length: 50 }, (_, index) => index);
  // Inputs of at least three times the remainder, 32 vectors, are divided.
  const divided = [1_535, 1_536, 1_551, 1_552, 65_535, 65_536, 65_537, 67_071, 67_072, bytes.length - 1];

  it.each([...small, ...divided])('computes with the polynomial of CRC-32 what zlib does: %d bytes', (length) => {
    const state = Uint32Array.of(0xffff_ffff, 0);
    module.update(state, bytes.subarray(1, 1 + length));
    expect(~(state[0] ?? 0) >>> 0).toBe(crc32(bytes.subarray(1, 1 + length)));
  });
});

/** Pieces of 1,000 bytes are not divided. */
function* chunks(whole: Buffer) {
  for (let at = 0; at < whole.length; at += 1_000) yield whole.subarray(at, at + 1_000);
}
function nvme(parts: Iterable<Buffer>): string {
  const crc = new Crc64Nvme();
  for (const part of parts) crc.update(part);
  return crc.digest().toString('hex');
}
function castagnoli(parts: Iterable<Buffer>): number {
  let crc = 0;
  for (const part of parts) crc = crc32c(part, crc);
  return crc;
}

describe('the division of long inputs', () => {
  it.each([
    ['CRC-32C', CRC32C_POLYNOMIAL, 32n, CRC32C_MULTIPLE],
    ['CRC-64/NVME', CRC64NVME_POLYNOMIAL, 64n, CRC64NVME_MULTIPLE],
  ])('has a multiple of the polynomial of %s', (_, polynomial, bits, multiple) => {
    // In the reflected form the highest bit is the coefficient of 1, and each step multiplies by x.
    let power = 1n << (bits - 1n);
    let sum = 0n;
    for (let exponent = 0; exponent <= (multiple.at(-1) ?? 0); exponent += 1) {
      if (multiple.some((term) => term === exponent)) sum ^= power;
      power = (power & 1n) === 1n ? (power >> 1n) ^ polynomial : power >> 1n;
    }
    expect(sum).toBe(0n);
  });

  it('gives the CRC that the tables give, after any bytes before', () => {
    fc.assert(
      fc.property(fc.nat(70_000), fc.nat(130_000), (before, length) => {
        const [first, second] = [bytes.subarray(0, before), bytes.subarray(before, before + length)];
        const all = Buffer.concat([first, second]);
        expect(nvme([first, second])).toBe(nvme(chunks(all)));
        expect(castagnoli([first, second])).toBe(castagnoli(chunks(all)));
      }),
      { numRuns: 60 },
    );
  });
});
