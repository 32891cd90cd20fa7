/**
 * Characters that change the direction of a text or that are invisible. A name with them can look like another one: `cod\u202Egpj.exe`
 * looks like `codexe.jpg`.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00A0\u115F\u1160\u2000-\u200A\u202F\u205F\u3000\u3164\uFFA0]/u;

/** A part of a name: text, or a hidden character by its code point. */
type NamePart = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'hidden'; readonly code: string };

/** Splits a name into its text and its hidden characters, so that the page can mark these. Unpaired surrogates count as hidden. */
export function nameParts(name: string): readonly NamePart[] {
  const parts: NamePart[] = [];
  let text = '';
  for (const character of name) {
    if (!isHidden(character)) {
      text += character;
      continue;
    }
    if (text !== '') parts.push({ kind: 'text', text });
    text = '';
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    parts.push({ kind: 'hidden', code: `U+${code}` });
  }
  if (text !== '') parts.push({ kind: 'text', text });
  return parts;
}

export function hasHidden(name: string): boolean {
  return hidden.test(name) || !name.isWellFormed();
}

function isHidden(character: string): boolean {
  return hidden.test(character) || !character.isWellFormed();
}

/** Shortens a long name in the middle, because its end, with the extension, identifies it as much as its beginning. */
export function shorten(name: string, max = 80): string {
  const characters = Array.from(name);
  if (characters.length <= max) return name;
  const end = Math.floor((max - 1) * 0.4);
  return `${characters.slice(0, max - 1 - end).join('')}…${characters.slice(-end).join('')}`;
}

/** The two ends of a name. A line that is too short for the name shows all of its end, and of its beginning what fits. */
interface NameEnds {
  readonly head: string;
  readonly tail: string;
}

/** The number of characters of a name that fits in every line. */
const fits = 12;
/** The width of the end in characters: enough for an extension and some characters before it. */
const tailWidth = 9;
/** A hidden character shows as its code point. */
const hiddenWidth = 6;

/** Splits a long name into its ends; undefined for a short one. It cuts no character in two, of several code points either. */
export function nameEnds(name: string): NameEnds | undefined {
  if (name.length <= fits && !hasHidden(name)) return undefined;
  const characters = charactersOf(name);
  let width = 0;
  let start = characters.length;
  while (start > 0) {
    width += isHidden(characters[start - 1] ?? '') ? hiddenWidth : 1;
    if (width > tailWidth) break;
    start -= 1;
  }
  const head = characters.slice(0, start).join('');
  return head === '' ? undefined : { head, tail: characters.slice(start).join('') };
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

function charactersOf(name: string): readonly string[] {
  // Most names have characters of one code point alone, and a row of a long table takes less time then.
  if (/^[\u0020-\u02FF]*$/.test(name)) return Array.from(name);
  return Array.from(segmenter.segment(name), ({ segment }) => segment);
}
