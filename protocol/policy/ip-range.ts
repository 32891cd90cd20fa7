/**
 * An address as groups of 16 bits: 2 for IPv4, 8 for IPv6. Numbers are fast to compare, and every request with such a condition compares
 * them.
 */
export type IpAddress = readonly number[];

export interface IpRange {
  readonly address: IpAddress;
  /** The number of leading bits that must be the same. */
  readonly prefix: number;
}

/**
 * Reports whether an address is in a range: `10.0.0.0/8`, `2001:db8::/32`, or one address. An IPv4 address written as IPv6 is IPv4.
 *
 * @example
 *     isInRange('10.1.2.3', '10.0.0.0/8'); // true
 */
export function isInRange(address: string, range: string): boolean {
  const one = parseAddress(address);
  const other = parseRange(range);
  return one !== undefined && other !== undefined && contains(other, one);
}

export function contains({ address, prefix }: IpRange, one: IpAddress): boolean {
  if (one.length !== address.length) return false;
  for (let group = 0, left = prefix; left > 0; group += 1, left -= 16) {
    const ignored = Math.max(0, 16 - left);
    if ((one[group] ?? 0) >> ignored !== (address[group] ?? 0) >> ignored) return false;
  }
  return true;
}

/** Parses a range. Returns undefined if the text is none. `::ffff:a00:0/104` is `10.0.0.0/8`. */
export function parseRange(text: string): IpRange | undefined {
  const [written = '', length, more] = text.split('/', 3);
  const address = parseGroups(written);
  if (address === undefined || more !== undefined) return undefined;
  const bits = address.length * 16;
  if (length !== undefined && (!/^\d{1,3}$/.test(length) || Number(length) > bits)) return undefined;
  const prefix = length === undefined ? bits : Number(length);
  return isMapped(address) && prefix >= mappedBits
    ? { address: address.slice(6), prefix: prefix - mappedBits }
    : { address, prefix };
}

/** Parses an address. Returns undefined if the text is none. An IPv4 address written as IPv6 has the groups of IPv4. */
export function parseAddress(text: string): IpAddress | undefined {
  const groups = parseGroups(text);
  return groups !== undefined && isMapped(groups) ? groups.slice(6) : groups;
}

/**
 * Returns the IPv4 address of an IPv4 client, however it is written as IPv6: on an IPv6 socket, or by a proxy. Another text is returned as it
 * is.
 *
 * @example
 *     plainAddress('::ffff:a00:1'); // 10.0.0.1
 */
export function plainAddress(text: string): string {
  if (!text.includes(':')) return text;
  const [high, low, more] = parseAddress(text) ?? [];
  if (high === undefined || low === undefined || more !== undefined) return text;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** The bits before the IPv4 address in `::ffff:10.0.0.1`. */
const mappedBits = 96;

/**
 * Reports whether IPv6 groups are an IPv4 address.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4291#section-2.5.5.2
 */
function isMapped(groups: IpAddress): boolean {
  return groups.length === 8 && groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
}

function parseGroups(text: string): IpAddress | undefined {
  // The longest address has 45 characters.
  if (text.length > 64) return undefined;
  const mapped = /^::ffff:([\d.]+)$/i.exec(text)?.[1];
  return parseIpv4(mapped ?? text) ?? parseIpv6(text);
}

function parseIpv4(text: string): IpAddress | undefined {
  const parts = text.split('.', 5);
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number);
  return [a * 256 + b, c * 256 + d];
}

function parseIpv6(text: string): IpAddress | undefined {
  const [head = '', tail, more] = text.split('::', 3);
  if (more !== undefined) return undefined;
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const all = [...before, ...Array.from({ length: missing }, () => '0'), ...after];
  return all.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? all.map((group) => Number.parseInt(group, 16))
    : undefined;
}

function groupsOf(part: string): string[] {
  return part === '' ? [] : part.split(':');
}
