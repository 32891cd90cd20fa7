/**
 * Normalizes a distinguished name, so that equal names are equal texts: types and values in lower case, no spaces around `,`, `=` and `+`,
 * one form of escapes, parts of a multi-valued name in order. Returns undefined if the text is not a DN.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4514
 */
export function normalizeDn(text: string): string | undefined {
  if (text.trim() === '' || !text.isWellFormed()) return undefined;
  const names: string[] = [];
  let parts: string[] = [];
  let at = 0;
  for (;;) {
    const part = readPart(text, at);
    if (part === undefined) return undefined;
    parts.push(`${part.type}=${part.value}`);
    const separator = text[part.end];
    if (separator !== '+') {
      names.push(parts.toSorted().join('+'));
      parts = [];
    }
    if (separator === undefined) return names.join(',');
    at = part.end + 1;
  }
}

interface Part {
  readonly type: string;
  readonly value: string;
  /** The position of the separator, or the end of the text. */
  readonly end: number;
}

const typeForm = /\s*([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)\s*=\s*/y;
const hexForm = /#((?:[0-9A-Fa-f]{2})+)\s*(?=[,;+]|$)/y;
const separators = new Set([',', ';', '+']);

function readPart(text: string, from: number): Part | undefined {
  typeForm.lastIndex = from;
  const type = typeForm.exec(text)?.[1]?.toLowerCase();
  if (type === undefined) return undefined;
  const begin = typeForm.lastIndex;
  hexForm.lastIndex = begin;
  const hex = hexForm.exec(text)?.[1];
  if (hex !== undefined) return { type, value: `#${hex.toLowerCase()}`, end: hexForm.lastIndex };
  const read = text[begin] === '"' ? readQuoted(text, begin + 1) : readString(text, begin);
  return read && { type, value: escape(fold(read.value)), end: read.end };
}

interface Read {
  readonly value: string;
  readonly end: number;
}

function readString(text: string, from: number): Read | undefined {
  const chunks: Buffer[] = [];
  // Trailing spaces count only if they are escaped.
  let kept = 0;
  let at = from;
  while (at < text.length && !separators.has(text[at] ?? '')) {
    const chunk = readCharacter(text, at);
    if (chunk === undefined) return undefined;
    chunks.push(chunk.bytes);
    if (chunk.escaped || chunk.bytes.toString() !== ' ') kept = chunks.length;
    at = chunk.end;
  }
  return decoded(chunks.slice(0, kept), at);
}

function readQuoted(text: string, from: number): Read | undefined {
  const chunks: Buffer[] = [];
  let at = from;
  while (text[at] !== '"') {
    const chunk = readCharacter(text, at);
    if (chunk === undefined) return undefined;
    chunks.push(chunk.bytes);
    at = chunk.end;
  }
  const end = at + 1 + (/^\s*/.exec(text.slice(at + 1))?.[0].length ?? 0);
  return end < text.length && !separators.has(text[end] ?? '') ? undefined : decoded(chunks, end);
}

function readCharacter(text: string, at: number): { bytes: Buffer; escaped: boolean; end: number } | undefined {
  const code = text.codePointAt(at);
  if (code === undefined) return undefined;
  const character = String.fromCodePoint(code);
  if (character !== '\\') return { bytes: Buffer.from(character), escaped: false, end: at + character.length };
  const pair = text.slice(at + 1, at + 3);
  if (/^[0-9A-Fa-f]{2}$/.test(pair)) return { bytes: Buffer.from(pair, 'hex'), escaped: true, end: at + 3 };
  const next = text[at + 1];
  if (next === undefined || !/[ "#+,;<=>\\]/.test(next)) return undefined;
  return { bytes: Buffer.from(next), escaped: true, end: at + 2 };
}

function decoded(chunks: readonly Buffer[], end: number): Read | undefined {
  const bytes = Buffer.concat(chunks);
  const value = bytes.toString();
  return Buffer.from(value).equals(bytes) ? { value, end } : undefined;
}

/** Directories compare names without regard to case and repeated spaces. */
function fold(value: string): string {
  return value.normalize('NFC').toLowerCase().replaceAll(/ +/g, ' ').trim();
}

function escape(value: string): string {
  return (
    value
      .replaceAll(/["+,;<=>\\]/g, String.raw`\$&`)
      // oxlint-disable-next-line no-control-regex -- they are what is escaped
      .replaceAll(/[\u0000-\u001f\u007f]/g, (one) => `\\${one.charCodeAt(0).toString(16).padStart(2, '0')}`)
      .replace(/^#/, String.raw`\#`)
  );
}

/** Returns the first value: `ann` for `uid=ann,ou=people`. */
export function firstValue(dn: string): string {
  return /^[^=]*=((?:\\.|[^,+\\])*)/.exec(dn)?.[1] ?? dn;
}
