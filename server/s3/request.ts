import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { isIP } from 'node:net';

/** A header's value, joined where it repeats; undefined when absent. */
export function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Decoded query parameters. Where a name repeats the first counts, as in S3. */
export type Query = ReadonlyMap<string, string>;

const none: Query = new Map();

/** Splits and decodes a query string without its `?`. Throws InvalidURI for bad percent-encoding. */
export function parseQuery(rawQuery: string): Query {
  if (rawQuery === '') return none;
  const query = new Map<string, string>();
  for (const pair of rawQuery.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (!query.has(name)) query.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)));
  }
  return query;
}

function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new S3Error('InvalidURI', `The query "${text.slice(0, 200)}" is not valid percent-encoded UTF-8.`);
  }
}

/**
 * A whole number in a parameter; `absent` where there is none.
 *
 * @throws S3Error InvalidArgument naming the parameter and its value
 */
export function integerParameter(
  query: Query,
  name: string,
  range: { readonly min: number; readonly max: number; readonly absent: number },
): number {
  const text = query.get(name);
  if (text === undefined || text === '') return range.absent;
  const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  throw new S3Error('InvalidArgument', `${name} must be a whole number from ${range.min} to ${range.max}.`, {
    details: { ArgumentName: name, ArgumentValue: text.slice(0, 100) },
  });
}

/** Buckets are not versioned: each object is its own version `null`. @throws S3Error NoSuchVersion for any other */
export function checkVersion(versionId: string | undefined): void {
  if (versionId === undefined || versionId === 'null') return;
  if (versionId === '') throw new S3Error('InvalidArgument', 'Version id cannot be the empty string.');
  throw new S3Error('NoSuchVersion', undefined, { details: { VersionId: versionId.slice(0, 100) } });
}

/** What a presigned URL says of its signature, in lower case. */
const ofSignature: ReadonlySet<string> = new Set(
  'algorithm credential date expires signedheaders signature security-token content-sha256'
    .split(' ')
    .map((name) => `x-amz-${name}`),
);

/** A key in a URL ends in the logs of every proxy. */
const keyOfCustomer = /-server-side-encryption-customer-/;

/** Checksums of an empty body. */
const ofNothing: ReadonlySet<string> = new Set([
  'AAAAAA==',
  'AAAAAAAAAAA=',
  '2jmj7l5rSw0yVb/vlWAYkK/YBwk=',
  '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
]);

/**
 * What an SDK adds when it presigns an upload whose body it does not have: the checksum of nothing, and the algorithm. AWS takes what is
 * uploaded with such a URL, and its SDKs make no others.
 */
function isOfAbsentBody(name: string, value: string): boolean {
  if (name === 'x-amz-sdk-checksum-algorithm') return true;
  return name.startsWith('x-amz-checksum-') && ofNothing.has(value);
}

/**
 * The headers of a request with those that a presigned URL carries in its query: SDKs move every `x-amz-` header there, checksums,
 * encryption and conditions too, and the signature covers them as it covers headers. The same headers where there are none.
 *
 * @throws S3Error InvalidRequest where query and header differ, or the query says what only a header may
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 */
export function headersWithPresigned(headers: IncomingHttpHeaders, query: Query): IncomingHttpHeaders {
  if (!query.has('X-Amz-Signature')) return headers;
  let all: IncomingHttpHeaders | undefined;
  for (const [parameter, value] of query) {
    const name = parameter.toLowerCase();
    if (!name.startsWith('x-amz-') || ofSignature.has(name) || isOfAbsentBody(name, value)) continue;
    if (keyOfCustomer.test(name)) throw refused(parameter, 'must be sent as a header: a URL is no place for a key');
    // Headers hold one character for each byte.
    const text = Buffer.from(value).toString('latin1').trim();
    // oxlint-disable-next-line no-control-regex -- they are what no header may hold
    if (/[\u0000-\u0008\u000A-\u001F\u007F]/.test(text)) throw refused(parameter, 'holds control characters');
    all ??= { ...headers };
    const other = header(all, name);
    if (other !== undefined && other !== text) throw refused(parameter, 'is given twice, with different values');
    all[name] = text;
  }
  return all ?? headers;
}

function refused(parameter: string, why: string): S3Error {
  return new S3Error('InvalidRequest', `${parameter.slice(0, 100)} of the presigned URL ${why}.`, {
    details: { ArgumentName: parameter.slice(0, 100) },
  });
}

/**
 * Why the Host of a request cannot be taken for path style (`host/bucket/key`); undefined where it can.
 *
 * A client of the other style (`bucket.host/key`) would have the first part of its key taken for a bucket. It is noticed where the host
 * is below a name that is served (`SVC_DOMAIN`, `SVC_SERVER_URL`) or below `localhost`. Addresses and all other names are fine: they
 * are what an ingress gives the server.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
 */
type AddressStyleCheck = (host: string | undefined) => string | undefined;

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
