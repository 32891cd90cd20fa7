import { createHash, randomBytes } from 'node:crypto';

/** The ciphers of keys, by their names in key records. */
export const keyAlgorithms = ['AES256-GCM_SHA256', 'XCHACHA20-POLY1305'] as const;
export type KeyAlgorithm = (typeof keyAlgorithms)[number];

/** A named key of the service. Its bytes leave the process only for the key store. */
export interface Key {
  readonly bytes: Buffer;
  readonly algorithm: KeyAlgorithm;
  /** Hex of the first 16 bytes of the SHA-256 of the key's bytes. It is the key's version in the protocol. */
  readonly id: string;
  readonly createdAt?: Date;
  /** The identity that created it; absent where the service did. */
  readonly createdBy?: string;
  /** The key for HMACs. A key of the releases of 2023 has none. */
  readonly hmacKey?: Buffer;
  /**
   * Set on every version but the first: the name of the key, and the ID of its first version, which distinguishes it from a later key of
   * the same name.
   */
  readonly rotation?: { readonly name: string; readonly first: string };
}

export const keyBytes = 32;

/** Makes an AES-256 key. Every supported processor has AES in hardware. */
export function makeKey(createdAt: Date, createdBy?: string): Key {
  return keyOf(randomBytes(keyBytes), 'AES256-GCM_SHA256', createdAt, createdBy);
}

/** Makes a key of imported bytes, with a new HMAC key. */
export function keyOf(bytes: Buffer, algorithm: KeyAlgorithm, createdAt: Date, createdBy?: string): Key {
  return { ...keyFrom(bytes, algorithm, createdAt, createdBy), hmacKey: randomBytes(keyBytes) };
}

export function keyFrom(bytes: Buffer, algorithm: KeyAlgorithm, createdAt?: Date, createdBy?: string): Key {
  return {
    bytes,
    algorithm,
    id: createHash('sha256').update(bytes).digest('hex').slice(0, 32),
    createdAt,
    createdBy: createdBy || undefined,
  };
}

/** Makes another version of a key. It keeps the HMAC key, since HMACs are compared and do not name a version. */
export function successorOf(first: Key, name: string, createdAt: Date, createdBy?: string): Key {
  return {
    ...keyFrom(randomBytes(keyBytes), first.algorithm, createdAt, createdBy),
    hmacKey: first.hmacKey,
    rotation: { name, first: first.id },
  };
}
