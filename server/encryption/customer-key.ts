import { createHash } from 'node:crypto';
import { type ObjectPlace, openObjectKey, sealObjectKey, type SealedObjectKey } from './object-key.ts';

/** Bytes of a key that a client gives: AES-256 is the only algorithm of S3. */
export const CUSTOMER_KEY_SIZE = 32;

/**
 * A key of the client's own (SSE-C). It comes with each request and is forgotten after it. Its bytes are a private field, so that
 * neither a log line nor JSON of what holds it can show them.
 */
export class CustomerKey {
  readonly #bytes: Buffer;
  /** Base64, as answers repeat it. */
  readonly md5: string;

  /** Throws `RangeError` where it has not 32 bytes. */
  constructor(bytes: Buffer) {
    if (bytes.length !== CUSTOMER_KEY_SIZE) throw new RangeError(`a key of a client has ${CUSTOMER_KEY_SIZE} bytes`);
    this.#bytes = bytes;
    this.md5 = createHash('md5').update(bytes).digest('base64');
  }

  seal(objectKey: Buffer, place: ObjectPlace, random: (size: number) => Buffer): SealedObjectKey {
    return sealObjectKey(objectKey, { origin: 'customer', bytes: this.#bytes }, place, random);
  }

  /** Throws `DamagedCiphertext` where it was sealed with another key; that takes as long for any other key. */
  open(sealed: SealedObjectKey, place: ObjectPlace): Buffer {
    return openObjectKey(sealed, { origin: 'customer', bytes: this.#bytes }, place);
  }
}
