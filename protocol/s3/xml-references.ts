import { S3Error } from './s3-error.ts';

const predefined: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** The maximum number of characters between `&` and `;`: `#x10FFFF` and leading zeros fit. */
const maxNameLength = 10;

/** Replaces the five named entities and character references. Any other reference is refused, so that nothing can expand. */
export function resolveReferences(text: string): string {
  let resolved = '';
  let at = 0;
  for (let start = text.indexOf('&'); start >= 0; start = text.indexOf('&', at)) {
    // The search covers only the next characters: otherwise a text of `&` alone would be searched to its end for each `&`.
    const name = text.slice(start + 1, start + maxNameLength + 2);
    const length = name.indexOf(';');
    const character = length < 0 ? undefined : (namedCharacter(name.slice(0, length)) ?? numbered(name, length));
    if (character === undefined) throw unknownReference(name);
    resolved += text.slice(at, start) + character;
    at = start + length + 2;
  }
  return resolved + text.slice(at);
}

function namedCharacter(name: string): string | undefined {
  return Object.hasOwn(predefined, name) ? predefined[name] : undefined;
}

/** Reads `#65;` and `#x41;`. */
function numbered(name: string, length: number): string | undefined {
  if (name[0] !== '#') return undefined;
  const base = name[1] === 'x' ? 16 : 10;
  const first = base === 16 ? 2 : 1;
  if (length === first) return undefined;
  let point = 0;
  for (let at = first; at < length; at += 1) {
    const digit = digitOf(name.charCodeAt(at));
    if (digit >= base) return undefined;
    point = point * base + digit;
  }
  const surrogate = point >= 0xd800 && point <= 0xdfff;
  return point > 0x10_ffff || surrogate ? undefined : String.fromCodePoint(point);
}

function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : Number.POSITIVE_INFINITY;
}

function unknownReference(name: string): S3Error {
  const shown = /^[^;&]*;?/.exec(name)?.[0] ?? '';
  return new S3Error('MalformedXML', `The XML you provided was not well-formed: "&${shown}" is no known reference.`);
}
