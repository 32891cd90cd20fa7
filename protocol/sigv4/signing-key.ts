import { createHmac } from 'node:crypto';
import { HmacSha256 } from './hmac-sha256.ts';
import type { SignatureScope } from './signed-request.ts';

/** Of a day, region and service; made ready where it signs more than once. */
export type SigningKey = Buffer | HmacSha256;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
export function deriveSigningKey(secretKey: string, scope: SignatureScope): Buffer {
  const date = hmac(`AWS4${secretKey}`, scope.date);
  const region = hmac(date, scope.region);
  const service = hmac(region, scope.service);
  return hmac(service, 'aws4_request');
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data, 'utf8').digest();
}

/** 64 hexadecimal digits. */
export function sign(key: SigningKey, text: string): string {
  return key instanceof HmacSha256 ? key.sign(text) : hmac(key, text).toString('hex');
}

/** `date/region/service/aws4_request`. */
export function formatScope(scope: SignatureScope): string {
  return `${scope.date}/${scope.region}/${scope.service}/aws4_request`;
}

/**
 * A bounded cache of signing keys, which saves four of the five HMACs of each request. A key is found by its secret, so that a
 * changed secret never meets an old key. Hashing the secret to keep only its hash cost more than finding the key: who can read this
 * memory reads the credentials beside it.
 */
export class SigningKeys {
  readonly #keys = new Map<string, HmacSha256>();
  readonly #limit: number;

  constructor(limit = 1_000) {
    this.#limit = limit;
  }

  get(secretKey: string, scope: SignatureScope): HmacSha256 {
    const id = `${formatScope(scope)}/${secretKey}`;
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    const key = new HmacSha256(deriveSigningKey(secretKey, scope));
    // The oldest goes first: with a new day every key of the day before becomes useless anyway.
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size < this.#limit) break;
      this.#keys.delete(oldest);
    }
    this.#keys.set(id, key);
    return key;
  }
}
