import { isPacked } from '../../store/packed-id.ts';
import { tierOf } from '../../store/tiered-id.ts';
import type {
  Checksum,
  ObjectEncryption,
  ObjectHeaders,
  ObjectInfo,
  ObjectLock as ShownLock,
  ReplicationState,
} from '../contract/object-layer.ts';
import type { StoredEtag, Digests, StoredChecksum, StoredDigests } from './stored-digests.ts';
import type { Revision, Entry } from '../../store/record-store.ts';
import type { Acl } from '../../../protocol/s3/acl.ts';
import type { BlobId } from '../../store/blob-store.ts';
import type { Sums } from '../checksums/block-sums.ts';
import type { EncryptionContext } from '../../encryption/key-source.ts';
import { type AttributeChanges, changesOf } from './change-times.ts';
import { decodeRecord, encodeRecord, parseRecord } from './record-format.ts';
import { StoreError } from '../../store/store-error.ts';

/**
 * The head of an object's record has all that a listing shows, in fixed places before the JSON, so that a listing of a thousand objects
 * parses no JSON:
 *
 * | byte | content                                                                                     |
 * | ---- | ------------------------------------------------------------------------------------------- |
 * | 0    | the format, 4; 3 where the record has nothing that a server of format 3 cannot read         |
 * | 1    | bits 0 to 3 the checksum's algorithm, 4 composite, 5 encrypted, 6 incomplete                |
 * | 2    | bit 0 a sealed ETag, 1 an order, 2 a delete marker, 3 tags, 4 a lock, 5 a replication state, |
 * |      | which the JSON has, 6 a version id after the order; 7 reserved                              |
 * | 3    | 6 bytes: milliseconds since 1970                                                            |
 * | 9    | 6 bytes: the size                                                                           |
 * | 15   | the length of the ETag, which follows; after it 16 bytes of order if bit 1 of byte 2 is set. |
 * |      | Without bit 6 they are the version id too; with it a byte of length and the id follow, and  |
 * |      | the length 0 means the null version. Then the JSON                                          |
 *
 * Format 3 has no bit 6. Format 2 has no byte 2 of fields: all that follows lies one byte earlier. Its byte 1 has 3 bits for the algorithm, then composite,
 * encrypted, incomplete.
 */
const HEAD_FORMAT = 4;
const FORMAT_3 = 3;
const FORMAT_2 = 2;
const FIELDS = 2;
const TIME = 3;
const SIZE = 9;
const ETAG_LENGTH = 15;
const ETAG = 16;
const ALGORITHM = 0b0000_1111;
const COMPOSITE = 0b0001_0000;
const ENCRYPTED = 0b0010_0000;
const INCOMPLETE = 0b0100_0000;
/** Reserved: a further byte of fields. */
const FURTHER_BITS = 0b1000_0000;
const LIMIT = 2 ** 48;
/** Bits of byte 2. */
const SEALED_ETAG = 0b0000_0001;
const ORDER = 0b0000_0010;
const DELETE_MARKER = 0b0000_0100;
const TAGS = 0b0000_1000;
const LOCK = 0b0001_0000;
/** An older server, which would not replicate the changes of the object, refuses it. */
const REPLICATED = 0b0010_0000;
/** Only with an order. */
const VERSION_ID = 0b0100_0000;
const RESERVED = 0b1000_0000;
const ORDER_SIZE = 16;
const MAX_VERSION_ID = 255;

/** The order defines the bits in the head: it must never change. 0 is none. */
const algorithms = [
  'CRC32',
  'CRC32C',
  'CRC64NVME',
  'SHA1',
  'SHA256',
  'SHA512',
  'MD5',
  'XXHASH64',
  'XXHASH3',
  'XXHASH128',
] as const satisfies Checksum['algorithm'][];

type ListedChecksum = Pick<Checksum, 'algorithm' | 'type'>;

export interface ObjectHead {
  readonly modified: number;
  readonly size: number;
  readonly etag: StoredEtag;
  readonly checksum: ListedChecksum | undefined;
  readonly encrypted: boolean;
  /** True where a listing needs nothing else. */
  readonly complete: boolean;
  /** Undefined for the null version. */
  readonly versionId: string | undefined;
  /** 32 hexadecimal digits; undefined where it follows from the version id, or from `modified` for a null version. */
  readonly order: string | undefined;
  readonly deleteMarker: boolean;
  readonly tagged: boolean;
  readonly locked: boolean;
  readonly replicated: boolean;
}

/** All values of the bits, created once. */
const checksums: readonly (ListedChecksum | undefined)[] = Array.from({ length: 32 }, (_, bits) => {
  const algorithm = algorithms[(bits & ALGORITHM) - 1];
  return algorithm && { algorithm, type: (bits & COMPOSITE) === 0 ? 'FULL_OBJECT' : 'COMPOSITE' };
});

export function hasHead(value: Buffer): boolean {
  return value[0] === FORMAT_3 || value[0] === HEAD_FORMAT || value[0] === FORMAT_2;
}

/** Returns undefined where a value does not fit: the record of such an object is all JSON. */
function encodeWithHead(head: ObjectHead, format: number, rest: object): Buffer | undefined {
  const { modified, size, etag, versionId, order } = head;
  if (!fits(modified) || !fits(size) || etag.length > 255) return undefined;
  // oxlint-disable-next-line no-control-regex -- ASCII is from 0 to 7F
  if (typeof etag === 'string' && !/^[\u0000-\u007F]*$/.test(etag)) return undefined;
  const json = JSON.stringify(rest);
  const orderStart = ETAG + etag.length;
  const idStart = orderStart + ORDER_SIZE;
  const idLength = order === undefined || versionId === undefined ? 0 : Buffer.byteLength(versionId);
  if (idLength > MAX_VERSION_ID)
    throw new RangeError(`a version id of ${idLength} bytes is longer than ${MAX_VERSION_ID}`);
  const end = order !== undefined ? idStart + 1 + idLength : versionId !== undefined ? idStart : orderStart;
  const bytes = Buffer.allocUnsafe(end + Buffer.byteLength(json));
  bytes[0] = format;
  bytes[1] = bitsOf(head);
  bytes[FIELDS] = fieldsOf(head);
  bytes.writeUIntBE(modified, TIME, 6);
  bytes.writeUIntBE(size, SIZE, 6);
  bytes[ETAG_LENGTH] = etag.length;
  if (typeof etag === 'string') bytes.write(etag, ETAG, 'latin1');
  else etag.copy(bytes, ETAG);
  if (order !== undefined) {
    bytes.write(order, orderStart, 'hex');
    bytes[idStart] = idLength;
    if (idLength > 0) bytes.write(versionId ?? '', idStart + 1);
  } else if (versionId !== undefined) bytes.write(versionId, orderStart, 'hex');
  bytes.write(json, end);
  return bytes;
}

/** `end` is the start of the JSON; a sealed ETag is a view of the record. Throws `StoreError`; `what` names the record. */
export function decodeHead(
  value: Buffer,
  what: string,
): ObjectHead & { readonly etagEnd: number; readonly end: number } {
  const shift = shiftOf(value);
  const bits = shift === 0 ? (value[1] ?? 0) : bitsOfOldHead(value[1] ?? 0);
  const start = ETAG - shift;
  const etagEnd = start + (value[ETAG_LENGTH - shift] ?? 0);
  const fields = shift === 0 ? (value[FIELDS] ?? 0) : 0;
  const orderEnd = (fields & ORDER) === 0 ? etagEnd : etagEnd + ORDER_SIZE;
  const end = (fields & VERSION_ID) === 0 ? orderEnd : orderEnd + 1 + (value[orderEnd] ?? 0);
  if (value.length < end)
    throw new StoreError('unreadable-record', `the record of ${what} is damaged: it ends inside its head`);
  if ((fields & reservedIn(value[0])) !== 0 || (value[0] === HEAD_FORMAT && (bits & FURTHER_BITS) !== 0)) {
    throw new StoreError(
      'unreadable-record',
      `the record of ${what} has a field that this server cannot read: start the newer server that wrote it`,
    );
  }
  const order = (fields & ORDER) === 0 ? undefined : value.toString('hex', etagEnd, orderEnd);
  const hasId = (fields & VERSION_ID) !== 0;
  return {
    modified: value.readUIntBE(TIME - shift, 6),
    size: value.readUIntBE(SIZE - shift, 6),
    etag: (fields & SEALED_ETAG) === 0 ? value.toString('latin1', start, etagEnd) : value.subarray(start, etagEnd),
    checksum: checksums[bits & (ALGORITHM | COMPOSITE)],
    encrypted: (bits & ENCRYPTED) !== 0,
    complete: (bits & INCOMPLETE) === 0,
    versionId: !hasId ? order : end === orderEnd + 1 ? undefined : value.toString('utf8', orderEnd + 1, end),
    order: hasId ? order : undefined,
    deleteMarker: (fields & DELETE_MARKER) !== 0,
    tagged: (fields & TAGS) !== 0,
    locked: (fields & LOCK) !== 0,
    replicated: (fields & REPLICATED) !== 0,
    etagEnd,
    end,
  };
}

function reservedIn(format: number | undefined): number {
  return format === HEAD_FORMAT ? RESERVED : RESERVED | VERSION_ID;
}

/** Returns the version id in a record where it is not the order of the version; undefined for any other version. */
export function foreignVersionId(value: Buffer): string | undefined {
  if (value[0] !== HEAD_FORMAT || ((value[FIELDS] ?? 0) & VERSION_ID) === 0) return undefined;
  return decodeHead(value, 'a version').versionId;
}

/** Returns the size alone, of a record that has a head. Throws `StoreError`. */
function headSize(value: Buffer): number {
  if (value.length < ETAG)
    throw new StoreError('unreadable-record', 'the record of an object is damaged: it ends inside its head');
  return value.readUIntBE(SIZE - shiftOf(value), 6);
}

/** The count of bytes by which everything after byte 1 is earlier. */
function shiftOf(value: Buffer): number {
  return value[0] === FORMAT_2 ? 1 : 0;
}

/** Converts byte 1 of format 2 to format 3. */
function bitsOfOldHead(bits: number): number {
  return (bits & 0b111) | ((bits & 0b11_1000) << 1);
}

function fieldsOf({ etag, versionId, order, deleteMarker, tagged, locked, replicated }: ObjectHead): number {
  return (
    (typeof etag === 'string' ? 0 : SEALED_ETAG) |
    (order !== undefined ? ORDER | VERSION_ID : versionId !== undefined ? ORDER : 0) |
    (deleteMarker ? DELETE_MARKER : 0) |
    (tagged ? TAGS : 0) |
    (locked ? LOCK : 0) |
    (replicated ? REPLICATED : 0)
  );
}

function bitsOf({ checksum, encrypted, complete }: ObjectHead): number {
  return (
    (checksum === undefined ? 0 : algorithms.indexOf(checksum.algorithm) + 1) |
    (checksum?.type === 'COMPOSITE' ? COMPOSITE : 0) |
    (encrypted ? ENCRYPTED : 0) |
    (complete ? 0 : INCOMPLETE)
  );
}

function fits(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < LIMIT;
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
  /**
   * Absent for the null version. That of a version made here is its order: 32 hexadecimal digits, 6 bytes of `modified` and 10 random
   * ones. That of a version from elsewhere is a text of up to 255 bytes.
   */
  readonly versionId?: string;
  /** 32 hexadecimal digits (`version-order.ts`). Absent where it is the version id, and where it follows from `modified`. */
  readonly order?: string;
  /** Set for a delete marker, which has no body. */
  readonly deleteMarker?: true;
  readonly tags?: Readonly<Record<string, string>>;
  readonly lock?: ObjectLock;
  readonly replication?: ReplicationState;
  /** When attributes changed after the version was made. An absent one is as old as the version. */
  readonly changes?: AttributeChanges;
  /** The restored copy of a body in a tier. */
  readonly restore?: Restore;
  /** Absent where the owner of the bucket alone has full control. An older server ignores it, which only takes rights. */
  readonly acl?: Acl;
  /** The rename that gave the object its key: a repetition of the request changes nothing. */
  readonly renamed?: {
    /** The client token of the request. */
    readonly token: string;
    /** The digest of its other parameters. */
    readonly request: string;
  };
}

/**
 * A temporary copy of a body in a tier, which a client asked for. Times are milliseconds since 1970. The blobs of the copy have ids that
 * follow from `id` and those of the tier.
 */
export type Restore =
  | { readonly kind: 'ongoing'; readonly days: number; readonly asked: number }
  | { readonly kind: 'restored'; readonly id: string; readonly until: number };

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

/**
 * The place of the bytes. The separate record of `inline` and `parts` begins with the object's id. A body in a tier is a `blob`, or `parts`
 * with `tiered`, whose blob ids name the tier.
 */
export type Body =
  | ({ readonly kind: 'inline' } & Protection)
  | ({ readonly kind: 'blob'; readonly blob: BlobId } & Protection)
  /** `crc` is the CRC-32 of the manifest; older records have none. */
  | { readonly kind: 'parts'; readonly count: number; readonly crc?: number; readonly tiered?: true }
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

/** Encodes a record: the head has what listings show, and the rest follows as JSON. */
export function encodeObject(record: ObjectRecord): Buffer {
  const {
    modified: _modified,
    size: _size,
    etag: _etag,
    versionId: _id,
    order: _order,
    deleteMarker: _marker,
    ...rest
  } = record;
  const place = isInSegment(record.body) ? IN_SEGMENT : isTiered(record) ? IN_TIER : undefined;
  const stored = place === undefined ? rest : { ...rest, body: { ...record.body, kind: place } };
  return encodeWithHead(headOf(record), formatOf(record), stored) ?? encodeRecord(record);
}

/** A record that a server of format 3 can read stays one: what needs format 4 is written only after the switch to it (decision 82). */
function formatOf({ order, changes }: ObjectRecord): number {
  return order === undefined && changes === undefined ? FORMAT_3 : HEAD_FORMAT;
}

/** The stored kind of a packed body. Servers that cannot read it must not look for a blob of its id. */
const IN_SEGMENT = 'segment';

/** The stored kind of a body in a tier. Older servers refuse it. */
const IN_TIER = 'tier';

/** Reports if the body of an object is in a tier. */
export function isTiered({ body }: Pick<ObjectRecord, 'body'>): boolean {
  return body.kind === 'blob' ? tierOf(body.blob) !== undefined : body.kind === 'parts' && body.tiered === true;
}

function isInSegment(body: Body): boolean {
  return body.kind === 'blob' && isPacked(body.blob);
}

/** Decodes formats 1, which is all JSON, to 4. Throws `StoreError`. */
export function decodeObject(value: Buffer, bucket: string, key: string): ObjectRecord {
  const what = `object ${bucket}/${key}`;
  if (!hasHead(value)) return decodeRecord(value, what, HEAD_FORMAT) as ObjectRecord;
  const { end, modified, size, etag, versionId, order, deleteMarker } = decodeHead(value, what);
  const record = parseRecord(value, end, what) as { -readonly [Name in keyof ObjectRecord]: ObjectRecord[Name] };
  const place: string = record.body.kind;
  if (place === IN_SEGMENT || place === IN_TIER) {
    record.body = { ...record.body, kind: 'blob' in record.body ? 'blob' : 'parts' } as Body;
  }
  if (!bodyKinds.has(record.body.kind)) {
    throw new StoreError(
      'unreadable-record',
      `the body of ${what} is of kind ${JSON.stringify(record.body.kind)}, which this server cannot read: start the newer server that wrote it`,
    );
  }
  record.modified = modified;
  record.size = size;
  if (versionId !== undefined) record.versionId = versionId;
  if (order !== undefined) record.order = order;
  if (deleteMarker) record.deleteMarker = true;
  // Some engines return values that are valid only for a moment.
  record.etag = typeof etag === 'string' ? etag : Buffer.from(etag);
  return record;
}

/** Reports if no digest is sealed. */
export function arePlain<T extends StoredDigests>(stored: T): stored is T & Digests {
  return typeof stored.etag === 'string' && (stored.checksum === undefined || 'value' in stored.checksum);
}

/** Returns the size alone, which a count of all objects needs. Throws `StoreError`. */
export function objectSize(value: Buffer): number {
  return hasHead(value) ? headSize(value) : (decodeRecord(value, 'an object', HEAD_FORMAT) as ObjectRecord).size;
}

export function headOf(record: ObjectRecord): ObjectHead {
  const { modified, size, etag, checksum, sealed, headers, damage, versionId, order, deleteMarker, tags, lock } =
    record;
  return {
    modified,
    size,
    etag,
    checksum: checksum && { algorithm: checksum.algorithm, type: checksum.type },
    encrypted: sealed !== undefined,
    complete: headers.storageClass === undefined && damage === undefined,
    versionId,
    order,
    deleteMarker: deleteMarker === true,
    tagged: tags !== undefined,
    locked: lock !== undefined,
    replicated: record.replication !== undefined,
  };
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
    ...(record.replication && { replication: record.replication }),
    ...((record.changes ?? record.replication?.changed) !== undefined && { changes: changesOf(record) }),
    ...(expiration && { expiration }),
    ...(record.restore && { restore: shownRestore(record.restore) }),
  };
}

export function shownRestore(restore: Restore): NonNullable<ObjectInfo['restore']> {
  return restore.kind === 'ongoing' ? { ongoing: true } : { ongoing: false, until: new Date(restore.until) };
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

export function storedObject(entry: Entry | undefined, bucket: string, key: string): StoredObject | undefined {
  return entry && { record: decodeObject(entry.value, bucket, key), revision: entry.revision };
}
