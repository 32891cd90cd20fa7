import type { IncomingHttpHeaders } from 'node:http';
import { contains, parseAddress, parseRange, plainAddress, type IpRange } from '../../../protocol/policy/ip-range.ts';

export interface ProxySettings {
  /** Addresses and ranges of trusted proxies. */
  readonly trusted: readonly string[];
  /** The header that all these proxies set. If a proxy passes the client's header on, the client can forge it. */
  readonly header: 'x-forwarded-for' | 'forwarded';
}

/** The source of a request. */
export interface Source {
  /** The client's address for policies, limits, the log and the audit. */
  readonly address: string;
  /** A trusted proxy reports that the client used TLS. */
  readonly encrypted: boolean;
}

export type FindSource = (peer: string | undefined, headers: IncomingHttpHeaders) => Source;

/** Requests pass few proxies. Of more hops only the last ones are read. */
const maxHops = 32;

/**
 * Finds the source of requests. The header counts if the peer is a trusted proxy. It is read from its end, because each proxy appends the
 * address that it saw: the first address that is not a trusted proxy is the client. The client can forge what precedes it. What any other peer
 * sends in the header changes nothing, neither the address nor a limit.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7239#section-5.2
 */
export function createSourceFinder(settings?: ProxySettings): FindSource {
  const ranges = (settings?.trusted ?? []).map(parseRange).filter((range) => range !== undefined);
  const read = settings?.header === 'forwarded' ? forwardedHops : forwardedForHops;
  return (peer, headers) => {
    const direct = plainAddress(peer ?? '');
    if (!isTrusted(ranges, direct)) return { address: direct, encrypted: false };
    return { address: clientBehind(direct, read(headers), ranges), encrypted: cameEncrypted(headers) };
  };
}

function isTrusted(ranges: readonly IpRange[], text: string): boolean {
  if (ranges.length === 0) return false;
  const address = parseAddress(text);
  return address !== undefined && ranges.some((range) => contains(range, address));
}

/** Returns the last readable hop. A hop without an address ends the walk. */
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

/** Addresses have no commas, so a quoted comma can only break entries before those that proxies appended. */
function forwardedHops(headers: IncomingHttpHeaders): string[] {
  return lastParts(headers.forwarded).map((hop) => /(?:^|;)\s*for\s*=\s*"?([^";]*)"?/i.exec(hop)?.[1] ?? '');
}

function lastParts(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return [value]
    .flat()
    .join(',')
    .split(',')
    .slice(-maxHops)
    .map((part) => part.trim());
}

/** `192.0.2.1:443`, `[2001:db8::1]:443`, `[2001:db8::1]`. */
function withoutPort(hop: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop;
}

function cameEncrypted(headers: IncomingHttpHeaders): boolean {
  return lastParts(headers['x-forwarded-proto']).at(-1)?.toLowerCase() === 'https';
}
