import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signRequest } from './sign-request.ts';
import { HmacSha256, SigningKeys } from './signing-key.ts';

describe('HMAC-SHA256', () => {
  it('is that of the standard library, for one text after another', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme', minLength: 1_000, maxLength: 3_000 }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.array(text, { maxLength: 5 }), (key, texts) => {
        const hmac = new HmacSha256(Buffer.from(key));
        for (const each of texts) {
          expect(hmac.sign(each)).toBe(createHmac('sha256', key).update(each, 'utf8').digest('hex'));
        }
      }),
    );
  });

  // RFC 4231, 4.3
  it('signs the example of the RFC', () => {
    expect(new HmacSha256(Buffer.from('Jefe')).sign('what do ya want for nothing?')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  it('refuses a key that it would have to hash first', () => {
    expect(() => new HmacSha256(Buffer.alloc(65))).toThrow(RangeError);
  });
});

it('signs the same with a signing key that is kept', () => {
  const signingKeys = new SigningKeys();
  const request = { method: 'GET', rawPath: '/b/k', rawQuery: '', headers: { host: 'example.org' } };
  const credentials = { accessKey: 'AKIA', secretKey: 'secret' };
  const signed = (day: number, more = {}) =>
    signRequest(request, credentials, {
      region: 'us-east-1',
      service: 's3',
      now: new Date(Date.UTC(2026, 0, day)),
      payloadHash: 'UNSIGNED-PAYLOAD',
      ...more,
    });
  for (const day of [1, 1, 2]) expect(signed(day, { signingKeys })).toEqual(signed(day));
});
