/**
 * Which group a key belongs to in a collapsing scan: its bytes up to and with the first delimiter after the prefix, within the part
 * that the prefix ends in (a delimiter inside a later part, such as a version's random bytes, divides nothing). Undefined when it
 * belongs to none.
 */
export function groupOf(
  key: Buffer,
  collapse: { readonly prefix: Buffer; readonly delimiter: Buffer },
): Buffer | undefined {
  const { prefix, delimiter } = collapse;
  if (delimiter.length === 0 || !startsWith(key, prefix)) return undefined;
  const at = key.indexOf(delimiter, prefix.length);
  if (at === -1) return undefined;
  const endOfPart = key.indexOf(terminator, prefix.length);
  if (endOfPart !== -1 && endOfPart < at) return undefined;
  return key.subarray(0, at + delimiter.length);
}

/** As `keys.ts` writes it. */
const terminator = Buffer.from([0x00, 0xfe]);

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length >= prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
