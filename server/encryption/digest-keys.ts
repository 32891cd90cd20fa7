import { hkdfSync } from 'node:crypto';
import { DigestSeal } from './digest-seal.ts';

/** The keys that seal the digests of encrypted objects, without a client's key. A listing opens a thousand digests. */
export interface DigestKeys {
  /** Returns the seal of a bucket, synchronously if it is cached, or undefined while the backend is not sealed. Throws the errors of the key source. */
  ofBucket(bucket: string): DigestSeal | undefined | Promise<DigestSeal | undefined>;
}

/** Part of the format, so they must never change. */
const infos = { bucket: 'coffer digests of a bucket 1', object: 'coffer digests of an object 1' } as const;

/** The maximum number of cached seals. The oldest one is dropped first. */
const MAX_CACHED = 1000;

/**
 * Derives the digest key of each bucket from the data key of the sealed backend. Every server has that key from its start, so opening a
 * digest needs no call of the key service.
 */
export function digestKeys(backendKey: () => Buffer | undefined | Promise<Buffer | undefined>): DigestKeys {
  const kept = new Map<string, DigestSeal>();
  const keep = (bucket: string, key: Buffer | undefined) => {
    if (key === undefined) return undefined;
    const seal = new DigestSeal(derive(key, Buffer.from(bucket), infos.bucket));
    if (kept.size >= MAX_CACHED) {
      const [oldest] = kept.keys();
      if (oldest !== undefined) kept.delete(oldest);
    }
    kept.set(bucket, seal);
    return seal;
  };
  return {
    ofBucket(bucket) {
      const known = kept.get(bucket);
      if (known !== undefined) return known;
      const key = backendKey();
      return key instanceof Promise ? key.then((bytes) => keep(bucket, bytes)) : keep(bucket, key);
    },
  };
}

/** For a server or a tool without a key service. */
export const noDigestKeys: DigestKeys = { ofBucket: () => undefined };

/**
 * Seals the digests of an object that only its client can open (SSE-C).
 *
 * @param objectKey 32 bytes
 * @param id of the object or upload
 */
export function digestSealOfObject(objectKey: Buffer, id: string): DigestSeal {
  return new DigestSeal(derive(objectKey, Buffer.from(id, 'latin1'), infos.object));
}

function derive(secret: Buffer, salt: Buffer, info: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, 32));
}
