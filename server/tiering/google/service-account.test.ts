import { generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { accountTokens, parseServiceAccount } from './service-account.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const file = {
  type: 'service_account',
  client_email: 'coffer@project.iam.gserviceaccount.com',
  private_key_id: 'key-1',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
};

function account(more: object = {}) {
  return parseServiceAccount(JSON.stringify({ ...file, ...more }));
}

const partsOf = (token: string) =>
  token.split('.', 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as unknown);

describe('the file of a key', () => {
  it('is one of a service account', () => {
    expect(account()).toMatchObject({ email: file.client_email, keyId: 'key-1' });
  });

  it.each<[string, object]>([
    ['of a person', { type: 'authorized_user' }],
    ['without a key', { private_key: undefined }],
    ['with a damaged key', { private_key: 'no key' }],
    [
      'with a key of elliptic curves',
      { private_key: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) },
    ],
  ])('is none %s', (_, more) => {
    expect(account(more)).toBeUndefined();
  });

  it('is none that is no JSON', () => {
    expect(parseServiceAccount('text')).toBeUndefined();
  });
});

describe('the token of an account', () => {
  it('is signed by it, for an hour and the bodies alone', () => {
    const token = accountTokens(account() as never, () => 1_000_000)();
    const signed = token.slice(0, token.lastIndexOf('.'));
    const signature = token.slice(signed.length + 1);
    expect(verify('RSA-SHA256', Buffer.from(signed), publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
    expect(partsOf(token)).toEqual([
      { alg: 'RS256', typ: 'JWT', kid: 'key-1' },
      {
        iss: file.client_email,
        sub: file.client_email,
        scope: 'https://www.googleapis.com/auth/devstorage.read_write',
        iat: 1_000,
        exp: 4_600,
      },
    ]);
  });

  it('is used again until five minutes before its end, and not after the clock was set back', () => {
    let now = 10_000_000;
    const token = accountTokens(account() as never, () => now);
    const first = token();
    now += 55 * 60_000;
    expect(token()).toBe(first);
    now += 1_000;
    const second = token();
    expect(second).not.toBe(first);
    now -= 60 * 60_000;
    expect(token()).not.toBe(second);
  });
});
