/** A power cut leaves zeros in some file systems, and UTF-16 has them. No variable of a process can hold one. */
export const nulByte = 'a NUL byte: the file is damaged, or it is not UTF-8';

/** The character that Node puts in the place of each byte that is not UTF-8. */
const notUtf8 = '\uFFFD';

/** Cuts the line ends off the end of a value: those of Windows, of a file, and of a secret that was encoded with `echo`. */
export function withoutLineEnd(text: string): string {
  return text.replace(/[\r\n]+$/, '');
}

/** Returns the value of a Secret without what ends its line. Of several lines, such as a certificate, each belongs to it. */
export function secretLine(text: string): string {
  const line = withoutLineEnd(text);
  return line.includes('\n') ? text : line;
}

/** Reports if a text had bytes that are not UTF-8. Each of them became the same character, so that another secret would do as well. */
export function isDamaged(text: string): boolean {
  return text.includes(notUtf8);
}

/**
 * Reads a secret of one line: a password, a token or an address, without what ends its line. A text of several lines, such as a certificate, is
 * returned as it is.
 *
 * @throws Error with the reason why it cannot be meant
 */
export function secretText(text: string): string {
  if (text.includes('\0')) throw new Error(`has ${nulByte}`);
  if (isDamaged(text)) throw new Error('has bytes that are not UTF-8');
  const line = withoutLineEnd(text);
  if (line.includes('\n')) return text;
  if (line !== line.trim()) throw new Error('begins or ends with a blank: remove it, or choose another secret');
  return line;
}
