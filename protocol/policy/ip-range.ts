interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** Whether an address is in a range: `10.0.0.0/8`, `2001:db8::/32`, or one address. An IPv4 address written as IPv6 is IPv4. */
export function isInRange(address: string, range: string): boolean {
  const one = parseAddress(address);
  const other = parseRange(range);
  if (one === undefined || other === undefined || one.bits !== other.bits) return false;
  const shift = BigInt(one.bits - other.prefix);
  return one.value >> shift === other.value >> shift;
}

/** Undefined where the text is no range. */
export function parseRange(text: string): (Address & { readonly prefix: number }) | undefined {
  const [written = '', length, more] = text.split('/');
  const address = parseAddress(written);
  if (address === undefined || more !== undefined) return undefined;
  if (length === undefined) return { ...address, prefix: address.bits };
  if (!/^\d{1,3}$/.test(length) || Number(length) > address.bits) return undefined;
  return { ...address, prefix: Number(length) };
}

function parseAddress(text: string): Address | undefined {
  const mapped = /^::ffff:([\d.]+)$/i.exec(text)?.[1];
  const value = parseIpv4(mapped ?? text);
  if (value !== undefined) return { bits: 32, value };
  const long = parseIpv6(text);
  return long === undefined ? undefined : { bits: 128, value: long };
}

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255)) return undefined;
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function parseIpv6(text: string): bigint | undefined {
  const [head = '', tail, more] = text.split('::');
  if (more !== undefined) return undefined;
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const all = [...before, ...Array.from({ length: missing }, () => '0'), ...after];
  if (!all.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return all.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':');
}
