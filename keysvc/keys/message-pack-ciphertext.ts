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
