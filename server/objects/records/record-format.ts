import { StoredDataError } from '../stored-data-error.ts';
/** Records of the object layer: one byte of format version, then JSON. A server refuses the records of a newer one instead of guessing. */
const FORMAT = 1;

export function encodeRecord(record: object): Buffer {
  const json = JSON.stringify(record);
  const bytes = Buffer.allocUnsafe(1 + Buffer.byteLength(json));
  bytes[0] = FORMAT;
  bytes.write(json, 1);
  return bytes;
}

/**
 * Decodes a record. `what` names it in the message; `newest` is its newest format, where that is not the common one. The shape is
 * trusted: only this server's formats carry its version byte.
 */
export function decodeRecord(value: Buffer, what: string, newest = FORMAT): unknown {
  checkFormat(value, what, newest);
  return parseRecord(value, 1, what);
}

/** Parses the JSON of a record, from byte `start` on. */
export function parseRecord(value: Buffer, start: number, what: string): unknown {
  try {
    return JSON.parse(value.toString('utf8', start));
  } catch (error) {
    throw new StoredDataError('unreadable-record', `the record of ${what} is damaged`, { cause: error });
  }
}

export function checkFormat(value: Buffer, what: string, newest = FORMAT): void {
  if (value[0] === FORMAT) return;
  throw new StoredDataError(
    'unreadable-record',
    `the record of ${what} has format ${value[0]}, this server knows ${newest}: start the newer server that wrote it`,
  );
}
