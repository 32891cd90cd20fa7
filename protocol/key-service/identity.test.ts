import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { formatApiKey, looksLikeApiKey, parseApiKey, identityOfPublicKey, isIdentity } from './identity.ts';

describe('an API key', () => {
  it('has the identity of the published vector', () => {
    expect(parseApiKey('kes:v1:AGaV6VXHasF0FnaB60WdCOeTZ8eTIDikL4zlN16c8NAs').identity).toBe(
      'ea9826089311fe44d7590408ede9150f7c637b6cab0a91ee6fe1aa5d9fb366f6',
    );
  });

  it('is read back as it was written', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const text = formatApiKey(privateKey);
    expect(looksLikeApiKey(text)).toBe(true);
    expect(parseApiKey(text).identity).toBe(identityOfPublicKey(publicKey));
  });

  it.each([
    ['kes:v2:AAAA', /begins with/],
    ['kes:v1:AAAA', /33 bytes, this one 3/],
    [`kes:v1:${Buffer.alloc(33, 1).toString('base64')}`, /type 1 is unknown/],
  ])('refuses %s without quoting it', (text, message) => {
    expect(() => parseApiKey(text)).toThrow(message);
  });

  it('is made from an Ed25519 key alone', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    expect(() => formatApiKey(privateKey)).toThrow(/Ed25519/);
  });
});

describe('an identity', () => {
  it('is 64 lower-case hexadecimal digits', () => {
    expect(isIdentity('a'.repeat(64))).toBe(true);
    expect(isIdentity('A'.repeat(64))).toBe(false);
    expect(isIdentity('disabled')).toBe(false);
  });
});
