import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { PackageNonce } from './package-format.ts';

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
