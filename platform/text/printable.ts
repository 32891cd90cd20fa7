/** Matches control characters, and those that change the direction of a text. */
export const hiddenCharacters = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/**
 * Escapes what could control a terminal or change the direction of its text: callers choose the names of keys and parts of messages.
 *
 * @example
 *     printable('a\u001b[2J'); // a\x1b[2J
 */
export function printable(text: string): string {
  return text.replaceAll(hiddenCharacters, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
  });
}
