/**
 * Decodes the encoded words of a metadata value: clients send characters beyond ASCII as `=?UTF-8?B?…?=` or `=?UTF-8?Q?…?=`, and S3 answers
 * them as they were sent. A word that cannot be decoded stays as it is.
 *
 * @see https://www.rfc-editor.org/rfc/rfc2047#section-2
 */
export function decodeWords(text: string): string {
  return (
    text
      // White space between two words is no part of the text.
      .replaceAll(/(=\?[\w-]+\?[bq]\?[^? ]*\?=)\s+(?==\?[\w-]+\?[bq]\?[^? ]*\?=)/gi, '$1')
      .replaceAll(/=\?([\w-]+)\?([bq])\?([^? ]*)\?=/gi, (word, charset: string, kind: string, content: string) => {
        const bytes = kind.toLowerCase() === 'b' ? base64Bytes(content) : quotedBytes(content);
        return (bytes && decoded(bytes, charset)) ?? word;
      })
  );
}

function decoded(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function base64Bytes(content: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function quotedBytes(content: string): Uint8Array {
  const text = content
    .replaceAll('_', ' ')
    .replaceAll(/=([\dA-F]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** A header is Latin-1. Other characters are written as S3 writes them: encoded words of RFC 2047. */
export function headerText(value: string): string {
  if (/^[\u0020-\u007E]*$/.test(value)) return value;
  const bytes = new TextEncoder().encode(value);
  return `=?UTF-8?B?${btoa(String.fromCodePoint(...bytes))}?=`;
}
