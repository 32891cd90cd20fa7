import { createCipheriv, createDecipheriv } from 'node:crypto';
import { DamagedCiphertext } from './damaged-ciphertext.ts';
import { HkdfSha256 } from './hkdf-sha256.ts';

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
export interface OuterKey {
  /** `service`: a data key of the key service; `customer`: given by the client. */
  readonly origin: 'service' | 'customer';
  readonly bytes: Buffer;
}

/** A sealed object key: 1 byte format, 32 of salt, 32 of ciphertext, 16 of tag. */
export type SealedObjectKey = Buffer;

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
