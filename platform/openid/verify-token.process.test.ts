import { SignJWT, UnsecuredJWT, base64url } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOpenIdProvider, type OpenIdProviderDouble } from '../../test/support/openid/openid-provider.ts';
import { createKeySet } from './key-set.ts';
import { createLimitedFetch } from '../http/limited-fetch.ts';
import { verifyToken, type TokenExpectations } from './verify-token.ts';

let provider: OpenIdProviderDouble;
let expected: TokenExpectations;

beforeAll(async () => {
  provider = await startOpenIdProvider({ algorithm: 'RS256', users: [{ username: 'ann', claims: { policy: 'a' } }] });
  expected = expectations();
});
afterAll(() => provider.close());

function expectations(changes: Partial<TokenExpectations> = {}): TokenExpectations {
  const jwksUri = `${provider.issuer}/protocol/openid-connect/certs`;
  const keys = createKeySet(jwksUri, { fetch: createLimitedFetch(), cooldownMs: 0 });
  return { issuer: provider.issuer, clientId: 'coffer', keys, ...changes };
}

const now = () => Math.floor(Date.now() / 1000);

const clientSecret = 'a secret of at least thirty-two bytes';
const sign = (secret: string, alg = 'HS256') =>
  new SignJWT({ iss: provider.issuer, sub: 'x', azp: 'coffer', exp: now() + 60 })
    .setProtectedHeader({ alg })
    .sign(new TextEncoder().encode(secret));

const noKeys = () =>
  createKeySet('https://idp.example/keys', { fetch: () => Promise.resolve(new Response('{"keys":[]}')) });

describe('verifyToken', () => {
  it('takes an access token that names the client in azp alone', async () => {
    const verified = await verifyToken(await provider.accessToken('ann'), expected);
    expect(verified).toMatchObject({ subject: provider.user('ann').id, issuer: provider.issuer });
    expect(verified.claims['policy']).toBe('a');
  });

  it('takes an ID token, and an audience among several', async () => {
    await verifyToken(await provider.idToken('ann'), expected);
    await verifyToken(await provider.accessToken('ann', { aud: ['account', 'coffer'], azp: 'other' }), expected);
  });

  it.each(['RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'ES512'] as const)('takes %s after a rotation', async (alg) => {
    await provider.keys.rotate(alg);
    await verifyToken(await provider.accessToken('ann'), expected);
  });

  it('refuses a token for another client, and says for whom it is', async () => {
    const token = await provider.accessToken('ann', { aud: ['account', 'else'], azp: 'else' });
    await expect(verifyToken(token, expected)).rejects.toMatchObject({
      code: 'AudienceMismatch',
      message: expect.stringMatching(/\["account","else"\].*"else".*"coffer"/) as string,
    });
  });

  it('refuses a token without any audience', async () => {
    const token = await provider.accessToken('ann', { aud: undefined, azp: undefined });
    await expect(verifyToken(token, expected)).rejects.toMatchObject({ code: 'AudienceMismatch' });
  });

  it('refuses another issuer, and shows both', async () => {
    const token = await provider.accessToken('ann', { iss: 'https://evil.example' });
    await expect(verifyToken(token, expected)).rejects.toMatchObject({
      code: 'IssuerMismatch',
      message: expect.stringContaining('https://evil.example') as string,
    });
  });

  it('refuses an expired token, and names both times', async () => {
    const token = await provider.accessToken('ann', { exp: now() - 60 });
    await expect(verifyToken(token, expected)).rejects.toMatchObject({
      code: 'TokenExpired',
      message: expect.stringMatching(/expired at \d{4}-\S+Z, and it is \d{4}-\S+Z here/) as string,
    });
  });

  it('forgives clocks that are some seconds apart', async () => {
    await verifyToken(await provider.accessToken('ann', { nbf: now() + 5, exp: now() - 5 }), expected);
    const token = await provider.accessToken('ann', { nbf: now() + 60 });
    await expect(verifyToken(token, expected)).rejects.toMatchObject({
      code: 'TokenNotYetValid',
      message: expect.stringMatching(/valid from \d{4}-\S+Z on \(nbf\), and it is \d{4}-\S+Z here/) as string,
    });
  });

  it.each(['sub', 'exp'])('refuses a token without %s', async (claim) => {
    const token = await provider.accessToken('ann', { [claim]: undefined });
    await expect(verifyToken(token, expected)).rejects.toMatchObject({ code: 'ClaimMissing' });
  });

  it('takes an expiry beyond what a date can hold', async () => {
    const verified = await verifyToken(await provider.accessToken('ann', { exp: 1e300 }), expected);
    expect(verified.expiration.getTime()).toBe(8.64e15);
  });

  it('refuses a changed payload', async () => {
    const [header, , signature] = (await provider.accessToken('ann')).split('.');
    const payload = base64url.encode(JSON.stringify({ iss: provider.issuer, sub: 'root', azp: 'coffer', exp: 9e9 }));
    await expect(verifyToken(`${header}.${payload}.${signature}`, expected)).rejects.toMatchObject({
      code: 'SignatureInvalid',
    });
  });

  it('refuses a token without a signature', async () => {
    const token = new UnsecuredJWT({ iss: provider.issuer, sub: 'x', azp: 'coffer', exp: now() + 60 }).encode();
    await expect(verifyToken(token, expected)).rejects.toMatchObject({ code: 'AlgorithmRefused' });
  });

  it('refuses a key that the provider does not publish, and names it', async () => {
    const token = await provider.keys.sign({ iss: provider.issuer, sub: 'x', exp: now() + 60 }, { kid: 'stranger' });
    await expect(verifyToken(token, expected)).rejects.toMatchObject({
      code: 'KeyUnknown',
      message: expect.stringContaining('"stranger"') as string,
    });
  });

  it.each(['', 'abc', 'a.b.c', '..', '{}', 'x'.repeat(20_001)])('refuses what is no token (%#)', async (token) => {
    await expect(verifyToken(token, expected)).rejects.toMatchObject({ code: 'TokenMalformed' });
  });

  describe('with tokens signed by HMAC', () => {
    it('takes one by the client secret where discovery lists the algorithm and no key is published', async () => {
      const hmac = expectations({ clientSecret, hmacAlgorithms: ['HS256'], keys: noKeys() });
      await verifyToken(await sign(clientSecret), hmac);
      await expect(verifyToken(await sign('another secret of more than 32 bytes'), hmac)).rejects.toMatchObject({
        code: 'SignatureInvalid',
      });
    });

    it('refuses one where discovery does not list it: a weak secret must not become a signing key unasked', async () => {
      const token = await sign(clientSecret);
      await expect(verifyToken(token, expectations({ clientSecret }))).rejects.toMatchObject({
        code: 'AlgorithmRefused',
      });
      await expect(verifyToken(token, expectations({ clientSecret, hmacAlgorithms: ['HS512'] }))).rejects.toMatchObject(
        { code: 'AlgorithmRefused' },
      );
    });

    // Keycloak lists HS256 in each realm, and never signs by the secret of a client.
    it('refuses one where the provider publishes keys: an application with the secret could write it', async () => {
      const hmac = expectations({ clientSecret, hmacAlgorithms: ['HS256'] });
      await expect(verifyToken(await sign(clientSecret), hmac)).rejects.toMatchObject({
        code: 'AlgorithmRefused',
        message: expect.stringContaining('HS256') as string,
      });
    });

    it('refuses one that is signed by a published public key', async () => {
      const [jwk] = provider.keys.published.keys;
      const hmac = expectations({ clientSecret, hmacAlgorithms: ['HS256'] });
      await expect(verifyToken(await sign(JSON.stringify(jwk)), hmac)).rejects.toMatchObject({
        code: 'AlgorithmRefused',
      });
    });
  });
});
