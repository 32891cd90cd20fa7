import type { IncomingHttpHeaders } from 'node:http';
import { contains, parseAddress, parseRange, type IpRange } from '../../../protocol/policy/ip-range.ts';

export interface ProxySettings {
  /** Addresses and ranges of the proxies whose word is taken. */
  readonly trusted: readonly string[];
  /** The header that they all set. A header that they pass on as it came is the client's own word. */
  readonly header: 'x-forwarded-for' | 'forwarded';
}

/** Where a request comes from. */
export interface Source {
  /** The client, as policies, limits, the log and the audit name it. */
  readonly address: string;
  /** A proxy that nobody trusts passed it on: many clients may share the address. */
  readonly shared: boolean;
  /** A trusted proxy says that the client reached it over TLS. */
  readonly encrypted: boolean;
}

export type FindSource = (peer: string | undefined, headers: IncomingHttpHeaders) => Source;

/** A request passes few proxies; whoever writes more hops into a header gets the last ones read. */
const mostHops = 32;

/**
 * Tells where requests come from. The header counts where the peer is a trusted proxy. It is read from its end, since each proxy appends
 * the address that it saw: the first that is no trusted proxy is the client. What stands before it the client wrote.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7239#section-5.2
 */
export function createSourceFinder(settings?: ProxySettings): FindSource {
  const ranges = (settings?.trusted ?? []).map(parseRange).filter((range) => range !== undefined);
  const read = settings?.header === 'forwarded' ? forwardedHops : forwardedForHops;
  return (peer, headers) => {
    const direct = plainAddress(peer ?? '');
    if (!isTrusted(ranges, direct)) return { address: direct, shared: isPassedOn(headers), encrypted: false };
    return { address: clientBehind(direct, read(headers), ranges), shared: false, encrypted: cameEncrypted(headers) };
  };
}

/** IPv4 clients of an IPv6 socket, as policies name them. */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}

function isTrusted(ranges: readonly IpRange[], text: string): boolean {
  if (ranges.length === 0) return false;
  const address = parseAddress(text);
  return address !== undefined && ranges.some((range) => contains(range, address));
}

function isPassedOn(headers: IncomingHttpHeaders): boolean {
  return ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'].some((name) => headers[name] !== undefined);
}

/** The last hop that could be read, where one that is no address ends the way back. */
function clientBehind(peer: string, hops: readonly string[], ranges: readonly IpRange[]): string {
  let client = peer;
  for (const hop of hops.toReversed()) {
    const address = plainAddress(withoutPort(hop));
    if (parseAddress(address) === undefined) return client;
    client = address;
    if (!isTrusted(ranges, address)) return client;
  }
  return client;
}

function forwardedForHops(headers: IncomingHttpHeaders): string[] {
  return lastParts(headers['x-forwarded-for']);
}

/** No address has a comma, so that a quoted one can only spoil what stands before the addresses that proxies appended. */
function forwardedHops(headers: IncomingHttpHeaders): string[] {
  return lastParts(headers.forwarded).map((hop) => /(?:^|;)\s*for\s*=\s*"?([^";]*)"?/i.exec(hop)?.[1] ?? '');
}

function lastParts(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return [value]
    .flat()
    .join(',')
    .split(',')
    .slice(-mostHops)
    .map((part) => part.trim());
}

/** `192.0.2.1:443`, `[2001:db8::1]:443`, `[2001:db8::1]`. */
function withoutPort(hop: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}

function cameEncrypted(headers: IncomingHttpHeaders): boolean {
  return lastParts(headers['x-forwarded-proto']).at(-1)?.toLowerCase() === 'https';
}
