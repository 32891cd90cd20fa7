import { crc32 } from 'node:zlib';

/** A message of an event stream. Its headers have texts as values. */
export interface EventMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Buffer;
}

/** Bytes of the lengths and their checksum, and of the checksum at the end. */
const preludeBytes = 12;
const trailerBytes = 4;
const maxMessageBytes = 24 * 1_024 * 1_024;
/** The type of a header whose value is a text. */
const textType = 7;

/**
 * Parses the messages of an event stream and checks their checksums.
 *
 * @throws Error for a damaged message or an incomplete one at the end
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html
 */
export async function* eventMessages(chunks: AsyncIterable<Buffer>): AsyncGenerator<EventMessage, void, undefined> {
  let waiting: Buffer[] = [];
  let length = 0;
  let needed = preludeBytes;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    length += chunk.length;
    if (length < needed) continue;
    let rest = Buffer.concat(waiting, length);
    for (;;) {
      needed = rest.length < preludeBytes ? preludeBytes : lengthOf(rest);
      if (rest.length < needed) break;
      yield parseMessage(rest.subarray(0, needed));
      rest = rest.subarray(needed);
    }
    waiting = [rest];
    ({ length } = rest);
  }
  if (length > 0) throw new Error('The answer of the server ends within a message');
}

function lengthOf(bytes: Buffer): number {
  const length = bytes.readUInt32BE(0);
  const isSound = crc32(bytes.subarray(0, 8)) === bytes.readUInt32BE(8);
  if (!isSound || length < preludeBytes + trailerBytes || length > maxMessageBytes) {
    throw new Error('The answer of the server has a damaged message');
  }
  return length;
}

function parseMessage(message: Buffer): EventMessage {
  const end = message.length - trailerBytes;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) {
    throw new Error('The answer of the server has a damaged message');
  }
  const headersEnd = preludeBytes + message.readUInt32BE(4);
  if (headersEnd > end) throw new Error('The answer of the server has a damaged message');
  return {
    headers: parseHeaders(message.subarray(preludeBytes, headersEnd)),
    payload: message.subarray(headersEnd, end),
  };
}

function parseHeaders(bytes: Buffer): Record<string, string> {
  const headers: [string, string][] = [];
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const name = bytes.toString('utf8', at + 1, nameEnd);
    if (bytes.readUInt8(nameEnd) !== textType) throw new Error('The answer of the server has an unknown header');
    const valueAt = nameEnd + 3;
    at = valueAt + bytes.readUInt16BE(nameEnd + 1);
    headers.push([name, bytes.toString('utf8', valueAt, at)]);
  }
  // An assignment to `__proto__` would make no property.
  return Object.fromEntries(headers);
}
