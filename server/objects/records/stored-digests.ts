import { type DigestSeal, SEAL_SIZE } from '../../encryption/digest-seal.ts';
import type { Checksum } from '../contract/object-layer.ts';
import { StoreError } from '../../store/store-error.ts';

/** A sealed digest as records have it: a byte of key and form, then the output of `DigestSeal`. */
export type SealedDigest = Buffer;

/** An ETag as a record has it: text, or sealed where it is the MD5 of encrypted bytes. */
export type StoredEtag = string | SealedDigest;

/** A checksum as a record has it. */
export type StoredChecksum = Checksum | SealedChecksum;

export interface SealedChecksum extends Pick<Checksum, 'algorithm' | 'type'> {
  /** Base64. */
  readonly sealed: string;
}

/** The digests in the record of an object or a part. */
export interface StoredDigests {
  readonly etag: StoredEtag;
  readonly checksum?: StoredChecksum;
}

/** The digests of an object or a part, as clients see them. */
export interface Digests {
  readonly etag: string;
  readonly checksum?: Checksum;
}

/** The key that seals a digest: that of the bucket, or the object's own (SSE-C). */
type SealingKey = 'bucket' | 'object';

/** 0 for an object. */
export interface DigestOwner {
  readonly id: string;
  readonly part: number;
}

/** The first byte of a sealed digest. It is part of the format, as are the fields, and must never change. */
const UNDER: Readonly<Record<SealingKey, number>> = { bucket: 1, object: 2 };
const KEY_BITS = 0x0f;
/** The text is sealed as it is, since it does not have the usual form. */
const TEXT = 0x10;

/** The field of an ETag, which listings open. */
export const ETAG_FIELD = 1;
const CHECKSUM_FIELD = 0x20;
const TEXT_FIELD = 0x80;

/** The order is part of the format: it must never change. `size` is in bytes. */
const algorithms: readonly { readonly name: Checksum['algorithm']; readonly size: number }[] = [
  { name: 'CRC32', size: 4 },
  { name: 'CRC32C', size: 4 },
  { name: 'CRC64NVME', size: 8 },
  { name: 'SHA1', size: 20 },
  { name: 'SHA256', size: 32 },
  { name: 'SHA512', size: 64 },
  { name: 'MD5', size: 16 },
  { name: 'XXHASH64', size: 8 },
  { name: 'XXHASH3', size: 8 },
  { name: 'XXHASH128', size: 16 },
];
const MD5_SIZE = 16;

export function sealingKeyOf(sealed: SealedDigest): SealingKey {
  return ((sealed[0] ?? 0) & KEY_BITS) === UNDER.object ? 'object' : 'bucket';
}

/**
 * Returns the digest size of a sealed ETag that listings open together: an MD5, or an MD5 and the count of parts. 0 for any other ETag.
 * The ETag begins at `start` of a record, and the output of `DigestSeal` one byte later.
 */
export function md5InRecord(record: Buffer, start: number, end: number): number {
  if (record[start] !== UNDER.bucket) return 0;
  const length = end - start - 1 - SEAL_SIZE;
  return length === MD5_SIZE || length === MD5_SIZE + 2 ? length : 0;
}

export function sealEtag(seal: DigestSeal, owner: DigestOwner, etag: string): SealedDigest {
  return sealText(seal, 'bucket', { ...owner, field: ETAG_FIELD }, etag, { size: MD5_SIZE, encoding: 'hex' });
}

/** Throws `StoreError` with the code `ciphertext-damaged`. */
export function openEtag(seal: DigestSeal, owner: DigestOwner, sealed: SealedDigest): string {
  return openText(seal, { ...owner, field: ETAG_FIELD }, sealed, { size: MD5_SIZE, encoding: 'hex' });
}

export function sealChecksum(
  seal: DigestSeal,
  under: SealingKey,
  owner: DigestOwner,
  { algorithm, type, value }: Checksum,
): SealedChecksum {
  const { field, form } = checksumForm({ algorithm, type });
  return { algorithm, type, sealed: sealText(seal, under, { ...owner, field }, value, form).toString('base64') };
}

/** Throws `StoreError` with the code `ciphertext-damaged`. */
export function openChecksum(
  seal: DigestSeal,
  owner: DigestOwner,
  { algorithm, type, sealed }: SealedChecksum,
): Checksum {
  const { field, form } = checksumForm({ algorithm, type });
  return { algorithm, type, value: openText(seal, { ...owner, field }, Buffer.from(sealed, 'base64'), form) };
}

interface Form {
  /** The size of the digest in bytes; two more are the count of parts, after a dash in the text. */
  readonly size: number;
  readonly encoding: 'hex' | 'base64';
}

/** The field also binds the algorithm and the type to the digest. */
function checksumForm({ algorithm, type }: Pick<Checksum, 'algorithm' | 'type'>): {
  readonly field: number;
  readonly form: Form;
} {
  const at = algorithms.findIndex(({ name }) => name === algorithm);
  const field = CHECKSUM_FIELD + 2 * at + (type === 'COMPOSITE' ? 1 : 0);
  return { field, form: { size: algorithms[at]?.size ?? 0, encoding: 'base64' } };
}

interface Place extends DigestOwner {
  readonly field: number;
}

function sealText(seal: DigestSeal, under: SealingKey, place: Place, text: string, form: Form): SealedDigest {
  const bytes = encodeDigest(text, form);
  return bytes === undefined
    ? Buffer.concat([
        Buffer.of(UNDER[under] | TEXT),
        seal.seal({ ...place, field: place.field + TEXT_FIELD }, Buffer.from(text)),
      ])
    : Buffer.concat([Buffer.of(UNDER[under]), seal.seal(place, bytes)]);
}

function openText(seal: DigestSeal, place: Place, sealed: SealedDigest, form: Form): string {
  const first = sealed[0] ?? 0;
  const isText = (first & TEXT) !== 0;
  const field = isText ? place.field + TEXT_FIELD : place.field;
  const known = (first & ~(KEY_BITS | TEXT)) === 0 && Object.values(UNDER).includes(first & KEY_BITS);
  const digest = known ? seal.open({ ...place, field }, sealed.subarray(1)) : undefined;
  if (digest === undefined)
    throw new StoreError('ciphertext-damaged', `a digest of object ${place.id} is not authentic`);
  return isText ? digest.toString() : decodeDigest(digest, form);
}

/** Returns undefined for a text that would not be restored exactly. */
function encodeDigest(text: string, form: Form): Buffer | undefined {
  const [value = '', count] = text.split('-', 2);
  const digest = Buffer.from(value, form.encoding);
  const parts = Number(count ?? 0);
  if (digest.length !== form.size || !(parts >= 0 && parts <= 0xffff)) return undefined;
  const bytes = count === undefined ? digest : Buffer.concat([digest, Buffer.of(parts >> 8, parts & 0xff)]);
  return decodeDigest(bytes, form) === text ? bytes : undefined;
}

function decodeDigest(bytes: Buffer, { size, encoding }: Form): string {
  const value = bytes.toString(encoding, 0, size);
  return bytes.length === size ? value : `${value}-${bytes.readUInt16BE(size)}`;
}
