import type { Checksum } from '../object-layer.ts';
import type { StoredEtag } from './stored-digests.ts';
import { StoredDataError } from '../stored-data-error.ts';

/**
 * The head of an object's record has all that a listing shows, in fixed places before the JSON, so that a listing of a thousand objects
 * parses no JSON:
 *
 * | byte | content                                                                                     |
 * | ---- | ------------------------------------------------------------------------------------------- |
 * | 0    | the format, 3                                                                               |
 * | 1    | bits 0 to 3 the checksum's algorithm, 4 composite, 5 encrypted, 6 incomplete                |
 * | 2    | bit 0 a sealed ETag, 1 a version id, 2 a delete marker, 3 tags, 4 a lock; 5 to 7 reserved    |
 * | 3    | 6 bytes: milliseconds since 1970                                                            |
 * | 9    | 6 bytes: the size                                                                           |
 * | 15   | the length of the ETag, which follows; after it 16 bytes of version id if bit 1 of byte 2 is |
 * |      | set, then the JSON                                                                          |
 *
 * Format 2 has no byte 2 of fields: all that follows lies one byte earlier. Its byte 1 has 3 bits for the algorithm, then composite,
 * encrypted, incomplete.
 */
export const HEAD_FORMAT = 3;
const OLD_HEAD_FORMAT = 2;
const FIELDS = 2;
const TIME = 3;
const SIZE = 9;
const ETAG_LENGTH = 15;
const ETAG = 16;
const ALGORITHM = 0b0000_1111;
const COMPOSITE = 0b0001_0000;
const ENCRYPTED = 0b0010_0000;
const INCOMPLETE = 0b0100_0000;
const LIMIT = 2 ** 48;
/** Bits of byte 2. */
const SEALED_ETAG = 0b0000_0001;
const VERSION_ID = 0b0000_0010;
const DELETE_MARKER = 0b0000_0100;
const TAGS = 0b0000_1000;
const LOCK = 0b0001_0000;
const RESERVED = 0b1110_0000;
const VERSION_ID_SIZE = 16;

/** The order defines the bits in the head: it must never change. 0 is none. */
const algorithms = [
  'CRC32',
  'CRC32C',
  'CRC64NVME',
  'SHA1',
  'SHA256',
  'SHA512',
  'MD5',
] as const satisfies Checksum['algorithm'][];

export type ListedChecksum = Pick<Checksum, 'algorithm' | 'type'>;

export interface ObjectHead {
  readonly modified: number;
  readonly size: number;
  readonly etag: StoredEtag;
  readonly checksum: ListedChecksum | undefined;
  readonly encrypted: boolean;
  /** True where a listing needs nothing else. */
  readonly complete: boolean;
  /** 32 hexadecimal digits; undefined for the null version. */
  readonly versionId: string | undefined;
  readonly deleteMarker: boolean;
  readonly tagged: boolean;
  readonly locked: boolean;
}

/** All values of the bits, created once. */
const checksums: readonly (ListedChecksum | undefined)[] = Array.from({ length: 32 }, (_, bits) => {
  const algorithm = algorithms[(bits & ALGORITHM) - 1];
  return algorithm && { algorithm, type: (bits & COMPOSITE) === 0 ? 'FULL_OBJECT' : 'COMPOSITE' };
});

export function hasHead(value: Buffer): boolean {
  return value[0] === HEAD_FORMAT || value[0] === OLD_HEAD_FORMAT;
}

/** Returns undefined where a value does not fit: the record of such an object is all JSON. */
export function encodeWithHead(head: ObjectHead, rest: object): Buffer | undefined {
  const { modified, size, etag } = head;
  if (!fits(modified) || !fits(size) || etag.length > 255) return undefined;
  // oxlint-disable-next-line no-control-regex -- ASCII is from 0 to 7F
  if (typeof etag === 'string' && !/^[\u0000-\u007F]*$/.test(etag)) return undefined;
  const json = JSON.stringify(rest);
  const versionStart = ETAG + etag.length;
  const end = versionStart + (head.versionId === undefined ? 0 : VERSION_ID_SIZE);
  const bytes = Buffer.allocUnsafe(end + Buffer.byteLength(json));
  bytes[0] = HEAD_FORMAT;
  bytes[1] = bitsOf(head);
  bytes[FIELDS] = fieldsOf(head);
  bytes.writeUIntBE(modified, TIME, 6);
  bytes.writeUIntBE(size, SIZE, 6);
  bytes[ETAG_LENGTH] = etag.length;
  if (typeof etag === 'string') bytes.write(etag, ETAG, 'latin1');
  else etag.copy(bytes, ETAG);
  if (head.versionId !== undefined) bytes.write(head.versionId, versionStart, 'hex');
  bytes.write(json, end);
  return bytes;
}

/** `end` is the start of the JSON; a sealed ETag is a view of the record. Throws `StoredDataError`; `what` names the record. */
export function decodeHead(
  value: Buffer,
  what: string,
): ObjectHead & { readonly etagEnd: number; readonly end: number } {
  const shift = shiftOf(value);
  const bits = shift === 0 ? (value[1] ?? 0) : bitsOfOldHead(value[1] ?? 0);
  const start = ETAG - shift;
  const etagEnd = start + (value[ETAG_LENGTH - shift] ?? 0);
  const fields = shift === 0 ? (value[FIELDS] ?? 0) : 0;
  const end = (fields & VERSION_ID) === 0 ? etagEnd : etagEnd + VERSION_ID_SIZE;
  if (value.length < end)
    throw new StoredDataError('unreadable-record', `the record of ${what} is damaged: it ends inside its head`);
  if ((fields & RESERVED) !== 0) {
    throw new StoredDataError(
      'unreadable-record',
      `the record of ${what} has a replication state, which this server cannot read: start the newer server that wrote it`,
    );
  }
  return {
    modified: value.readUIntBE(TIME - shift, 6),
    size: value.readUIntBE(SIZE - shift, 6),
    etag: (fields & SEALED_ETAG) === 0 ? value.toString('latin1', start, etagEnd) : value.subarray(start, etagEnd),
    checksum: checksums[bits & (ALGORITHM | COMPOSITE)],
    encrypted: (bits & ENCRYPTED) !== 0,
    complete: (bits & INCOMPLETE) === 0,
    versionId: (fields & VERSION_ID) === 0 ? undefined : value.toString('hex', etagEnd, end),
    deleteMarker: (fields & DELETE_MARKER) !== 0,
    tagged: (fields & TAGS) !== 0,
    locked: (fields & LOCK) !== 0,
    etagEnd,
    end,
  };
}

/** Returns the size alone, of a record that has a head. Throws `StoredDataError`. */
export function headSize(value: Buffer): number {
  if (value.length < ETAG)
    throw new StoredDataError('unreadable-record', 'the record of an object is damaged: it ends inside its head');
  return value.readUIntBE(SIZE - shiftOf(value), 6);
}

/** The count of bytes by which everything after byte 1 is earlier. */
function shiftOf(value: Buffer): number {
  return value[0] === OLD_HEAD_FORMAT ? 1 : 0;
}

/** Converts byte 1 of format 2 to format 3. */
function bitsOfOldHead(bits: number): number {
  return (bits & 0b111) | ((bits & 0b11_1000) << 1);
}

function fieldsOf({ etag, versionId, deleteMarker, tagged, locked }: ObjectHead): number {
  return (
    (typeof etag === 'string' ? 0 : SEALED_ETAG) |
    (versionId === undefined ? 0 : VERSION_ID) |
    (deleteMarker ? DELETE_MARKER : 0) |
    (tagged ? TAGS : 0) |
    (locked ? LOCK : 0)
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
