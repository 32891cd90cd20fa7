import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { digestSealOfObject } from '../../encryption/digest-keys.ts';
import type { DigestSeal } from '../../encryption/digest-seal.ts';
import type { ObjectContext } from '../context/context.ts';
import { arePlain, type SealedKeys } from '../records/object-record.ts';
import {
  type DigestOwner,
  type Digests,
  openChecksum,
  openEtag,
  sealChecksum,
  sealEtag,
  type StoredChecksum,
  type StoredDigests,
  type StoredEtag,
  sealingKeyOf,
} from '../records/stored-digests.ts';

/** The object or part that digests belong to. */
interface DigestsPlace extends DigestOwner {
  readonly bucket: string;
}

/**
 * Seals the digests of an encrypted object for its record: in the clear, they would reveal short contents to a reader of the disk. A
 * random ETag is not sealed. The checksum of an object under a client's key (SSE-C) is sealed under the object's own key, all others under
 * the key of the bucket. With `everyEtag` the ETag is not random whatever the encryption: a replica has it from its source, where the object
 * may be plain.
 *
 * @throws S3Error `ServiceUnavailable` while the backend is not sealed
 */
export function sealDigests(
  context: Pick<ObjectContext, 'digests'>,
  place: DigestsPlace,
  digests: Digests,
  keys: { readonly sealed: SealedKeys | undefined; readonly objectKey: Buffer | undefined },
  everyEtag = false,
): StoredDigests | Promise<StoredDigests> {
  const { sealed, objectKey } = keys;
  const { etag, checksum } = digests;
  if (sealed === undefined) return digests;
  const sealsEtag = everyEtag || sealed.scheme === 'SSE-S3';
  if (!sealsEtag && checksum === undefined) return digests;
  const ofClient = sealed.scheme === 'SSE-C' && checksum !== undefined;
  const ownChecksum = ofClient ? sealChecksum(sealOfClient(objectKey, place), 'object', place, checksum) : undefined;
  if (!sealsEtag && ownChecksum !== undefined) return { etag, checksum: ownChecksum };
  const withSeal = (seal: DigestSeal): StoredDigests => ({
    etag: sealsEtag ? sealEtag(seal, place, etag) : etag,
    ...(checksum && { checksum: ownChecksum ?? sealChecksum(seal, 'bucket', place, checksum) }),
  });
  const seal = bucketSeal(context, place.bucket);
  return seal instanceof Promise ? seal.then(withSeal) : withSeal(seal);
}

function sealOfClient(objectKey: Buffer | undefined, { id }: DigestsPlace): DigestSeal {
  if (objectKey === undefined) throw new Error('a digest of SSE-C needs its object key');
  return digestSealOfObject(objectKey, id);
}

/**
 * Opens the digests as clients see them.
 *
 * @param objectKey the key of an SSE-C object, where the client sent its key; without it, a checksum under that key is left out
 * @throws StoreError where a digest was changed, or belongs to another object
 */
export function openDigests(
  context: Pick<ObjectContext, 'digests'>,
  place: DigestsPlace,
  stored: StoredDigests,
  objectKey?: Buffer,
): Digests | Promise<Digests> {
  if (arePlain(stored)) return stored;
  if (!needsBucketKey(stored)) return open(place, stored, undefined, objectKey);
  const seal = bucketSeal(context, place.bucket);
  return seal instanceof Promise
    ? seal.then((known) => open(place, stored, known, objectKey))
    : open(place, stored, seal, objectKey);
}

/** Returns the digest key of a bucket, for callers that open many digests. Throws as `sealDigests`. */
export function bucketSeal(
  { digests }: Pick<ObjectContext, 'digests'>,
  bucket: string,
): DigestSeal | Promise<DigestSeal> {
  const seal = digests.ofBucket(bucket);
  return seal instanceof Promise ? seal.then(present) : present(seal);
}

function present(seal: DigestSeal | undefined): DigestSeal {
  if (seal !== undefined) return seal;
  throw new S3Error(
    'ServiceUnavailable',
    'Encrypted objects cannot be used yet: another server of this store has no key service. Try again when every server has it.',
  );
}

function needsBucketKey({ etag, checksum }: StoredDigests): boolean {
  if (typeof etag !== 'string') return true;
  return (
    checksum !== undefined && 'sealed' in checksum && sealingKeyOf(Buffer.from(checksum.sealed, 'base64')) === 'bucket'
  );
}

function open(
  place: DigestsPlace,
  { etag, checksum }: StoredDigests,
  seal: DigestSeal | undefined,
  objectKey: Buffer | undefined,
): Digests {
  const opened = checksum && openedChecksum(place, checksum, seal, objectKey);
  return {
    etag: typeof etag === 'string' ? etag : openEtag(present(seal), place, etag),
    ...(opened && { checksum: opened }),
  };
}

function openedChecksum(
  place: DigestsPlace,
  checksum: StoredChecksum,
  seal: DigestSeal | undefined,
  objectKey: Buffer | undefined,
) {
  if ('value' in checksum) return checksum;
  if (sealingKeyOf(Buffer.from(checksum.sealed, 'base64')) === 'bucket')
    return openChecksum(present(seal), place, checksum);
  return objectKey && openChecksum(digestSealOfObject(objectKey, place.id), place, checksum);
}

/**
 * Returns the values that conditions are compared with. A sealed ETag is opened only where there are conditions. Throws as
 * `openDigests`.
 */
export function comparable<T extends { readonly id: string; readonly etag: StoredEtag }>(
  context: Pick<ObjectContext, 'digests'>,
  bucket: string,
  record: T | undefined,
  conditions: object | undefined,
): Comparable<T> | undefined | Promise<Comparable<T>> {
  if (record === undefined || hasPlainText(record)) return record;
  if (conditions === undefined) return { ...record, etag: '' };
  const opened = openDigests(context, { bucket, id: record.id, part: 0 }, { etag: record.etag });
  return opened instanceof Promise
    ? opened.then(({ etag }) => ({ ...record, etag }))
    : { ...record, etag: opened.etag };
}

type Comparable<T> = Omit<T, 'etag'> & { readonly etag: string };

function hasPlainText<T extends { readonly etag: StoredEtag }>(record: T): record is T & { readonly etag: string } {
  return typeof record.etag === 'string';
}
