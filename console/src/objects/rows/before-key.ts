/** Returns a text that sorts before the key and after nearly all keys before it, from where a listing begins with the key. */
export function beforeKey(key: string): string {
  const last = key.codePointAt(key.length - 1);
  if (last === undefined) return '';
  const isSurrogate = last >= 0xd8_00 && last <= 0xdf_ff;
  if (isSurrogate || last <= 0x21) return key.slice(0, isSurrogate ? -2 : -1);
  return `${key.slice(0, -1)}${String.fromCodePoint(last === 0xe0_00 ? 0xd7_ff : last - 1)}\u{10FFFF}`;
}
