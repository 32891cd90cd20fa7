import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { DamagedCiphertext } from './package-format.ts';
import { HkdfSha256 } from './hkdf-sha256.ts';
import { streamKey } from './packages.ts';

/**
 * Each object has a random key of its own, sealed under a key derived from a data key, or from a client's key. It is bound to where
 * it belongs, so that a record moved to another name, or a sealed key put into another object's record, opens nothing.
 */
export interface ObjectPlace {
  readonly bucket: string;
  readonly key: string;
  /** Of this object or upload, never used again. */
  readonly id: string;
}

/** The key that an object key is sealed with. One of a client never opens what one of the key service sealed, were they the same. */
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

/** Throws `DamagedCiphertext` when the sealed key was changed, or belongs to another object or outer key. */
export function openObjectKey(sealed: SealedObjectKey, outer: OuterKey, place: ObjectPlace): Buffer {
  const where = `the sealed key of object ${place.bucket}/${place.key}`;
  if (sealed[0] !== FORMAT || sealed.length !== SEALED_SIZE) {
    throw new DamagedCiphertext(`${where} has an unknown format (${sealed[0]}, ${sealed.length} bytes)`);
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
    throw new DamagedCiphertext(`${where} is not authentic`, { cause: error });
  }
  return objectKey;
}

/** Part of the format: never to be changed. */
const derivations: Readonly<Record<OuterKey['origin'], HkdfSha256>> = {
  service: new HkdfSha256('coffer object key 1'),
  customer: new HkdfSha256('coffer object key of a customer 1'),
};

function sealingKey({ origin, bytes }: OuterKey, salt: Buffer): Buffer {
  return derivations[origin].derive(bytes, salt);
}

function placeBytes(place: ObjectPlace): Buffer {
  return Buffer.from(JSON.stringify([place.bucket, place.key, place.id]));
}

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
