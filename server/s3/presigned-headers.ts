import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { header } from './header.ts';
import type { Query } from './query.ts';

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
