import { createHmac, hash } from 'node:crypto';
import type { SignatureScope } from './signed-request.ts';

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
export function deriveSigningKey(secretKey: string, scope: SignatureScope): Buffer {
  const date = hmac(`AWS4${secretKey}`, scope.date);
  const region = hmac(date, scope.region);
  const service = hmac(region, scope.service);
  return hmac(service, 'aws4_request');
}

export function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data, 'utf8').digest();
}

/** `date/region/service/aws4_request`. */
export function formatScope(scope: SignatureScope): string {
  return `${scope.date}/${scope.region}/${scope.service}/aws4_request`;
}

/**
 * A bounded cache of signing keys, which saves four of the five HMACs of each request. A key is found by the hash of its secret,
 * so that a changed secret never meets an old key and no secret is kept.
 */
export class SigningKeys {
  readonly #keys = new Map<string, Buffer>();
  readonly #limit: number;

  constructor(limit = 1_000) {
    this.#limit = limit;
  }

  get(secretKey: string, scope: SignatureScope): Buffer {
    const id = `${hash('sha256', secretKey, 'base64')}/${formatScope(scope)}`;
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    const key = deriveSigningKey(secretKey, scope);
    // The oldest goes first: with a new day every key of the day before becomes useless anyway.
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size < this.#limit) break;
      this.#keys.delete(oldest);
    }
    this.#keys.set(id, key);
    return key;
  }
}
