import { type KeyAlgorithm, keyAlgorithms } from './key.ts';

export const ivBytes = 16;
export const nonceBytes = 12;
export const tagBytes = 16;

/** The parts of a ciphertext, independent of its encoding. */
interface Ciphertext {
  /** Absent where the encoding does not have it. Then the key decides. */
  readonly algorithm?: KeyAlgorithm;
  /** Absent where the encoding does not have it. */
  readonly keyId?: string;
  readonly iv: Buffer;
  readonly nonce: Buffer;
  /** Ciphertext and tag. */
  readonly sealed: Buffer;
}

/** Writes the raw encoding of the later releases: ciphertext, tag, iv, nonce. */
export function writeCiphertext(parts: Pick<Ciphertext, 'iv' | 'nonce' | 'sealed'>): Buffer {
  return Buffer.concat([parts.sealed, parts.iv, parts.nonce]);
}

/** Undefined where a part has a wrong length. */
function checked(parts: Ciphertext): Ciphertext | undefined {
  const fits = parts.iv.length === ivBytes && parts.nonce.length === nonceBytes && parts.sealed.length >= tagBytes;
  return fits ? parts : undefined;
}

/**
 * Reads the ciphertext of the releases of 2023: a MessagePack array of algorithm, key ID, iv, nonce and sealed bytes. Undefined for other
 * bytes. It supports only the strings and byte strings of MessagePack.
 *
 * @see https://github.com/msgpack/msgpack/blob/master/spec.md
 */
function readMessagePackCiphertext(data: Buffer): Ciphertext | undefined {
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
  return checked({ algorithm, keyId: id.toString('utf8') || undefined, iv, nonce, sealed });
}

/** Writes the same encoding. It names the key, which identifies the version; the raw encoding does not. */
export function writeMessagePackCiphertext(parts: Required<Ciphertext>): Buffer {
  const { algorithm, keyId, iv, nonce, sealed } = parts;
  const strings = [algorithm, keyId].map((text) => item(0xd9, Buffer.from(text)));
  const byteStrings = [iv, nonce, sealed].map((bytes) => item(0xc4, bytes));
  return Buffer.concat([Buffer.from([0x95]), ...strings, ...byteStrings]);
}

/** `form` is the one for lengths up to 255; the next two are those of 16 and 32 bits. */
function item(form: number, value: Buffer): Buffer {
  const width = value.length < 0x100 ? 1 : value.length < 0x10000 ? 2 : 4;
  const head = Buffer.alloc(1 + width);
  head[0] = form + (width === 4 ? 2 : width - 1);
  head.writeUIntBE(value.length, 1, width);
  return Buffer.concat([head, value]);
}

/** The first byte of each form, with the size of the length that follows. */
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

/**
 * Reads any of the three encodings: JSON (the oldest), MessagePack (2023), raw (later). Raw bytes are random and may begin like the others,
 * so that bytes which do not parse completely are raw. Undefined where they are too short.
 */
export function parseCiphertext(data: Buffer): Ciphertext | undefined {
  const structured =
    data[0] === 0x7b ? readJsonCiphertext(data) : data[0] === 0x95 ? readMessagePackCiphertext(data) : undefined;
  return structured ?? readRaw(data);
}

function readRaw(data: Buffer): Ciphertext | undefined {
  const end = data.length - ivBytes - nonceBytes;
  if (end < tagBytes) return undefined;
  return { sealed: data.subarray(0, end), iv: data.subarray(end, end + ivBytes), nonce: data.subarray(end + ivBytes) };
}

const jsonAlgorithms: Readonly<Record<string, KeyAlgorithm>> = {
  'AES-256-GCM-HMAC-SHA-256': 'AES256-GCM_SHA256',
  ChaCha20Poly1305: 'XCHACHA20-POLY1305',
};

function readJsonCiphertext(data: Buffer): Ciphertext | undefined {
  let json: unknown;
  try {
    json = JSON.parse(data.toString('utf8'));
  } catch {
    return undefined;
  }
  const { aead, id, iv, nonce, bytes } = json as Record<string, unknown>;
  const algorithm = typeof aead === 'string' ? jsonAlgorithms[aead] : undefined;
  if (algorithm === undefined) return undefined;
  if (typeof iv !== 'string' || typeof nonce !== 'string' || typeof bytes !== 'string') return undefined;
  return checked({
    algorithm,
    keyId: typeof id === 'string' && id !== '' ? id : undefined,
    iv: Buffer.from(iv, 'base64'),
    nonce: Buffer.from(nonce, 'base64'),
    sealed: Buffer.from(bytes, 'base64'),
  });
}
