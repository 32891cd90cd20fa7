import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openOnlyPackage, sealOnlyPackage, decryptBuffer, decryptStream, encryptStream } from './packages.ts';
import { cipherRange, PACKAGE_SIZE } from './package-format.ts';

const damagedCiphertext = expect.objectContaining({ code: 'ciphertext-damaged' }) as Error;

const key = randomBytes(32);
const source = randomBytes(PACKAGE_SIZE);
const size = fc.oneof(fc.constantFrom(0, 1, PACKAGE_SIZE - 1, PACKAGE_SIZE), fc.nat(PACKAGE_SIZE));

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
const collect = async (chunks: AsyncIterable<Buffer>) => Buffer.concat(await Array.fromAsync(chunks));

describe('a stream of one package', () => {
  it('is, byte for byte, what the pieces of a stream make and open', async () => {
    await fc.assert(
      fc.asyncProperty(size, async (length) => {
        const plaintext = source.subarray(0, length);
        const sealed = sealOnlyPackage(plaintext, key);
        expect(sealed.equals(await collect(encryptStream(once(plaintext), key, length)))).toBe(true);
        const decryption = { ...cipherRange(0, length, length), key, size: length };
        expect((await collect(decryptStream(once(sealed), decryption))).equals(plaintext)).toBe(true);
        expect(openOnlyPackage(sealed, key).equals(plaintext)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('gives any range', () => {
    fc.assert(
      fc.property(fc.nat(2_000), fc.nat(), fc.nat(), (length, a, b) => {
        const [start, end] = [a % (length + 1), b % (length + 1)].sort((x, y) => x - y) as [number, number];
        const sealed = sealOnlyPackage(source.subarray(0, length), key);
        const opened = decryptBuffer(sealed, { ...cipherRange(start, end, length), key, size: length });
        expect(opened.equals(source.subarray(start, end))).toBe(true);
      }),
    );
  });

  it.each([0, 1, 100])('of %i bytes shows every flipped bit, every cut and every byte too many', (length) => {
    const sealed = sealOnlyPackage(source.subarray(0, length), key);
    const decryption = { ...cipherRange(0, length, length), key, size: length };
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => openOnlyPackage(changed, key)).toThrow(damagedCiphertext);
    }
    for (let cut = 0; cut < sealed.length; cut += 1) {
      expect(() => decryptBuffer(sealed.subarray(0, cut), decryption)).toThrow(damagedCiphertext);
    }
    expect(() => decryptBuffer(Buffer.concat([sealed, Buffer.alloc(1)]), decryption)).toThrow(damagedCiphertext);
  });
});
