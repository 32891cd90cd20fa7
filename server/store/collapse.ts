export interface Collapse {
  readonly prefix: Buffer;
  readonly delimiter: Buffer;
}

/**
 * Which group a key belongs to in a collapsing scan: its bytes up to and with the first delimiter after the prefix, within the part
 * that the prefix ends in (a delimiter inside a later part, such as a version's random bytes, divides nothing). Undefined when it
 * belongs to none.
 */
export function groupOf(key: Buffer, collapse: Collapse): Buffer | undefined {
  const end = endOfGroup(key, 0, key.length, collapse);
  return end === undefined ? undefined : key.subarray(0, end);
}

/**
 * Where the name of that group ends, of a key that is these bytes from `start` to `end`. A loop, since keys are short: each call of
 * `indexOf` or `compare` costs as much as looking at a hundred bytes.
 */
export function endOfGroup(
  bytes: Uint8Array,
  start: number,
  end: number,
  { prefix, delimiter }: Collapse,
): number | undefined {
  const { length } = delimiter;
  const from = start + prefix.length;
  if (length === 0 || from + length > end) return undefined;
  // From behind: keys that stand beside each other differ there.
  for (let at = prefix.length - 1; at >= 0; at -= 1) if (bytes[start + at] !== prefix[at]) return undefined;
  const first = delimiter[0];
  for (let at = from; at + length <= end; at += 1) {
    const byte = bytes[at];
    if (byte === first && isAt(bytes, at, delimiter)) return at + length;
    // The end of a part, as `keys.ts` writes it.
    if (byte === 0x00 && at + 1 < end && bytes[at + 1] === 0xfe) return undefined;
  }
  return undefined;
}

function isAt(bytes: Uint8Array, at: number, delimiter: Buffer): boolean {
  for (let index = 1; index < delimiter.length; index += 1) {
    if (bytes[at + index] !== delimiter[index]) return false;
  }
  return true;
}
