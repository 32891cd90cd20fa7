/**
 * Keys are tuples of parts, encoded so that the order of the bytes is the order of the tuples: part by part, each part by its
 * bytes (for text: its UTF-8), a tuple before the longer ones that begin with it.
 *
 * Each part ends with 00 FE; a zero byte inside a part is written 00 FF. So the end of a part sorts before anything that could
 * continue it (`a!` never sorts into `a`'s versions), and since neither FE nor FF occurs in UTF-8, no text, a listing's delimiter
 * for example, is ever found across the end of a part.
 */
import { StoreError } from './store-error.ts';
import type { Key } from './record-store.ts';

export type KeyPart = string | Uint8Array;

const TERMINATOR = 0x00_fe;
const terminator = Buffer.from([0x00, 0xfe]);
const escapedZero = Buffer.from([0x00, 0xff]);

/** The maximum length of a key in bytes. */
export const KEY_LIMIT = 1900;

/** Throws `RangeError` for a key that is empty or too long. */
export function checkKey(key: Key): void {
  if (key.length === 0 || key.length > KEY_LIMIT) {
    throw new RangeError(`a key of ${key.length} bytes is not between 1 and ${KEY_LIMIT} bytes long`);
  }
}

/**
 * Encodes a tuple as a key. Throws `StoreError` invalid-key for text that is not well-formed Unicode, since two such texts could become one key.
 *
 * @example
 *     key('object', 'photos', '2026/cat.jpg')
 */
export function key(...parts: readonly KeyPart[]): Key {
  let size = 0;
  for (const part of parts) {
    if (!isPlain(part)) return anyKey(parts);
    size += (typeof part === 'string' ? Buffer.byteLength(part) : part.length) + terminator.length;
  }
  // Each request makes some keys. Concatenating the parts would cost twice as much as writing them in place.
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const part of parts) {
    if (typeof part === 'string') {
      at += bytes.write(part, at);
    } else {
      bytes.set(part, at);
      at += part.length;
    }
    at = bytes.writeUInt16BE(TERMINATOR, at);
  }
  return bytes;
}

/** Reports if a part needs no escapes in a key. */
function isPlain(part: KeyPart): boolean {
  return typeof part === 'string' ? !part.includes('\0') && part.isWellFormed() : !part.includes(0);
}

function anyKey(parts: readonly KeyPart[]): Key {
  const encoded: Buffer[] = [];
  for (const part of parts) encoded.push(escape(part), terminator);
  return Buffer.concat(encoded);
}

/** Returns the common prefix of all keys that begin with these parts. With `endOf` it bounds their range. */
export function prefixOf(...parts: readonly KeyPart[]): Buffer {
  return key(...parts);
}

/** Returns the common prefix of all keys that begin with these parts, where the last one may be only the beginning of a part. */
export function partialPrefix(...parts: readonly [...KeyPart[], KeyPart]): Buffer {
  const last = parts[parts.length - 1] ?? '';
  return Buffer.concat([key(...parts.slice(0, -1)), escape(last)]);
}

/** Escapes a part as it is inside a key. A collapsing scan needs this for its delimiter. */
export function escape(part: KeyPart): Buffer {
  const bytes = typeof part === 'string' ? utf8(part) : Buffer.from(part.buffer, part.byteOffset, part.byteLength);
  if (!bytes.includes(0)) return bytes;
  const chunks: Buffer[] = [];
  let from = 0;
  for (let zero = bytes.indexOf(0); zero !== -1; zero = bytes.indexOf(0, from)) {
    chunks.push(bytes.subarray(from, zero), escapedZero);
    from = zero + 1;
  }
  chunks.push(bytes.subarray(from));
  return Buffer.concat(chunks);
}

/** Returns the first key after this one. The next page of a listing starts there. */
export function after(key: Key): Buffer {
  return Buffer.concat([key, Buffer.of(0)]);
}

/** Returns the first key after all keys with this prefix: an exclusive end, or the start of a listing after a group. */
export function endOf(prefix: Buffer): Buffer {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length -= 1;
  // A prefix of FF alone: only a key longer than all keys sorts after its keys.
  if (length === 0) return Buffer.alloc(KEY_LIMIT + 1, 0xff);
  const end = Buffer.from(prefix.subarray(0, length));
  end[length - 1] = (end[length - 1] ?? 0) + 1;
  return end;
}

/** Returns the range of all keys that begin with these parts. */
export function within(...parts: readonly KeyPart[]): { readonly start: Buffer; readonly end: Buffer } {
  const start = prefixOf(...parts);
  return { start, end: endOf(start) };
}

/** Decodes the parts of a key. Throws `StoreError` invalid-key for bytes that `key()` cannot have made. */
export function decodeKey(key: Key): Buffer[] {
  const { parts, rest } = decode(key);
  if (rest !== undefined) throw new StoreError('invalid-key', `key ${key.toString('hex')} ends inside a part`);
  return parts;
}

/**
 * Returns the text of the part that begins at this byte of a key. A listing knows the parts before it and does not decode them. Throws
 * as `decodeKey` does.
 */
export function textAt(key: Key, start: number): string {
  const end = key.indexOf(0, start);
  if (end !== -1 && key[end + 1] === 0xfe) return key.toString('utf8', start, end);
  return String(decodeKey(key.subarray(start))[0]);
}

/** Decodes the parts of a prefix from `partialPrefix` or of a group of a collapsing scan. The last part may be incomplete. */
export function decodePrefix(prefix: Buffer): Buffer[] {
  const { parts, rest } = decode(prefix);
  return [...parts, rest ?? Buffer.alloc(0)];
}

function decode(key: Buffer): { parts: Buffer[]; rest: Buffer | undefined } {
  const parts: Buffer[] = [];
  let chunks: Buffer[] = [];
  let from = 0;
  for (let zero = key.indexOf(0); zero !== -1; zero = key.indexOf(0, from)) {
    const mark = key[zero + 1];
    if (mark === 0xff) {
      chunks.push(key.subarray(from, zero + 1));
    } else if (mark === 0xfe) {
      chunks.push(key.subarray(from, zero));
      parts.push(joined(chunks));
      chunks = [];
    } else {
      throw new StoreError(
        'invalid-key',
        `key ${key.toString('hex')} has a zero byte at ${zero} that neither ends nor escapes`,
      );
    }
    from = zero + 2;
  }
  if (from < key.length) chunks.push(key.subarray(from));
  return { parts, rest: chunks.length === 0 ? undefined : joined(chunks) };
}

/** Copies, so that a part outlives the buffer that it was read from. */
function joined(chunks: readonly Buffer[]): Buffer {
  return Buffer.concat(chunks);
}

function utf8(text: string): Buffer {
  if (!text.isWellFormed())
    throw new StoreError('invalid-key', 'a part of a key has half of a surrogate pair: it is not Unicode text');
  return Buffer.from(text, 'utf8');
}
