import type { Checksum } from '../object-layer.ts';
import { UnreadableRecord } from './record-format.ts';

/**
 * What listings show of an object stands at the beginning of its record in fixed places, so that a listing of a thousand objects
 * parses no JSON:
 *
 * | byte | what                                                                                                |
 * | ---- | --------------------------------------------------------------------------------------------------- |
 * | 0    | the format, 2                                                                                       |
 * | 1    | bits 0 to 2 the checksum's algorithm, 3 whether it is composite, 4 encrypted, 5 incomplete          |
 * | 2    | 6 bytes: milliseconds since 1970                                                                    |
 * | 8    | 6 bytes: the size                                                                                   |
 * | 14   | the length of the ETag, which follows; after it the JSON                                            |
 */
export const HEAD_FORMAT = 2;
const TIME = 2;
const SIZE = 8;
const ETAG_LENGTH = 14;
const ETAG = 15;
const ALGORITHM = 0b0000_0111;
const COMPOSITE = 0b0000_1000;
const ENCRYPTED = 0b0001_0000;
const INCOMPLETE = 0b0010_0000;
const LIMIT = 2 ** 48;

/** By their bits in the head: never to be put in another order. 0 is none. */
const algorithms = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const satisfies Checksum['algorithm'][];

export type ListedChecksum = Pick<Checksum, 'algorithm' | 'type'>;

export interface ObjectHead {
  readonly modified: number;
  readonly size: number;
  readonly etag: string;
  readonly checksum: ListedChecksum | undefined;
  readonly encrypted: boolean;
  /** Whether a listing shows nothing else. */
  readonly complete: boolean;
}

/** One for each value of the bits, made once. */
const checksums: readonly (ListedChecksum | undefined)[] = Array.from({ length: 16 }, (_, bits) => {
  const algorithm = algorithms[(bits & ALGORITHM) - 1];
  return algorithm && { algorithm, type: (bits & COMPOSITE) === 0 ? 'FULL_OBJECT' : 'COMPOSITE' };
});

export function hasHead(value: Buffer): boolean {
  return value[0] === HEAD_FORMAT;
}

/** Undefined where something does not fit: such an object is all JSON. */
export function encodeWithHead(head: ObjectHead, rest: object): Buffer | undefined {
  const { modified, size, etag } = head;
  // oxlint-disable-next-line no-control-regex -- ASCII is from 0 to 7F
  if (!fits(modified) || !fits(size) || etag.length > 255 || !/^[\u0000-\u007F]*$/.test(etag)) return undefined;
  const json = JSON.stringify(rest);
  const end = ETAG + etag.length;
  const bytes = Buffer.allocUnsafe(end + Buffer.byteLength(json));
  bytes[0] = HEAD_FORMAT;
  bytes[1] = bitsOf(head);
  bytes.writeUIntBE(modified, TIME, 6);
  bytes.writeUIntBE(size, SIZE, 6);
  bytes[ETAG_LENGTH] = etag.length;
  bytes.write(etag, ETAG, 'latin1');
  bytes.write(json, end);
  return bytes;
}

/** `end` is where the JSON begins. Throws `UnreadableRecord`; `what` names the record. */
export function decodeHead(value: Buffer, what: string): ObjectHead & { readonly end: number } {
  const bits = value[1] ?? 0;
  const end = ETAG + (value[ETAG_LENGTH] ?? 0);
  if (value.length < end) throw new UnreadableRecord(`the record of ${what} is damaged: it ends inside its head`);
  return {
    modified: value.readUIntBE(TIME, 6),
    size: value.readUIntBE(SIZE, 6),
    etag: value.toString('latin1', ETAG, end),
    checksum: checksums[bits & (ALGORITHM | COMPOSITE)],
    encrypted: (bits & ENCRYPTED) !== 0,
    complete: (bits & INCOMPLETE) === 0,
    end,
  };
}

/** The size alone, of a value that has a head. Throws `UnreadableRecord`. */
export function headSize(value: Buffer): number {
  if (value.length < ETAG) throw new UnreadableRecord('the record of an object is damaged: it ends inside its head');
  return value.readUIntBE(SIZE, 6);
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
