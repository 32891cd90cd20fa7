import { hash } from 'node:crypto';

/** Bytes of SHA-256's blocks and of its result. */
const block = 64;
const digest = 32;

/**
 * HMAC-SHA256 under one key for many short texts, by two plain hashes. Node's `createHmac` makes an object with a native half for each
 * text, which with its collection costs twice as much.
 *
 * @see https://www.rfc-editor.org/rfc/rfc2104
 */
export class HmacSha256 {
  /** The padded key, then the text. */
  #inner: Buffer;
  /** What of it was hashed last: texts of one client are all of one length. */
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
    // A UTF-16 unit is at most three bytes.
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
