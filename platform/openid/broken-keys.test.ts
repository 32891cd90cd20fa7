import { createSign, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createKeySet } from './key-set.ts';
import { verifyToken } from './verify-token.ts';

const issuer = 'https://idp.example';
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const small = generateKeyPairSync('rsa', { modulusLength: 1_024 });
const good = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const modulus = good.publicKey.export({ format: 'jwk' }).n ?? '';

function tokenOf(alg: string): string {
  const exp = Math.floor(Date.now() / 1_000) + 300;
  const signed = `${part({ alg, kid: 'key-1' })}.${part({ iss: issuer, sub: 's', aud: 'c', exp })}`;
  const signature = createSign('sha256').update(signed).sign(small.privateKey);
  return `${signed}.${signature.toString('base64url')}`;
}

function verified(jwk: object, alg = 'RS256') {
  const fetch = () => Promise.resolve(new Response(JSON.stringify({ keys: [{ kid: 'key-1', ...jwk }] })));
  return verifyToken(tokenOf(alg), { issuer, clientId: 'c', keys: createKeySet(`${issuer}/keys`, { fetch }) });
}

describe('a key that the provider publishes', () => {
  it('of RSA with 1,024 bits is refused with its name and its size', async () => {
    await expect(verified(small.publicKey.export({ format: 'jwk' }))).rejects.toMatchObject({
      name: 'TokenError',
      code: 'KeyUnusable',
      message: expect.stringMatching(/"key-1" \(RS256\).*RSA key of 1024 bits/) as string,
    });
  });

  it.each([
    ['without a modulus', { kty: 'RSA', e: 'AQAB' }, 'RS256'],
    ['with an empty modulus', { kty: 'RSA', n: '', e: 'AQAB' }, 'RS256'],
    ['with a modulus that is no base64', { kty: 'RSA', n: '%%%', e: 'AQAB' }, 'RS256'],
    ['with a modulus that is a number', { kty: 'RSA', n: 5, e: 'AQAB' }, 'RS256'],
    ['with an exponent of 1', { kty: 'RSA', n: modulus, e: 'AQ' }, 'RS256'],
    ['with an exponent that is too large', { kty: 'RSA', n: modulus, e: modulus }, 'RS256'],
    ['for another algorithm', { kty: 'RSA', n: modulus, e: 'AQAB', alg: 'RS512' }, 'RS256'],
    ['for encryption', { kty: 'RSA', n: modulus, e: 'AQAB', use: 'enc' }, 'RS256'],
    ['for wrapping', { kty: 'RSA', n: modulus, e: 'AQAB', key_ops: ['wrapKey'] }, 'RS256'],
    ['with operations that are no list', { kty: 'RSA', n: modulus, e: 'AQAB', key_ops: 'verify' }, 'RS256'],
    ['on no point of its curve', { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' }, 'ES256'],
    ['of another curve', { kty: 'EC', crv: 'P-384', x: 'AAAA', y: 'AAAA' }, 'ES256'],
    ['of a curve that does not exist', { kty: 'EC', crv: 'P-7', x: 'AAAA', y: 'AAAA' }, 'ES256'],
    ['that is a secret', { kty: 'oct', k: 'AAAA' }, 'RS256'],
    ['with a private part', small.privateKey.export({ format: 'jwk' }), 'RS256'],
    ['of no kind', {}, 'RS256'],
  ])('%s is the refusal of a token, never a failure of the server', async (_, jwk, alg) => {
    await expect(verified(jwk, alg)).rejects.toMatchObject({ name: 'TokenError' });
  });
});
