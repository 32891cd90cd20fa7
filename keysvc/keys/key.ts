import { createHash, randomBytes } from 'node:crypto';

/** The ciphers that keys are made for, by their names in key records. */
export const keyAlgorithms = ['AES256-GCM_SHA256', 'XCHACHA20-POLY1305'] as const;
export type KeyAlgorithm = (typeof keyAlgorithms)[number];

/** A named key of the service. Its bytes never leave the process but for the key store. */
export interface Key {
  readonly bytes: Buffer;
  readonly algorithm: KeyAlgorithm;
  /** Hex of the first 16 bytes of SHA-256 of the key's bytes: the key's version in the protocol. */
  readonly id: string;
  readonly createdAt?: Date;
  /** The identity that made it; absent where the service did. */
  readonly createdBy?: string;
  /** What HMACs are computed with; a key of the 2023 releases has none. */
  readonly hmacKey?: Buffer;
  /** Set on every version but the first: whose version it is, and the ID of the first, which tells a key from a later one of its name. */
  readonly rotation?: { readonly name: string; readonly first: string };
}

export const keyBytes = 32;

/** A fresh AES-256 key: what every processor the service runs on does in hardware. */
export function makeKey(createdAt: Date, createdBy?: string): Key {
  return keyOf(randomBytes(keyBytes), 'AES256-GCM_SHA256', createdAt, createdBy);
}

/** A key of bytes that somebody brought, with an HMAC key of its own. */
export function keyOf(bytes: Buffer, algorithm: KeyAlgorithm, createdAt: Date, createdBy?: string): Key {
  return { ...keyFrom(bytes, algorithm, createdAt, createdBy), hmacKey: randomBytes(keyBytes) };
}

export function keyFrom(bytes: Buffer, algorithm: KeyAlgorithm, createdAt?: Date, createdBy?: string): Key {
  return {
    bytes,
    algorithm,
    id: createHash('sha256').update(bytes).digest('hex').slice(0, 32),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(createdBy === undefined || createdBy === '' ? {} : { createdBy }),
  };
}

/** A further version of a key. HMACs stay what they were: they are compared, and nothing says by which version they were made. */
export function successorOf(first: Key, name: string, createdAt: Date, createdBy?: string): Key {
  return {
    ...keyFrom(randomBytes(keyBytes), first.algorithm, createdAt, createdBy),
    ...(first.hmacKey === undefined ? {} : { hmacKey: first.hmacKey }),
    rotation: { name, first: first.id },
  };
}
