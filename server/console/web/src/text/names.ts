/**
 * Characters that change the direction of a text or that are invisible. A name with them can look like another one: `cod\u202Egpj.exe`
 * looks like `codexe.jpg`.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00A0\u115F\u1160\u2000-\u200A\u202F\u205F\u3000\u3164\uFFA0]/u;

/** A part of a name: text, or a hidden character by its code point. */
export type NamePart =
  { readonly kind: 'text'; readonly text: string } | { readonly kind: 'hidden'; readonly code: string };

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
