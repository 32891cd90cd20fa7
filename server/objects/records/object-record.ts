import type { Revision } from '../../store/record-store.ts';
import { crc32 } from 'node:zlib';
import type { Acl } from '../../../protocol/s3/acl.ts';
import type { BlobId } from '../../store/blob-store.ts';
import type {
  Checksum,
  ListedObject,
  ListedVersion,
  ObjectEncryption,
  ObjectHeaders,
  ObjectInfo,
  ObjectLock as ShownLock,
} from '../object-layer.ts';
import type { SealedChecksum, Digests, StoredChecksum, StoredDigests, StoredEtag } from './stored-digests.ts';
import { type BlockSums, isBlockSize, type Sums } from '../checksums/block-sums.ts';
import { StoredDataError } from '../stored-data-error.ts';
import type { EncryptionContext } from '../../encryption/key-source.ts';
import { decodeHead, encodeWithHead, hasHead, HEAD_FORMAT, headSize, type ObjectHead } from './object-head.ts';
import { decodeRecord, encodeRecord, parseRecord } from './record-format.ts';
import type { SealedEtags } from './sealed-etags.ts';

/**
 * A body record belongs to one object record: one byte of format version, the object's 16-byte id, the bytes. A reader that finds
 * another id has read between two commits, and reads both records again.
 */
const BODY_FORMAT = 1;
const BODY_START = 1 + 16;

export function encodeBody(id: string, bytes: Buffer): Buffer {
  const record = Buffer.allocUnsafe(BODY_START + bytes.length);
  record[0] = BODY_FORMAT;
  record.write(id, 1, 'hex');
  bytes.copy(record, BODY_START);
  return record;
}

/** Returns undefined when the record belongs to another object. */
export function decodeBody(value: Buffer, id: string): Buffer | undefined {
  if (value[0] !== BODY_FORMAT) {
    throw new StoredDataError(
      'unreadable-record',
      `a body record has format ${value[0]}, this server knows ${BODY_FORMAT}: start the newer server`,
    );
  }
  return value.toString('hex', 1, BODY_START) === id ? value.subarray(BODY_START) : undefined;
}

/** The parts of an object in their order; each is a blob of its own. */
export interface ManifestPart {
  readonly number: number;
  readonly blob: BlobId;
  /** Plaintext bytes. */
  readonly size: number;
  readonly protection: Protection;
  /** The text, or a sealed one in base64. Its algorithm and type are those of the upload. */
  readonly checksum?: Checksum['value'] | Pick<SealedChecksum, 'sealed'>;
}

export function encodeManifest(parts: readonly ManifestPart[]): Buffer {
  return Buffer.from(JSON.stringify(parts));
}

/**
 * `crc` is the checksum in the object's record; older records have none. Throws `StoredDataError`: a manifest with a changed byte may
 * be valid JSON with other parts.
 */
export function decodeManifest(bytes: Buffer, crc: number | undefined): readonly ManifestPart[] {
  if (crc !== undefined && crc32(bytes) !== crc)
    throw new StoredDataError('unreadable-record', 'the list of its parts does not have its checksum');
  try {
    return JSON.parse(bytes.toString()) as ManifestPart[];
  } catch (error) {
    throw new StoredDataError('unreadable-record', 'the list of its parts is damaged', { cause: error });
  }
}

/** The record `c` of a blob: a byte of format version, the binary logarithm of the block size, the CRC-32 of the sums, the sums. */
const BLOCK_SUMS_FORMAT = 1;
const CRC = 2;
const SUMS = 6;

export function encodeBlockSums({ block, sums }: BlockSums): Buffer {
  const record = Buffer.allocUnsafe(SUMS + sums.length);
  record[0] = BLOCK_SUMS_FORMAT;
  record[1] = Math.log2(block);
  record.writeUInt32BE(crc32(sums), CRC);
  sums.copy(record, SUMS);
  return record;
}

/** Throws `StoredDataError`. */
export function decodeBlockSums(value: Buffer, blob: string): BlockSums {
  if (value[0] !== BLOCK_SUMS_FORMAT) {
    throw new StoredDataError(
      'unreadable-record',
      `the block sums of blob ${blob} have format ${value[0]}, this server knows ${BLOCK_SUMS_FORMAT}: start the newer server that wrote them`,
    );
  }
  const block = 2 ** (value[1] ?? 0);
  const sums = value.subarray(SUMS);
  if (value.length < SUMS || !isBlockSize(block) || crc32(sums) !== value.readUInt32BE(CRC)) {
    throw new StoredDataError('unreadable-record', `the block sums of blob ${blob} are damaged`);
  }
  return { block, sums };
}

/** The record of an object under `o`: all that HEAD and listings show, and the place of its body. */
export interface ObjectRecord {
  /** Unique to this object: created with it, or the id of its upload. */
  readonly id: string;
  readonly modified: number;
  readonly size: number;
  readonly etag: StoredEtag;
  readonly headers: ObjectHeaders;
  readonly body: Body;
  readonly sealed?: SealedKeys;
  readonly checksum?: StoredChecksum;
  /** Set by a read or the scrub: the object is not served any more. */
  readonly damage?: { readonly found: number; readonly what: string };
  /** 32 hexadecimal digits: 6 bytes of `modified`, 10 random ones. Absent for the null version. */
  readonly versionId?: string;
  /** Set for a delete marker, which has no body. */
  readonly deleteMarker?: true;
  readonly tags?: Readonly<Record<string, string>>;
  readonly lock?: ObjectLock;
  /** Absent where the owner of the bucket alone has full control. An older server ignores it, which only takes rights. */
  readonly acl?: Acl;
}

/** The lock of a version. `until` is in milliseconds since 1970; a retention has a mode and an end. */
export interface ObjectLock {
  readonly mode?: 'GOVERNANCE' | 'COMPLIANCE';
  readonly until?: number;
  readonly legalHold?: boolean;
}

/** A record, with the revision that a change of it expects. */
export interface StoredObject {
  readonly record: ObjectRecord;
  readonly revision: Revision;
}

/** The place of the bytes. The separate record of `inline` and `parts` begins with the object's id. */
export type Body =
  | ({ readonly kind: 'inline' } & Protection)
  | ({ readonly kind: 'blob'; readonly blob: BlobId } & Protection)
  /** `crc` is the CRC-32 of the manifest; older records have none. */
  | { readonly kind: 'parts'; readonly count: number; readonly crc?: number }
  /** A delete marker has no body. */
  | { readonly kind: 'none' };

/**
 * How the bytes of a stream are verified. Encrypted streams have tags, under the key of this salt (base64); inline plain bodies have a
 * CRC-32, plain blobs have block sums. `mac` is the GMAC of the ciphertext of a blob, `stored` the CRC-32 of a small one, so that a
 * scrub needs no key. Older blobs have `stored` too, or nothing.
 */
export type Protection =
  | { readonly salt: string; readonly stored?: number; readonly mac?: string }
  /** Blobs of formats 1 and 2 have a CRC-32, a GMAC of all bytes, or both. */
  | Sums;

/** The sealed keys of an encrypted object; bytes are base64. */
export type SealedKeys = ServiceSealedKeys | CustomerSealedKeys;

/** The keys of an object under a data key of the key service. */
export interface ServiceSealedKeys {
  readonly scheme: 'SSE-S3' | 'SSE-KMS';
  readonly keyName: string;
  readonly keyVersion?: string;
  readonly dataKey: string;
  readonly objectKey: string;
  /** The encryption context that the client sent with SSE-KMS. */
  readonly context?: EncryptionContext;
  /** Returned to clients, with SSE-KMS. */
  readonly bucketKey?: boolean;
}

/** The key of an object under a client's key, which the server does not store: only the right key opens this one. */
export interface CustomerSealedKeys {
  readonly scheme: 'SSE-C';
  readonly objectKey: string;
}

/** A newer server writes other kinds: a body of such a kind must not be taken for an absent one. */
const bodyKinds: ReadonlySet<string> = new Set<Body['kind']>(['inline', 'blob', 'parts', 'none']);

/** Encodes a record: the head has what listings show, as `object-head.ts` writes it, and the rest follows as JSON. */
export function encodeObject(record: ObjectRecord): Buffer {
  const { modified: _modified, size: _size, etag: _etag, versionId: _id, deleteMarker: _marker, ...rest } = record;
  return encodeWithHead(headOf(record), rest) ?? encodeRecord(record);
}

/** Decodes formats 1, which is all JSON, 2 and 3. Throws `StoredDataError`. */
export function decodeObject(value: Buffer, bucket: string, key: string): ObjectRecord {
  const what = `object ${bucket}/${key}`;
  if (!hasHead(value)) return decodeRecord(value, what, HEAD_FORMAT) as ObjectRecord;
  const { end, modified, size, etag, versionId, deleteMarker } = decodeHead(value, what);
  const record = parseRecord(value, end, what) as { -readonly [Name in keyof ObjectRecord]: ObjectRecord[Name] };
  if (!bodyKinds.has(record.body.kind)) {
    throw new StoredDataError(
      'unreadable-record',
      `the body of ${what} is of kind ${JSON.stringify(record.body.kind)}, which this server cannot read: start the newer server that wrote it`,
    );
  }
  record.modified = modified;
  record.size = size;
  if (versionId !== undefined) record.versionId = versionId;
  if (deleteMarker) record.deleteMarker = true;
  // Some engines return values that are valid only for a moment.
  record.etag = typeof etag === 'string' ? etag : Buffer.from(etag);
  return record;
}

/**
 * Returns what a listing shows of a record, mostly without decoding it. A sealed ETag is empty until `sealed` opens those of a page
 * together.
 */
export function decodeListed(value: Buffer, bucket: string, key: string, sealed: SealedEtags): ListedObject {
  if (hasHead(value)) {
    const head = decodeHead(value, `object ${bucket}/${key}`);
    if (head.complete) {
      const { etag, etagEnd, end } = head;
      if (typeof etag === 'string') return new Listed(key, head, etag);
      const listed = new Listed(key, head, '');
      if (
        sealed.addRecord(listed, value, { idStart: idStart(value, end), etagStart: etagEnd - etag.length, etagEnd })
      ) {
        return listed;
      }
    }
  }
  const record = decodeObject(value, bucket, key);
  const { id, etag } = record;
  const listed = new Listed(key, headOf(record), typeof etag === 'string' ? etag : '', record);
  if (typeof etag !== 'string') sealed.add(listed, id, etag);
  return listed;
}

/** Returns what a listing of versions shows of a record, as `decodeListed` does. */
export function decodeListedVersion(
  value: Buffer,
  { bucket, key, isLatest }: { readonly bucket: string; readonly key: string; readonly isLatest: boolean },
  sealed: SealedEtags,
): ListedVersion {
  const listed = decodeListed(value, bucket, key, sealed);
  const { versionId, deleteMarker } = versionOf(value, bucket, key);
  // `sealed` keeps the listed object itself, to set its ETag later.
  return Object.assign(listed, { versionId: versionId ?? 'null', isLatest, deleteMarker });
}

function versionOf(value: Buffer, bucket: string, key: string) {
  if (hasHead(value)) return decodeHead(value, `object ${bucket}/${key}`);
  const { versionId, deleteMarker } = decodeObject(value, bucket, key);
  return { versionId, deleteMarker: deleteMarker === true };
}

/** The beginning of the JSON of a record: listings read the id without parsing it. */
const ID_AHEAD = Buffer.from('{"id":"');

/** Returns the offset of the id; undefined where another server wrote it elsewhere. */
function idStart(value: Buffer, json: number): number | undefined {
  const start = json + ID_AHEAD.length;
  for (let at = 0; at < ID_AHEAD.length; at += 1) if (value[json + at] !== ID_AHEAD[at]) return undefined;
  return value[start + 32] === 0x22 ? start : undefined;
}

/** Reports if no digest is sealed. */
export function arePlain<T extends StoredDigests>(stored: T): stored is T & Digests {
  return typeof stored.etag === 'string' && (stored.checksum === undefined || 'value' in stored.checksum);
}

/** Returns the size alone, which a count of all objects needs. Throws `StoredDataError`. */
export function objectSize(value: Buffer): number {
  return hasHead(value) ? headSize(value) : (decodeRecord(value, 'an object', HEAD_FORMAT) as ObjectRecord).size;
}

function headOf(record: ObjectRecord): ObjectHead {
  const { modified, size, etag, checksum, sealed, headers, damage, versionId, deleteMarker, tags, lock } = record;
  return {
    modified,
    size,
    etag,
    checksum: checksum && { algorithm: checksum.algorithm, type: checksum.type },
    encrypted: sealed !== undefined,
    complete: headers.storageClass === undefined && damage === undefined,
    versionId,
    deleteMarker: deleteMarker === true,
    tagged: tags !== undefined,
    locked: lock !== undefined,
  };
}

/** A class: an object literal with optional members costs five times as much. */
class Listed implements ListedObject {
  readonly key: string;
  readonly size: number;
  etag: string;
  readonly modified: number;
  readonly encrypted: boolean;
  readonly checksum: ListedObject['checksum'];
  readonly storageClass: string | undefined;
  damage: ListedObject['damage'];

  /** `record` is passed where the head is not complete. */
  constructor(key: string, head: ObjectHead, etag: string, record?: ObjectRecord) {
    this.key = key;
    this.size = head.size;
    this.etag = etag;
    this.modified = head.modified;
    this.encrypted = head.encrypted;
    this.checksum = head.checksum;
    this.storageClass = record?.headers.storageClass;
    this.damage = record?.damage;
  }
}

/** `versionId` is what clients see: undefined in a bucket that never had versions. */
export function objectInfo(
  {
    bucket,
    key,
    versionId,
    expiration,
  }: Pick<ObjectInfo, 'bucket' | 'key'> & {
    readonly versionId: string | undefined;
    readonly expiration?: ObjectInfo['expiration'] | undefined;
  },
  record: ObjectRecord,
  digests: Digests,
): ObjectInfo {
  return {
    ...record.headers,
    bucket,
    key,
    size: record.size,
    etag: digests.etag,
    lastModified: new Date(record.modified),
    ...(record.sealed && { encryption: shownEncryption(record.sealed) }),
    ...(digests.checksum && { checksum: digests.checksum }),
    ...(record.damage && { damage: record.damage }),
    ...(record.body.kind === 'parts' && { parts: record.body.count }),
    ...(versionId !== undefined && { versionId }),
    ...(record.tags && { tags: record.tags }),
    ...(record.lock && { lock: shownLock(record.lock) }),
    ...(expiration && { expiration }),
  };
}

export function storedLock({ retention, legalHold }: ShownLock): ObjectLock {
  return {
    ...(retention && { mode: retention.mode, until: retention.until.getTime() }),
    ...(legalHold !== undefined && { legalHold }),
  };
}

export function shownLock({ mode, until, legalHold }: ObjectLock): ShownLock {
  return {
    ...(mode !== undefined && until !== undefined && { retention: { mode, until: new Date(until) } }),
    ...(legalHold !== undefined && { legalHold }),
  };
}

export function shownEncryption(sealed: SealedKeys): ObjectEncryption {
  if (sealed.scheme !== 'SSE-KMS') return { scheme: sealed.scheme };
  const { keyName, context, bucketKey } = sealed;
  return { scheme: 'SSE-KMS', keyName, ...(context && { context }), ...(bucketKey !== undefined && { bucketKey }) };
}
