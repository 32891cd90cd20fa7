import { streamKey } from './packages.ts';

/**
 * The key of an object, opened. It gives the key of the stream that it was asked for last without deriving it again.
 *
 * Keys are strings of Latin-1: thousands are kept, and a small buffer either has memory of its own outside V8's heap or holds on to the
 * pool that it was cut from.
 */
export class OpenedObjectKey {
  readonly #bytes: string;
  #salt: string | undefined;
  #streamKey = '';

  constructor(bytes: Buffer) {
    this.#bytes = bytes.toString('latin1');
  }

  /** In a new buffer. */
  get bytes(): Buffer {
    return Buffer.from(this.#bytes, 'latin1');
  }

  /**
   * The key of one stream of the object, in a new buffer.
   *
   * @param salt base64, as records have it
   */
  streamKey(salt: string): Buffer {
    if (salt !== this.#salt) {
      this.#streamKey = streamKey(this.bytes, Buffer.from(salt, 'base64')).toString('latin1');
      this.#salt = salt;
    }
    return Buffer.from(this.#streamKey, 'latin1');
  }
}
