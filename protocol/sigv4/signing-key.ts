import { createHmac, hash } from 'node:crypto';

/** The scope of a signing key: `<date>/<region>/<service>/aws4_request`. */
export interface SignatureScope {
  /** `YYYYMMDD`. */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

/** The sizes of SHA-256's blocks and of its result, in bytes. */
const block = 64;
const digest = 32;

/**
 * HMAC-SHA256 under one key for many short texts, by two plain hashes. Node's `createHmac` makes an object with a native half for each
 * text, which costs twice as much with its garbage collection.
 *
 * @see https://www.rfc-editor.org/rfc/rfc2104
 */
export class HmacSha256 {
  /** The padded key, then the text. */
  #inner: Buffer;
  /** The part of it that was hashed last: the texts of one client mostly have the same length. */
  #filled: Buffer;
  /** The padded key, then the hash of the inner. */
  readonly #outer: Buffer;

  /** @param key at most 64 bytes: a longer one would have to be hashed first */
  constructor(key: Buffer) {
    if (key.length > block) throw new RangeError(`a key of ${key.length} bytes is longer than ${block}`);
    this.#inner = Buffer.alloc(1_024, 0x36, 'latin1');
    this.#filled = this.#inner;
    this.#outer = Buffer.alloc(block + digest, 0x5c, 'latin1');
    for (const [at, byte] of key.entries()) {
      this.#inner[at] = 0x36 ^ byte;
      this.#outer[at] = 0x5c ^ byte;
    }
  }

  /** 64 hexadecimal digits. */
  sign(text: string): string {
    // A UTF-16 unit takes at most three bytes.
    const room = block + 3 * text.length;
    if (room > this.#inner.length) {
      this.#inner = Buffer.concat([this.#inner.subarray(0, block)], room);
      this.#filled = this.#inner;
    }
    const end = block + this.#inner.write(text, block, 'utf8');
    if (this.#filled.length !== end) this.#filled = this.#inner.subarray(0, end);
    this.#outer.write(hash('sha256', this.#filled), block, 'hex');
    return hash('sha256', this.#outer);
  }
}

/** The key of a day, region and service. It is an `HmacSha256` if it signs more than once. */
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
 * A bounded cache of signing keys, which saves four of the five HMACs of each request. The cache finds a key by its secret, so that a
 * changed secret never finds an old key. Keeping only the hash of the secret cost more than the cache saves: a reader of this memory can
 * read the credentials anyway.
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
    // The oldest key goes first: on a new day no request uses the keys of the day before.
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size < this.#limit) break;
      this.#keys.delete(oldest);
    }
    this.#keys.set(id, key);
    return key;
  }
}
