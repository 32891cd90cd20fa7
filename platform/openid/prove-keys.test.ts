import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { proveKeys } from './prove-keys.ts';

const jwk = (key: KeyObject) => key.export({ format: 'jwk' });
const rsa = jwk(generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey);
const short = jwk(generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey);
const curve = jwk(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey);
const edwards = jwk(generateKeyPairSync('ed25519').publicKey);
const agreement = jwk(generateKeyPairSync('x25519').publicKey);

function prove(keys: readonly object[], document: object = {}, clientSecret?: string): Promise<void> {
  const fetch = () => Promise.resolve(new Response(JSON.stringify({ keys })));
  const provider = { jwksUri: 'https://idp/keys', document: { ...document } };
  return proveKeys(provider, { clientSecret }, fetch);
}

describe('the keys of a provider', () => {
  it.each([
    ['of RSA', [rsa]],
    ['of a curve', [{ ...curve, kid: 'a', alg: 'ES256', use: 'sig' }]],
    ['of Ed25519', [edwards]],
    [
      'of Ed25519 by either name',
      [
        { ...edwards, alg: 'EdDSA' },
        { ...edwards, alg: 'Ed25519' },
      ],
    ],
    ['with unusable ones beside', [{ kty: 'oct', k: 'AAAA' }, { ...rsa, use: 'enc' }, agreement, short, curve]],
  ])('can be used: %s', async (_, keys) => {
    await expect(prove(keys)).resolves.toBeUndefined();
  });

  it.each<[string, object[], RegExp]>([
    ['none', [], /there is none/],
    ['one for encryption', [{ ...rsa, kid: 'enc-1', use: 'enc' }], /"enc-1": it is for encryption/],
    ['one of RSA with 1,024 bits', [{ ...short, kid: 'old' }], /"old".*1024 bits/],
    ['one of X25519', [agreement], /its type is "OKP" \("X25519"\)/],
    ['one for another algorithm', [{ ...edwards, alg: 'ES256K' }], /its algorithm is "ES256K"/],
    ['one without a modulus', [{ kty: 'RSA', n: '!!!', e: 'AQAB' }], /a key without a name/],
    ['a symmetric one', [{ kty: 'oct', k: 'AAAA' }], /symmetric/],
    ['one for wrapping', [{ ...rsa, key_ops: ['wrapKey'] }], /its type is "RSA"/],
    ['one of no kind', [{}], /its type is null/],
  ])('cannot be used: %s', async (_, keys, said) => {
    await expect(prove(keys)).rejects.toMatchObject({
      name: 'OpenIdError',
      code: 'KeysUnusable',
      message: expect.stringMatching(said) as string,
    });
  });

  it('are not needed where the provider signs by the secret of the client', async () => {
    const document = { id_token_signing_alg_values_supported: ['HS256'] };
    await expect(prove([], document, 'secret')).resolves.toBeUndefined();
    await expect(prove([], document)).rejects.toMatchObject({ code: 'KeysUnusable' });
    await expect(prove([short], document, 'secret')).rejects.toMatchObject({ code: 'KeysUnusable' });
  });
});
