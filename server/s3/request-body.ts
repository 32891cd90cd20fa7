import { checksumAlgorithms, checksumSizes } from '../../protocol/s3/checksum-algorithms.ts';
import { S3Error, type S3ErrorCode } from '../../protocol/s3/s3-error.ts';
import type { S3Call } from './operation.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { AuthenticatedRequest } from '../auth/access.ts';
import type { Checksum, ExpectedDigests, GivenChecksum } from '../objects/contract/object-layer.ts';
import { header } from './request.ts';
import { readWholeBody } from '../http/contract/request.ts';
import { digestWhole } from '../objects/checksums/body-digests.ts';

/**
 * Returns the size of an upload's body in bytes.
 *
 * @throws S3Error MissingContentLength when the request does not declare it, EntityTooLarge above `max`
 */
export function uploadSize(call: S3Call, max: number): number {
  const { size } = call.auth;
  if (size === undefined) throw new S3Error('MissingContentLength');
  if (size <= max) return size;
  throw new S3Error('EntityTooLarge', undefined, {
    details: { ProposedSize: String(size), MaxSizeAllowed: String(max) },
  });
}

type Algorithm = Checksum['algorithm'];

/**
 * Reads the digests that the headers of an upload declare for its body.
 *
 * @throws S3Error InvalidRequest for a checksum in a header and another one in the trailer, of which one would not be compared
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
 */
export function expectedDigests(
  headers: IncomingHttpHeaders,
  trailing: AuthenticatedRequest['trailing'],
): ExpectedDigests {
  const md5 = contentMd5(headers);
  const checksum = givenChecksum(headers);
  if (checksum !== undefined && trailing !== undefined) {
    throw new S3Error('InvalidRequest', 'Expecting a single x-amz-checksum- header');
  }
  const compute = announcedAlgorithm(headers);
  return {
    ...(md5 === undefined ? {} : { md5 }),
    ...(checksum === undefined ? {} : { checksum }),
    ...(trailing === undefined ? {} : { trailing }),
    ...(checksum === undefined && trailing === undefined && compute !== undefined ? { compute } : {}),
  };
}

/** Reads the digests of a request's document, for requests whose checksum headers are those of an object. */
export function documentDigests(
  headers: IncomingHttpHeaders,
  trailing: AuthenticatedRequest['trailing'],
): ExpectedDigests {
  const md5 = contentMd5(headers);
  return { ...(md5 !== undefined && { md5 }), ...(trailing && { trailing }) };
}

/**
 * Reads Content-MD5.
 *
 * @throws S3Error InvalidDigest unless it is base64 of 16 bytes
 */
function contentMd5(headers: IncomingHttpHeaders): string | undefined {
  const md5 = header(headers, 'content-md5');
  if (md5 === undefined || isBase64(md5, 16)) return md5;
  throw new S3Error('InvalidDigest', undefined, { details: { 'Content-MD5': md5.slice(0, 100) } });
}

/**
 * Reads the checksum header. With `ofUpload` the object has several parts, and a composite checksum may end with their number.
 *
 * @throws S3Error InvalidRequest when it is invalid or there are several
 */
export function givenChecksum(headers: IncomingHttpHeaders, ofUpload = false): GivenChecksum | undefined {
  let found: GivenChecksum | undefined;
  for (const algorithm of checksumAlgorithms) {
    const value = header(headers, checksumHeader(algorithm));
    if (value === undefined) continue;
    if (found !== undefined) {
      throw new S3Error(
        'InvalidRequest',
        'Expecting a single x-amz-checksum- header. Multiple checksums are not allowed.',
      );
    }
    if (!isBase64(ofUpload ? value.replace(/-[0-9]{1,5}$/, '') : value, checksumSizes[algorithm])) {
      throw new S3Error('InvalidRequest', `Value for ${checksumHeader(algorithm)} header is invalid.`);
    }
    found = { algorithm, value };
  }
  return found;
}

/**
 * Reads `x-amz-checksum-type`.
 *
 * @throws S3Error InvalidRequest for another type
 */
export function givenChecksumType(headers: IncomingHttpHeaders): Checksum['type'] | undefined {
  const type = header(headers, 'x-amz-checksum-type')?.toUpperCase();
  if (type === undefined || type === 'FULL_OBJECT' || type === 'COMPOSITE') return type;
  throw new S3Error('InvalidRequest', 'Value for x-amz-checksum-type header is invalid.');
}

/** Reads `x-amz-checksum-algorithm` (CreateMultipartUpload, CopyObject) or the SDKs' `x-amz-sdk-checksum-algorithm`. */
export function announcedAlgorithm(headers: IncomingHttpHeaders): Algorithm | undefined {
  return checksumAlgorithmOf(headers) ?? algorithmNamed(header(headers, 'x-amz-sdk-checksum-algorithm'));
}

/** Reads `x-amz-checksum-algorithm`: the checksum that the server computes. */
export function checksumAlgorithmOf(headers: IncomingHttpHeaders): Algorithm | undefined {
  return algorithmNamed(header(headers, 'x-amz-checksum-algorithm'));
}

function algorithmNamed(name: string | undefined): Algorithm | undefined {
  if (name === undefined) return undefined;
  const found = checksumAlgorithms.find((algorithm) => algorithm === name.toUpperCase());
  if (found !== undefined) return found;
  throw new S3Error(
    'InvalidRequest',
    `Checksum algorithm provided is unsupported. Please try again with any of the valid types: [${checksumAlgorithms.join(', ')}]`,
  );
}

/**
 * Checks that the checksum which `x-amz-sdk-checksum-algorithm` announces came as a header, or is announced as a trailer.
 *
 * @throws S3Error InvalidRequest with the text of AWS
 */
export function checkChecksumAlgorithm(value: string, { request, auth }: Pick<S3Call, 'request' | 'auth'>): void {
  const algorithm = announcedAlgorithm({ 'x-amz-sdk-checksum-algorithm': value });
  if (algorithm === undefined || auth.trailing?.algorithm === algorithm) return;
  if (request.headers[checksumHeader(algorithm)] !== undefined) return;
  // The SDK for JavaScript sends MD5 under its old name.
  if (algorithm === 'MD5' && request.headers['content-md5'] !== undefined) return;
  const another =
    auth.trailing !== undefined || checksumAlgorithms.some((one) => request.headers[checksumHeader(one)] !== undefined);
  throw new S3Error(
    'InvalidRequest',
    another
      ? 'Value for x-amz-sdk-checksum-algorithm header is invalid.'
      : 'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.',
  );
}

/** The name of the header of a checksum, e.g. `x-amz-checksum-crc32`. */
export function checksumHeader(algorithm: Algorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

/** The name of the element of a checksum in XML answers, e.g. `ChecksumCRC32`. */
export function checksumElement(algorithm: Algorithm): string {
  return `Checksum${algorithm}`;
}

/** Returns the headers for a checksum; none without one. */
export function checksumHeaders(checksum: Checksum | undefined): Record<string, string> {
  if (checksum === undefined) return {};
  return { [checksumHeader(checksum.algorithm)]: checksum.value, 'x-amz-checksum-type': checksum.type };
}

function isBase64(text: string, bytes: number): boolean {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
  const decoded = Buffer.from(text, 'base64');
  return decoded.length === bytes && decoded.toString('base64') === text;
}

/**
 * Reads the whole body of a request that carries a document.
 *
 * @throws S3Error MalformedXML, or `code`, above `maxBytes`, BadDigest when Content-MD5 or a checksum differs
 */
export async function readDocument(
  call: S3Call,
  maxBytes: number,
  code: S3ErrorCode = 'MalformedXML',
  expected: ExpectedDigests = expectedDigests(call.request.headers, call.auth.trailing),
): Promise<Buffer> {
  const tooLarge = () => new S3Error(code, `The document must not be larger than ${maxBytes} bytes.`);
  if ((call.auth.size ?? 0) > maxBytes) throw tooLarge();
  const document = await readWholeBody(call.auth.body, { maxBytes, tooLarge });
  digestWhole(document, expected, { md5: false, sum: false });
  return document;
}
