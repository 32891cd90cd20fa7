import { isProtobuf, readProtobuf } from './protobuf-fields.ts';
import type { ProtobufFields } from './protobuf-fields.ts';
import { keyFrom } from './key.ts';
import type { Key, KeyAlgorithm } from './key.ts';

const algorithms: Readonly<Record<number, KeyAlgorithm>> = { 1: 'AES256-GCM_SHA256', 2: 'XCHACHA20-POLY1305' };
const sha256 = 1;

/** Whether a record is base64, which is how the later releases write their protobuf. */
export function looksLikeProtobufRecord(data: Buffer): boolean {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(data.toString('latin1').trim());
}

/**
 * Reads the record of the releases of 2024 and later: a key (bytes, cipher), an HMAC key (bytes, hash), a timestamp and the maker's
 * identity. Errors with a text that says what is missing, and never quotes the record.
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
    ...(hmacKey === undefined ? {} : { hmacKey }),
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
  if (!isProtobuf(fields)) throw new Error(`${what} is no protobuf message: ${fields.problem}`);
  return fields;
}

function bytesOf(fields: ProtobufFields, number: number, what: string): Buffer {
  const value = fields.bytes.get(number);
  if (value === undefined) throw new Error(`${what} is missing`);
  return value;
}

/** A number that is not written is 0. */
function numberOf(fields: ProtobufFields, number: number): number {
  return fields.numbers.get(number) ?? 0;
}
