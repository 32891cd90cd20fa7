import { isUtf8 } from 'node:buffer';

/**
 * Encoded words of RFC 2047, in which S3 returns metadata that is not ASCII. All values here are header values as `node:http` has them,
 * with one character for each byte.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html#UserMetadata
 */
const encodedWord = /=\?([A-Za-z0-9-]+)\?([BbQq])\?([^?\s]*)\?=/g;
/** Blanks between two encoded words belong to neither. */
const betweenWords = /(=\?[A-Za-z0-9-]+\?[BbQq]\?[^?\s]*\?=)[ \t]+(?==\?[A-Za-z0-9-]+\?[BbQq]\?[^?\s]*\?=)/g;
const ascii = /^[\t -~]*$/;
/** A header loses the blanks at its ends. */
const blankEnd = /^[\t ]|[\t ]$/;
/** The bytes of text in a word: with its frame it has at most 75 characters. */
const maxWordBytes = 45;

/** Replaces encoded words by their text in UTF-8. A word that cannot be decoded stays as it is. */
export function decodeWords(value: string): string {
  if (!value.includes('=?')) return value;
  return value
    .replaceAll(betweenWords, '$1')
    .replaceAll(
      encodedWord,
      (word, charset: string, encoding: string, text: string) => decodeWord(charset, encoding, text) ?? word,
    );
}

function decodeWord(charset: string, encoding: string, text: string): string | undefined {
  const bytes = encoding.toUpperCase() === 'B' ? fromBase64(text) : fromQuoted(text);
  switch (charset.toUpperCase()) {
    case 'UTF-8':
    case 'US-ASCII':
      return bytes !== undefined && isUtf8(bytes) ? bytes.toString('latin1') : undefined;
    case 'ISO-8859-1':
      return bytes && Buffer.from(bytes.toString('latin1')).toString('latin1');
    default:
      return undefined;
  }
}

function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '') ? bytes : undefined;
}

function fromQuoted(text: string): Buffer | undefined {
  if (/=(?![0-9A-Fa-f]{2})/.test(text)) return undefined;
  const plain = text
    .replaceAll('_', ' ')
    .replaceAll(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(plain, 'latin1');
}

/**
 * Returns the header that `decodeWords` decodes to the value: ASCII as it is, unless a header would change it, and encoded words for any other
 * value. Bytes that are not UTF-8 are taken for ISO-8859-1.
 */
export function encodeWords(value: string): string {
  if (ascii.test(value) && !blankEnd.test(value) && decodeWords(value) === value) return value;
  const bytes = Buffer.from(value, 'latin1');
  const words: string[] = [];
  let word = '';
  for (const character of isUtf8(bytes) ? bytes.toString() : value) {
    if (Buffer.byteLength(word) + Buffer.byteLength(character) > maxWordBytes) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  words.push(word);
  return words.map((text) => `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`).join(' ');
}
