import { UnreadableRecord } from './record-format.ts';

/**
 * A record that belongs to one object record: one byte of format version, the object's 16-byte id, the bytes. A reader that finds
 * another id looked between two commits and reads both records again.
 */
const FORMAT = 1;
const BODY_START = 1 + 16;

export function encodeBody(id: string, bytes: Buffer): Buffer {
  const record = Buffer.allocUnsafe(BODY_START + bytes.length);
  record[0] = FORMAT;
  record.write(id, 1, 'hex');
  bytes.copy(record, BODY_START);
  return record;
}

/** Undefined when it belongs to another object. */
export function decodeBody(value: Buffer, id: string): Buffer | undefined {
  if (value[0] !== FORMAT) {
    throw new UnreadableRecord(
      `a body record has format ${value[0]}, this server knows ${FORMAT}: start the newer server`,
    );
  }
  return value.toString('hex', 1, BODY_START) === id ? value.subarray(BODY_START) : undefined;
}
