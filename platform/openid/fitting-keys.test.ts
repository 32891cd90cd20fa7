import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createKeySet } from './key-set.ts';
import { verifyToken } from './verify-token.ts';

const issuer = 'https://idp.example';
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const edwards = generateKeyPairSync('ed25519');
const [rsa, other] = [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 2_048 }));
const small = generateKeyPairSync('rsa', { modulusLength: 1_024 });
if (rsa === undefined || other === undefined) throw new Error('no keys');

function tokenBy(key: KeyObject, header: { readonly alg: string; readonly kid?: string }): string {
  const exp = Math.floor(Date.now() / 1_000) + 300;
  const signed = `${part(header)}.${part({ iss: issuer, sub: 's', aud: 'c', exp })}`;
  const signature = sign(header.alg === 'RS256' ? 'sha256' : null, Buffer.from(signed), key);
  return `${signed}.${signature.toString('base64url')}`;
}

function verified(keys: readonly object[], token: string) {
  const fetch = () => Promise.resolve(Response.json({ keys }));
  return verifyToken(token, { issuer, clientId: 'c', keys: createKeySet(`${issuer}/keys`, { fetch }) });
}

const jwk = (key: KeyObject, more: object = {}) => ({ ...key.export({ format: 'jwk' }), ...more });

describe('a token', () => {
  it.each(['EdDSA', 'Ed25519'])('by Ed25519 is taken under its name %s', async (alg) => {
    const keys = [jwk(edwards.publicKey, { kid: 'a' })];
    await expect(verified(keys, tokenBy(edwards.privateKey, { alg, kid: 'a' }))).resolves.toMatchObject({
      subject: 's',
    });
  });

  it('without kid is taken where one key fits', async () => {
    const token = tokenBy(rsa.privateKey, { alg: 'RS256' });
    const beside = [
      jwk(edwards.publicKey, { kid: 'b' }),
      jwk(other.publicKey, { kid: 'c', use: 'enc' }),
      jwk(small.publicKey, { kid: 'd' }),
    ];
    await expect(verified([jwk(rsa.publicKey, { kid: 'a' })], token)).resolves.toBeDefined();
    await expect(verified([...beside, jwk(rsa.publicKey, { kid: 'a' })], token)).resolves.toBeDefined();
    await expect(
      verified([jwk(rsa.publicKey, { kid: 'a' }), jwk(other.publicKey, { kid: 'c' })], token),
    ).rejects.toMatchObject({ code: 'KeyUnknown', message: expect.stringContaining('several that fit') as string });
  });

  it('is taken by whichever of two keys of one name signed it, with an unusable one beside', async () => {
    const keys = [other, small, rsa].map(({ publicKey }) => jwk(publicKey, { kid: 'a' }));
    for (const { privateKey } of [rsa, other]) {
      await expect(verified(keys, tokenBy(privateKey, { alg: 'RS256', kid: 'a' }))).resolves.toBeDefined();
    }
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    await expect(verified(keys, tokenBy(stranger.privateKey, { alg: 'RS256', kid: 'a' }))).rejects.toMatchObject({
      code: 'SignatureInvalid',
    });
  });
});
