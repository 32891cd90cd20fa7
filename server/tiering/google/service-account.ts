import { createPrivateKey, createSign, type KeyObject } from 'node:crypto';
import { z } from 'zod';

/** The key of a service account of Google, as the console of Google gives it in a file. */
export interface ServiceAccount {
  readonly email: string;
  readonly keyId: string;
  readonly key: KeyObject;
}

const keyFile = z.object({
  type: z.literal('service_account'),
  client_email: z.string().min(3).max(254),
  private_key_id: z.string().max(254).default(''),
  private_key: z.string().max(16_384),
});

/** Parses the file of a key. Undefined where it is none of a service account; its content is never shown. */
export function parseServiceAccount(text: string): ServiceAccount | undefined {
  try {
    const { client_email: email, private_key_id: keyId, private_key: pem } = keyFile.parse(JSON.parse(text));
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'rsa' ? { email, keyId, key } : undefined;
  } catch {
    return undefined;
  }
}

const scope = 'https://www.googleapis.com/auth/devstorage.read_write';
/** Seconds for which a token is valid, and before whose end another one is made. */
const lifetime = 3_600;
const margin = 300;

/**
 * Returns a function that makes tokens of an account. The account signs them itself, so that no other service of Google is asked.
 *
 * @see https://google.aip.dev/auth/4111
 */
export function accountTokens({ email, keyId, key }: ServiceAccount, clock: () => number = Date.now): () => string {
  let made: { readonly token: string; readonly ends: number } | undefined;
  return () => {
    const now = Math.floor(clock() / 1_000);
    if (made === undefined || now > made.ends - margin || now < made.ends - lifetime) {
      const ends = now + lifetime;
      const head = { alg: 'RS256', typ: 'JWT', ...(keyId !== '' && { kid: keyId }) };
      const claims = { iss: email, sub: email, scope, iat: now, exp: ends };
      const signed = [head, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
      made = { token: `${signed}.${createSign('RSA-SHA256').update(signed).sign(key, 'base64url')}`, ends };
    }
    return made.token;
  };
}
