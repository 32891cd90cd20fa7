import { isIP } from 'node:net';

/**
 * Why the Host of a request cannot be taken for path style (`host/bucket/key`); undefined where it can.
 *
 * A client of the other style (`bucket.host/key`) would have the first part of its key taken for a bucket. It is noticed where the host
 * is below a name that is served (`SVC_DOMAIN`, `SVC_SERVER_URL`) or below `localhost`. Addresses and all other names are fine: they
 * are what an ingress gives the server.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
 */
export type AddressStyleCheck = (host: string | undefined) => string | undefined;

/** Hosts whose answer is kept: a server has few names, and who sends others is answered all the same. */
const maxKept = 64;

export function createAddressStyleCheck(served: readonly string[]): AddressStyleCheck {
  const names = served.map(hostName);
  const kept = new Map<string, string | undefined>();
  return (host) => {
    if (host === undefined) return undefined;
    if (kept.has(host)) return kept.get(host);
    const problem = problemOf(hostName(host), names);
    if (kept.size < maxKept) kept.set(host, problem);
    return problem;
  };
}

/** The bucket that a host may name where no served name is known: the label before a name of three labels or one like `s3.example`. */
export function possibleBucketOf(host: string | undefined, served: readonly string[]): string | undefined {
  const name = hostName(host ?? '');
  if (isIP(name) !== 0 || name.startsWith('[') || served.some((one) => hostName(one) === name)) return undefined;
  const [bucket = '', ...rest] = name.split('.');
  // Services of a cluster have such names, and nothing below them.
  if (rest.includes('svc')) return undefined;
  return rest.length > 2 || (rest.length === 2 && /^s3(?:-|$)/.test(rest[0] ?? '')) ? bucket : undefined;
}

/** In lower case, without port and final dot. */
function hostName(host: string): string {
  return host.trim().toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

function problemOf(name: string, served: readonly string[]): string | undefined {
  if (served.includes(name) || isIP(name) !== 0) return undefined;
  const domain =
    served.find((one) => name.endsWith(`.${one}`)) ?? (name.endsWith('.localhost') ? 'localhost' : undefined);
  if (domain === undefined) return undefined;
  const remedy = domain === 'localhost' ? ` If "${name}" is the server's own name, set SVC_DOMAIN=${name}.` : '';
  return (
    `The host "${name.slice(0, 255)}" names a bucket below "${domain}", and virtual-host style addresses are not supported. ` +
    `Use path style: ${domain}/bucket/key.${remedy}`
  );
}
