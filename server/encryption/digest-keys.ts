import { DigestSeal } from './digest-seal.ts';
import { HkdfSha256 } from './hkdf-sha256.ts';

/** By which the digests of encrypted objects are sealed, where no client's key is at hand: listings open a thousand of them. */
export interface DigestKeys {
  /** At once where it is known. Undefined while the backend is not sealed: then there is no key. Throws what the key source throws. */
  ofBucket(bucket: string): DigestSeal | undefined | Promise<DigestSeal | undefined>;
}

/** Part of the format: never to be changed. */
const derivations = {
  bucket: new HkdfSha256('coffer digests of a bucket 1'),
  object: new HkdfSha256('coffer digests of an object 1'),
} as const;

/** Seals that are kept. Beyond this many the one that was made first goes. */
const MAX_KEPT = 1000;

/**
 * The digest key of each bucket, derived from the data key of the sealed backend, which every server has from its start: no call of the
 * key service opens a digest.
 */
export function digestKeys(backendKey: () => Buffer | undefined | Promise<Buffer | undefined>): DigestKeys {
  const kept = new Map<string, DigestSeal>();
  const keep = (bucket: string, key: Buffer | undefined) => {
    if (key === undefined) return undefined;
    // The name of a bucket has at most 63 bytes: HMAC takes 64 as they are.
    const seal = new DigestSeal(derivations.bucket.derive(key, Buffer.from(bucket)));
    if (kept.size >= MAX_KEPT) {
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

/** Of a server or a tool that has no key service. */
export const noDigestKeys: DigestKeys = { ofBucket: () => undefined };

/**
 * Seals the digests of an object that only its client can open (SSE-C).
 *
 * @param objectKey 32 bytes
 * @param id of the object or upload
 */
export function digestSealOfObject(objectKey: Buffer, id: string): DigestSeal {
  return new DigestSeal(derivations.object.derive(objectKey, Buffer.from(id, 'latin1')));
}
