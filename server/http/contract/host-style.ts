import { isIP } from 'node:net';
import type { HostStyle } from './request.ts';

/** The number of hosts whose result is cached. The finder also works for a host that is not cached. */
const maxCached = 64;

/**
 * Returns the function that finds out how the Host of a request addresses buckets; it returns undefined for path style.
 *
 * A name below one of `domains` (`SVC_DOMAIN`) is a bucket. `own` are further names of the server (`SVC_SERVER_URL`), and `localhost`
 * is always one. A name below those is refused: for a client of virtual-host style the server would take the first part of the key for a
 * bucket. The server accepts addresses and all other names for path style, since an ingress or a Service may use them.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
 */
export function createHostStyleFinder(
  domains: readonly string[],
  own: readonly string[] = [],
): (host: string | undefined) => HostStyle | undefined {
  // The longest name decides, if one is below another.
  const hosted = domains.map(hostName).toSorted((a, b) => b.length - a.length);
  const names = [...hosted, ...own.map(hostName)];
  const cache = new Map<string, HostStyle | undefined>();
  return (host) => {
    if (host === undefined) return undefined;
    const known = cache.get(host);
    if (known !== undefined || cache.has(host)) return known;
    const style = hostStyle(host, hosted, names);
    if (cache.size < maxCached) cache.set(host, style);
    return style;
  };
}

export function hostStyle(host: string, hosted: readonly string[], names: readonly string[]): HostStyle | undefined {
  // Two Host headers are joined by a comma, and proxies may read another one than this server.
  if (!/^[\w.~!$&'()*+;=%:@[\]-]*$/.test(host)) {
    return { kind: 'malformed', issue: 'The Host header must be one host name, with or without a port.' };
  }
  const name = hostName(host);
  if (names.includes(name) || isIP(name) !== 0) return undefined;
  const domain = hosted.find((one) => name.endsWith(`.${one}`));
  if (domain !== undefined) {
    const bucket = name.slice(0, -domain.length - 1);
    // Deployments of MinIO have this name for the server, and no bucket can have it.
    return bucket === 'minio' ? undefined : { kind: 'bucket', bucket };
  }
  const other =
    names.find((one) => name.endsWith(`.${one}`)) ?? (name.endsWith('.localhost') ? 'localhost' : undefined);
  return other === undefined ? undefined : { kind: 'unserved', issue: unserved(name, other) };
}

function unserved(name: string, domain: string): string {
  const own =
    domain === 'localhost' ? ` If "${name.slice(0, 255)}" is the server's own name, set SVC_DOMAIN to it.` : '';
  return (
    `The host "${name.slice(0, 255)}" names a bucket below "${domain}", and this server has no virtual hosts there. ` +
    `Use path style: ${domain}/bucket/key, or set SVC_DOMAIN=${domain}.${own}`
  );
}

/**
 * Returns the bucket that a host may name when the served names are unknown: the label before a name of three labels or before one like
 * `s3.example`.
 */
export function possibleBucketOf(host: string | undefined, served: readonly string[]): string | undefined {
  const name = hostName(host ?? '');
  if (isIP(name) !== 0 || name.startsWith('[') || served.some((one) => hostName(one) === name)) return undefined;
  const [bucket = '', ...rest] = name.split('.');
  // Services of a cluster have such names, and no buckets below them.
  if (rest.includes('svc')) return undefined;
  return rest.length > 2 || (rest.length === 2 && /^s3(?:-|$)/.test(rest[0] ?? '')) ? bucket : undefined;
}

/** Returns the host in lower case, without port and final dot. */
function hostName(host: string): string {
  return host.trim().toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}
