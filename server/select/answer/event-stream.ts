import { crc32 } from 'node:zlib';

/** Bytes that a query has read: from the object, after decompression, and in its result. */
export interface SelectCounts {
  scanned: number;
  processed: number;
  returned: number;
}

/**
 * Encodes a message of AWS's event stream: the lengths of all and of the headers, a checksum of both, headers, payload, and a checksum of
 * all. Every header is a string (type 7).
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
 */
function encodeMessage(headers: readonly (readonly [name: string, value: string])[], payload: Buffer): Buffer {
  const encoded = Buffer.concat(headers.map(([name, value]) => encodeHeader(name, value)));
  const message = Buffer.allocUnsafe(16 + encoded.length + payload.length);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(encoded.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  encoded.copy(message, 12);
  payload.copy(message, 12 + encoded.length);
  message.writeUInt32BE(crc32(message.subarray(0, message.length - 4)), message.length - 4);
  return message;
}

function encodeHeader(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name), Buffer.from(value)];
  const encoded = Buffer.alloc(1 + key.length + 3 + text.length);
  encoded.writeUInt8(key.length, 0);
  key.copy(encoded, 1);
  encoded.writeUInt8(7, 1 + key.length);
  encoded.writeUInt16BE(text.length, 2 + key.length);
  text.copy(encoded, 4 + key.length);
  return encoded;
}

function event(type: string, contentType: string | undefined, payload: Buffer): Buffer {
  return encodeMessage(
    [
      [':message-type', 'event'],
      [':event-type', type],
      ...(contentType === undefined ? [] : ([[':content-type', contentType]] as const)),
    ],
    payload,
  );
}

const nothing = Buffer.alloc(0);

export function recordsMessage(payload: Buffer): Buffer {
  return event('Records', 'application/octet-stream', payload);
}

/** Keeps the connection alive while a query finds nothing. */
export function continuationMessage(): Buffer {
  return event('Cont', undefined, nothing);
}

export function progressMessage(counts: SelectCounts): Buffer {
  return event('Progress', 'text/xml', countsDocument('Progress', counts));
}

export function statsMessage(counts: SelectCounts): Buffer {
  return event('Stats', 'text/xml', countsDocument('Stats', counts));
}

/** The client takes a stream without this message for one that broke. */
export function endMessage(): Buffer {
  return event('End', undefined, nothing);
}

/** Ends a stream that began. Values of headers have 64 KiB at most. */
export function errorMessage(code: string, message: string): Buffer {
  const headers = [
    [':message-type', 'error'],
    [':error-code', code],
    [':error-message', message.slice(0, 1_024)],
  ] as const;
  return encodeMessage(headers, nothing);
}

function countsDocument(name: string, { scanned, processed, returned }: SelectCounts): Buffer {
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?><${name}><BytesScanned>${scanned}</BytesScanned>` +
      `<BytesProcessed>${processed}</BytesProcessed><BytesReturned>${returned}</BytesReturned></${name}>`,
  );
}
