import { hkdfSync } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HkdfSha256 } from './hkdf-sha256.ts';

const bytes = (least: number, most = least) =>
  fc.uint8Array({ minLength: least, maxLength: most }).map((array) => Buffer.from(array));

describe('HKDF-SHA256', () => {
  it('derives what RFC 5869 says, whatever was derived before', () => {
    const purpose = fc.string({ maxLength: 80 });
    fc.assert(
      fc.property(purpose, fc.array(fc.tuple(bytes(32), bytes(0, 64)), { maxLength: 4 }), (info, keys) => {
        const hkdf = new HkdfSha256(info);
        for (const [secret, salt] of keys) {
          expect(hkdf.derive(secret, salt)).toEqual(Buffer.from(hkdfSync('sha256', secret, salt, info, 32)));
        }
      }),
    );
  });

  it.each([
    [31, 16],
    [33, 16],
    [32, 65],
  ])('refuses a secret of %i bytes with a salt of %i', (secret, salt) => {
    expect(() => new HkdfSha256('a purpose').derive(Buffer.alloc(secret), Buffer.alloc(salt))).toThrow(RangeError);
  });
});
