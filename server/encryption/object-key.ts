import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import { streamKey } from './packages.ts';
import { StoreError } from '../store/store-error.ts';

/**
 * The place that a sealed object key is bound to. Each object has a random key of its own, sealed under a key that is derived from a
 * data key or from a client's key. A record that is moved to another name, or a sealed key in another object's record, does not open.
 */
export interface ObjectPlace {
  readonly bucket: string;
  readonly key: string;
  /** The id of this object or upload, never used again. */
  readonly id: string;
}

/** The key that seals an object key. A client's key never opens what a data key sealed, even if their bytes are the same. */
interface OuterKey {
  /** `service`: a data key of the key service; `customer`: given by the client. */
  readonly origin: 'service' | 'customer';
  readonly bytes: Buffer;
}

/** A sealed object key: 1 byte format, 32 of salt, 32 of ciphertext, 16 of tag. */
type SealedObjectKey = Buffer;

const FORMAT = 1;
const KEY_SIZE = 32;
const SALT_END = 1 + 32;
const SEALED_SIZE = SALT_END + KEY_SIZE + 16;
/** The sealing key is derived with a fresh salt and used once, so a fixed nonce is safe. */
const NONCE = Buffer.alloc(12);

export function newObjectKey(random: (size: number) => Buffer): Buffer {
  return random(KEY_SIZE);
}

export function sealObjectKey(
  objectKey: Buffer,
  outer: OuterKey,
  place: ObjectPlace,
  random: (size: number) => Buffer,
): SealedObjectKey {
  const salt = random(32);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(outer, salt), NONCE);
  cipher.setAAD(placeBytes(place));
  const sealed = cipher.update(objectKey);
  cipher.final();
  return Buffer.concat([Buffer.of(FORMAT), salt, sealed, cipher.getAuthTag()]);
}

/** Throws `StoreError` with the code `ciphertext-damaged` if the sealed key was changed, or belongs to another object or outer key. */
export function openObjectKey(sealed: SealedObjectKey, outer: OuterKey, place: ObjectPlace): Buffer {
  const where = `the sealed key of object ${place.bucket}/${place.key}`;
  if (sealed[0] !== FORMAT || sealed.length !== SEALED_SIZE) {
    throw new StoreError('ciphertext-damaged', `${where} has an unknown format (${sealed[0]}, ${sealed.length} bytes)`);
  }
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(outer, sealed.subarray(1, SALT_END)), NONCE, {
    authTagLength: 16,
  });
  decipher.setAAD(placeBytes(place));
  decipher.setAuthTag(sealed.subarray(SALT_END + KEY_SIZE));
  const objectKey = decipher.update(sealed.subarray(SALT_END, SALT_END + KEY_SIZE));
  try {
    decipher.final();
  } catch (error) {
    throw new StoreError('ciphertext-damaged', `${where} is not authentic`, { cause: error });
  }
  return objectKey;
}

/** Part of the format, so they must never change. */
const infos: Readonly<Record<OuterKey['origin'], string>> = {
  service: 'coffer object key 1',
  customer: 'coffer object key of a customer 1',
};

function sealingKey({ origin, bytes }: OuterKey, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', bytes, salt, infos[origin], 32));
}

function placeBytes(place: ObjectPlace): Buffer {
  return Buffer.from(JSON.stringify([place.bucket, place.key, place.id]));
}

/** The length of a client's key in bytes. AES-256 is the only algorithm of S3. */
export const CUSTOMER_KEY_SIZE = 32;

/**
 * A key of the client (SSE-C). It comes with each request and is not stored. Its bytes are a private field, so that logs and JSON cannot
 * contain them.
 */
export class CustomerKey {
  readonly #bytes: Buffer;
  /** Base64, the form of the response header. */
  readonly md5: string;

  /** Throws `RangeError` unless the key has 32 bytes. */
  constructor(bytes: Buffer) {
    if (bytes.length !== CUSTOMER_KEY_SIZE)
      throw new RangeError(`a key of a client must have ${CUSTOMER_KEY_SIZE} bytes`);
    this.#bytes = bytes;
    this.md5 = createHash('md5').update(bytes).digest('base64');
  }

  seal(objectKey: Buffer, place: ObjectPlace, random: (size: number) => Buffer): SealedObjectKey {
    return sealObjectKey(objectKey, { origin: 'customer', bytes: this.#bytes }, place, random);
  }

  /** Throws `StoreError` with the code `ciphertext-damaged` if it was sealed with another key. The time does not depend on the key. */
  open(sealed: SealedObjectKey, place: ObjectPlace): Buffer {
    return openObjectKey(sealed, { origin: 'customer', bytes: this.#bytes }, place);
  }
}

/**
 * An opened object key. It caches the key of the last stream.
 *
 * Keys are Latin-1 strings, because thousands are cached: a small buffer has its own memory outside V8's heap, or keeps its pool alive.
 */
export class OpenedObjectKey {
  readonly #bytes: string;
  #salt: string | undefined;
  #streamKey = '';

  constructor(bytes: Buffer) {
    this.#bytes = bytes.toString('latin1');
  }

  /** A copy of the key. */
  get bytes(): Buffer {
    return Buffer.from(this.#bytes, 'latin1');
  }

  /**
   * Returns the key of one stream of the object, in a new buffer.
   *
   * @param salt base64, the form in records
   */
  streamKey(salt: string): Buffer {
    if (salt !== this.#salt) {
      this.#streamKey = streamKey(this.bytes, Buffer.from(salt, 'base64')).toString('latin1');
      this.#salt = salt;
    }
    return Buffer.from(this.#streamKey, 'latin1');
  }
}
