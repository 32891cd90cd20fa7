import { checked } from './ciphertext.ts';
import type { Ciphertext } from './ciphertext.ts';
import { keyAlgorithms } from './key.ts';

/**
 * Reads the ciphertext of the 2023 releases, a MessagePack array of algorithm, key ID, iv, nonce and sealed bytes; undefined where
 * the bytes are not exactly that. Only the strings and byte strings of MessagePack occur in it.
 *
 * @see https://github.com/msgpack/msgpack/blob/master/spec.md
 */
export function readMessagePackCiphertext(data: Buffer): Ciphertext | undefined {
  const items: Buffer[] = [];
  let at = 1;
  for (let i = 0; i < 5; i++) {
    const item = readItem(data, at, i < 2 ? 'string' : 'bytes');
    if (item === undefined) return undefined;
    items.push(item.value);
    at = item.end;
  }
  const [name, id, iv, nonce, sealed] = items;
  if (at !== data.length || !name || !id || !iv || !nonce || !sealed) return undefined;
  const algorithm = keyAlgorithms.find((known) => known === name.toString('utf8'));
  if (algorithm === undefined) return undefined;
  return checked({ algorithm, ...(id.length === 0 ? {} : { keyId: id.toString('utf8') }), iv, nonce, sealed });
}

/** Writes what `readMessagePackCiphertext` reads: unlike the raw encoding it names the key, which tells one version from another. */
export function writeMessagePackCiphertext(parts: Required<Ciphertext>): Buffer {
  const { algorithm, keyId, iv, nonce, sealed } = parts;
  const strings = [algorithm, keyId].map((text) => item(0xd9, Buffer.from(text)));
  const byteStrings = [iv, nonce, sealed].map((bytes) => item(0xc4, bytes));
  return Buffer.concat([Buffer.from([0x95]), ...strings, ...byteStrings]);
}

/** `form` is that of lengths up to 255; the next two are those of 16 and 32 bits. */
function item(form: number, value: Buffer): Buffer {
  const width = value.length < 0x100 ? 1 : value.length < 0x10000 ? 2 : 4;
  const head = Buffer.alloc(1 + width);
  head[0] = form + (width === 4 ? 2 : width - 1);
  head.writeUIntBE(value.length, 1, width);
  return Buffer.concat([head, value]);
}

/** First bytes of the forms of each kind, by the width of the length that follows. */
const forms = {
  string: { 0xd9: 1, 0xda: 2, 0xdb: 4 },
  bytes: { 0xc4: 1, 0xc5: 2, 0xc6: 4 },
} as const satisfies Record<string, Readonly<Record<number, 1 | 2 | 4>>>;

function readItem(data: Buffer, at: number, kind: keyof typeof forms): { value: Buffer; end: number } | undefined {
  const first = data[at];
  if (first === undefined) return undefined;
  if (kind === 'string' && first >= 0xa0 && first <= 0xbf) return take(data, at + 1, first & 0x1f);
  const width = (forms[kind] as Readonly<Record<number, number>>)[first];
  if (width === undefined || at + 1 + width > data.length) return undefined;
  return take(data, at + 1 + width, data.readUIntBE(at + 1, width));
}

function take(data: Buffer, start: number, length: number): { value: Buffer; end: number } | undefined {
  const end = start + length;
  return end > data.length ? undefined : { value: data.subarray(start, end), end };
}
