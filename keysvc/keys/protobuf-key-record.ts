import { keyFrom, type Key, type KeyAlgorithm } from './key.ts';

/** The fields of one protobuf message by their numbers. The last of repeated fields counts. */
interface ProtobufFields {
  readonly numbers: ReadonlyMap<number, number>;
  readonly bytes: ReadonlyMap<number, Buffer>;
}

interface NoProtobuf {
  readonly issue: string;
}

const varint = 0;
const fixed64 = 1;
const lengthDelimited = 2;
const fixed32 = 5;

function isProtobuf(read: ProtobufFields | NoProtobuf): read is ProtobufFields {
  return 'bytes' in read;
}

/**
 * Reads one message without its schema; nested messages are bytes. Numbers beyond 2^53 lose precision, but key records have none.
 *
 * @see https://protobuf.dev/programming-guides/encoding/
 */
function readProtobuf(data: Buffer): ProtobufFields | NoProtobuf {
  const numbers = new Map<number, number>();
  const bytes = new Map<number, Buffer>();
  let at = 0;
  while (at < data.length) {
    const tag = readVarint(data, at);
    if (tag === undefined) return { issue: 'a tag is cut off' };
    const field = Math.floor(tag.value / 8);
    const type = tag.value % 8;
    at = tag.end;
    if (type === varint) {
      const number = readVarint(data, at);
      if (number === undefined) return { issue: `field ${field} is cut off` };
      numbers.set(field, number.value);
      at = number.end;
      continue;
    }
    const length = type === lengthDelimited ? readVarint(data, at) : fixedLength(type, at);
    if (length === undefined) return { issue: `field ${field} has the type ${type}` };
    const end = length.end + length.value;
    if (end > data.length) return { issue: `field ${field} is cut off` };
    bytes.set(field, data.subarray(length.end, end));
    at = end;
  }
  return { numbers, bytes };
}

function fixedLength(type: number, at: number): { value: number; end: number } | undefined {
  if (type === fixed64) return { value: 8, end: at };
  return type === fixed32 ? { value: 4, end: at } : undefined;
}

/** Seven bits in each byte, the lowest first; at most ten bytes. */
function readVarint(data: Buffer, start: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let i = 0; i < 10; i++) {
    const byte = data[start + i];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return { value, end: start + i + 1 };
  }
  return undefined;
}

const algorithms: Readonly<Record<number, KeyAlgorithm>> = { 1: 'AES256-GCM_SHA256', 2: 'XCHACHA20-POLY1305' };
const sha256 = 1;

/** Reports whether a record is base64. The later releases write their protobuf so. */
export function looksLikeProtobufRecord(data: Buffer): boolean {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(data.toString('latin1').trim());
}

/**
 * Reads the record of the releases since 2024: a key (bytes, cipher), an HMAC key (bytes, hash), a timestamp and the identity of the
 * creator. Errors say what is missing, and never quote the record.
 *
 * @see https://protobuf.dev/programming-guides/encoding/
 */
export function readProtobufRecord(data: Buffer): Key {
  const version = fieldsOf(Buffer.from(data.toString('latin1').trim(), 'base64'), 'the record');
  const key = fieldsOf(bytesOf(version, 1, 'the key'), 'the key');
  const algorithm = algorithms[numberOf(key, 2)];
  if (algorithm === undefined) throw new Error(`its key has the type ${numberOf(key, 2)}, which is unknown`);
  const createdBy = version.bytes.get(4)?.toString('utf8');
  const hmacKey = hmacKeyOf(version);
  return {
    ...keyFrom(bytesOf(key, 1, "the key's bytes"), algorithm, createdAtOf(version), createdBy),
    hmacKey,
  };
}

function hmacKeyOf(version: ProtobufFields): Buffer | undefined {
  const message = version.bytes.get(2);
  if (message === undefined) return undefined;
  const hmac = fieldsOf(message, 'the HMAC key');
  if (numberOf(hmac, 2) !== sha256) throw new Error(`its HMAC key has the hash ${numberOf(hmac, 2)}, which is unknown`);
  return bytesOf(hmac, 1, "the HMAC key's bytes");
}

function createdAtOf(version: ProtobufFields): Date | undefined {
  const message = version.bytes.get(3);
  if (message === undefined) return undefined;
  const timestamp = fieldsOf(message, 'the time');
  const date = new Date(numberOf(timestamp, 1) * 1000 + Math.floor(numberOf(timestamp, 2) / 1_000_000));
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function fieldsOf(data: Buffer, what: string): ProtobufFields {
  const fields = readProtobuf(data);
  if (!isProtobuf(fields)) throw new Error(`${what} is no protobuf message: ${fields.issue}`);
  return fields;
}

function bytesOf(fields: ProtobufFields, number: number, what: string): Buffer {
  const value = fields.bytes.get(number);
  if (value === undefined) throw new Error(`${what} is missing`);
  return value;
}

/** A missing number is 0. */
function numberOf(fields: ProtobufFields, number: number): number {
  return fields.numbers.get(number) ?? 0;
}
