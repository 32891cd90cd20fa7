import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { IncomingRequest } from '../http/contract/request.ts';
import { parseHostedPath, parseResourcePath, plainVersionId } from '../../protocol/s3/names.ts';

/** Returns a header's value, joined if it repeats; undefined if absent. */
export function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * Returns the bucket and the key of a request, decoded and checked. A request to the service has neither.
 *
 * @throws S3Error InvalidURI, InvalidBucketName, KeyTooLongError, InvalidArgument, and InvalidRequest for a host that names a bucket where
 * there are no virtual hosts
 */
export function resourceOf({ hostStyle, rawPath }: Pick<IncomingRequest, 'hostStyle' | 'rawPath'>): {
  readonly bucket?: string;
  readonly key?: string;
} {
  if (hostStyle === undefined) return parseResourcePath(rawPath);
  if (hostStyle.kind === 'bucket') return parseHostedPath(hostStyle.bucket, rawPath);
  throw new S3Error('InvalidRequest', hostStyle.issue);
}

/** The decoded query parameters. The first value of a repeated name counts, as in S3. */
export type Query = ReadonlyMap<string, string>;

const none: Query = new Map();

/**
 * Splits and decodes a query string without its `?`.
 *
 * @throws S3Error InvalidURI for invalid percent-encoding
 */
export function parseQuery(rawQuery: string): Query {
  if (rawQuery === '') return none;
  const query = new Map<string, string>();
  for (const pair of rawQuery.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    if (query.has(name)) continue;
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    query.set(name, name === 'versionId' ? plainVersionId(value) : value);
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
 * Reads an integer parameter. It returns `absent` if there is none.
 *
 * @throws S3Error InvalidArgument with the name and the value
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
  throw new S3Error('InvalidArgument', `Argument ${name} must be an integer between ${range.min} and ${range.max}`, {
    details: { ArgumentName: name, ArgumentValue: text.slice(0, 100) },
  });
}

/**
 * Refuses an empty version ID, which could be taken for the current version. The object layer checks all other ones.
 *
 * @throws S3Error InvalidArgument
 */
export function checkVersion(versionId: string | undefined): void {
  if (versionId !== '') return;
  throw new S3Error('InvalidArgument', 'Version id cannot be the empty string', {
    details: { ArgumentName: 'versionId', ArgumentValue: '' },
  });
}

/** The parameters of the signature of a presigned URL, in lower case. */
const signatureParameters: ReadonlySet<string> = new Set(
  'algorithm credential date expires signedheaders signature security-token content-sha256'
    .split(' ')
    .map((name) => `x-amz-${name}`),
);

/** The logs of each proxy would keep a key in a URL. */
const customerKeyParameter = /-server-side-encryption-customer-/;

/** The checksums of an empty body. */
const emptyBodyChecksums: ReadonlySet<string> = new Set([
  'AAAAAA==',
  'AAAAAAAAAAA=',
  '2jmj7l5rSw0yVb/vlWAYkK/YBwk=',
  '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  'z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
  '1B2M2Y8AsgTpgAmY7PhCfg==',
]);

/**
 * Reports if an SDK added the parameter when it presigned an upload without its body: the checksum of an empty body, and the algorithm. AWS
 * accepts such a URL for any body, and its SDKs make no others.
 */
function isForAbsentBody(name: string, value: string): boolean {
  if (name === 'x-amz-sdk-checksum-algorithm') return true;
  return name.startsWith('x-amz-checksum-') && emptyBodyChecksums.has(value);
}

/**
 * Returns the headers of a request together with those in the query of a presigned URL. SDKs move each `x-amz-` header there (checksums,
 * encryption, conditions), and the signature covers it. Without any, the result is `headers` itself.
 *
 * @throws S3Error InvalidRequest when query and header differ, or the query has what only a header may have
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
 */
export function headersWithPresigned(headers: IncomingHttpHeaders, query: Query): IncomingHttpHeaders {
  if (!isPresigned(query)) return headers;
  const isCarried = query.has('X-Amz-Signature') ? carriedByVersion4 : carriedByVersion2;
  let all: IncomingHttpHeaders | undefined;
  for (const [parameter, value] of query) {
    const name = parameter.toLowerCase();
    if (!isCarried(name) || isForAbsentBody(name, value)) continue;
    if (customerKeyParameter.test(name))
      throw rejected(parameter, 'must be sent as a header: a URL is no place for a key');
    // Node keeps headers as one character for each byte.
    const text = Buffer.from(value).toString('latin1').trim();
    // oxlint-disable-next-line no-control-regex -- they are what no header may hold
    if (/[\u0000-\u0008\u000A-\u001F\u007F]/.test(text)) throw rejected(parameter, 'holds control characters');
    all ??= { ...headers };
    const other = header(all, name);
    if (other !== undefined && other !== text) throw rejected(parameter, 'is given twice, with different values');
    all[name] = text;
  }
  return all ?? headers;
}

/** Reports if a query has a signature, of either version. */
function isPresigned(query: { has(name: string): boolean }): boolean {
  return query.has('X-Amz-Signature') || query.has('Signature');
}

function carriedByVersion4(name: string): boolean {
  return name.startsWith('x-amz-') && !signatureParameters.has(name);
}

/** A signature of version 2 covers these parameters as the headers that they name. */
function carriedByVersion2(name: string): boolean {
  if (name === 'x-amz-security-token' || name === 'x-amz-date') return false;
  return name.startsWith('x-amz-') || name === 'content-type' || name === 'content-md5';
}

function rejected(parameter: string, why: string): S3Error {
  return new S3Error('InvalidRequest', `${parameter.slice(0, 100)} of the presigned URL ${why}.`, {
    details: { ArgumentName: parameter.slice(0, 100) },
  });
}
