import * as fc from 'fast-check';
import { expect, it, describe } from 'vitest';
import { PackageNonce, freeNow } from './package-format.ts';
import { createCipheriv, createDecipheriv } from 'node:crypto';

it('a nonce is whether it is the last, three zero bytes, and eight of the index', () => {
  const nonce = new PackageNonce();
  fc.assert(
    fc.property(
      fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constantFrom(2 ** 32 - 1, 2 ** 32)),
      fc.boolean(),
      (index, last) => {
        const expected = Buffer.alloc(12);
        expected[0] = last ? 1 : 0;
        expected.writeBigUInt64BE(BigInt(index), 4);
        expect(nonce.of(index, last)).toEqual(expected);
      },
    ),
  );
});

const [key, nonce] = [Buffer.alloc(32), Buffer.alloc(12)];

describe('freeNow', () => {
  // A Node that took small results from its pool of buffers would have what others hold freed with them.
  it.each([1, 15, 16, 100, 4_096, 32_767, 65_536, 100_000])(
    'may be given what a cipher returns: %d bytes have memory of their own',
    (length) => {
      const ciphers = [createCipheriv('aes-256-gcm', key, nonce), createDecipheriv('aes-256-gcm', key, nonce)];
      for (const cipher of ciphers) expect(cipher.update(Buffer.alloc(length)).buffer.byteLength).toBe(length);
    },
  );

  it('leaves nothing of it', () => {
    const bytes = createCipheriv('aes-256-gcm', key, nonce).update(Buffer.alloc(100));
    freeNow(bytes.subarray(10));
    expect(bytes).toHaveLength(0);
  });
});
