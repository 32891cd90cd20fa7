const encodedPathAsItIs = /^[A-Za-z0-9\-._~/]*$/;
const encodedAsItIs = /^[A-Za-z0-9\-._~]*$/;

/** Matches a text whose escapes have upper-case digits. It may contain escapes that AWS would not write. */
const wellEscaped = /^(?:[A-Za-z0-9\-._~]|%[0-9A-F]{2})*$/;
const needlessEscape = /%(?:2[DE]|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/;

const encodedByte = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return encodedAsItIs.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

/** Percent-encodes UTF-8 as AWS does: everything but `A-Z a-z 0-9 - . _ ~`. */
export function percentEncode(text: string): string {
  if (encodedAsItIs.test(text)) return text;
  let encoded = '';
  for (const byte of Buffer.from(text, 'utf8')) encoded += encodedByte[byte];
  return encoded;
}

/** Encodes as `percentEncode`, but keeps `/`: for object keys in paths. */
export function percentEncodePath(path: string): string {
  return encodedPathAsItIs.test(path) ? path : path.split('/').map(percentEncode).join('/');
}

/**
 * Normalizes what a client sent to the one encoding that signatures cover: `%2d`, `-` and `%2D` all mean `-`. It works on bytes, so that a
 * path that is not UTF-8 still has a canonical form. A `%` that begins no escape is literal.
 */
export function reencode(
  sent: string,
  options: { readonly keepSlash: boolean; readonly plusIsSpace: boolean },
): string {
  if (options.keepSlash ? encodedPathAsItIs.test(sent) : wellEscaped.test(sent) && !needlessEscape.test(sent))
    return sent;
  let encoded = '';
  for (let at = 0; at < sent.length; at += 1) {
    let byte = sent.charCodeAt(at) & 0xff;
    if (byte === 0x25) {
      const escape = sent.slice(at + 1, at + 3);
      if (/^[0-9A-Fa-f]{2}$/.test(escape)) {
        byte = Number.parseInt(escape, 16);
        at += 2;
      }
    } else if (byte === 0x2b && options.plusIsSpace) {
      byte = 0x20;
    }
    encoded += byte === 0x2f && options.keepSlash ? '/' : encodedByte[byte];
  }
  return encoded;
}

/** Decodes percent escapes to text. Returns undefined if an escape is broken or the bytes are not UTF-8. */
export function percentDecode(sent: string): string | undefined {
  if (!sent.includes('%')) return sent;
  try {
    return decodeURIComponent(sent);
  } catch {
    return undefined;
  }
}
