import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../../protocol/s3/s3-error.ts';
import { decodeWords, encodeWords } from './encoded-words.ts';
import { header } from './request.ts';

const metadataPrefix = 'x-amz-meta-';
/**
 * The limits of AWS: for names and values of user metadata together, and for all headers of a request that stores an object.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html
 */
const maxMetadataBytes = 2_048;
const maxHeaderBytes = 8_192;
/** The session tokens of this server are longer than those of AWS. */
const uncounted: ReadonlySet<string> = new Set(['authorization', 'x-amz-security-token']);

/**
 * Reads the metadata of an upload. Encoded words become text, as in S3.
 *
 * @throws S3Error RequestHeaderSectionTooLarge, MetadataTooLarge
 */
export function userMetadata(headers: IncomingHttpHeaders): Record<string, string> {
  const metadata: Record<string, string> = {};
  let bytes = 0;
  let all = 0;
  for (const name of Object.keys(headers)) {
    const text = header(headers, name) ?? '';
    if (!uncounted.has(name)) all += name.length + text.length;
    if (!name.startsWith(metadataPrefix)) continue;
    const value = decodeWords(text);
    bytes += name.length - metadataPrefix.length + value.length;
    // Defines an own property also for a name like __proto__.
    Object.defineProperty(metadata, name.slice(metadataPrefix.length), { value, enumerable: true, configurable: true });
  }
  if (all > maxHeaderBytes) throw tooLarge('RequestHeaderSectionTooLarge', all, maxHeaderBytes);
  if (bytes > maxMetadataBytes) throw tooLarge('MetadataTooLarge', bytes, maxMetadataBytes);
  return metadata;
}

function tooLarge(code: 'MetadataTooLarge' | 'RequestHeaderSectionTooLarge', size: number, max: number): S3Error {
  return new S3Error(code, undefined, { details: { Size: String(size), MaxSizeAllowed: String(max) } });
}

/** Adds the headers of user metadata. Values that no header can show, with control characters, are counted instead. */
export function addMetadataHeaders(headers: Record<string, string>, metadata: Readonly<Record<string, string>>): void {
  let missing = 0;
  for (const name of Object.keys(metadata)) {
    const value = metadata[name] ?? '';
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    if (/[\u0000-\u0008\u000A-\u001F\u007F]/.test(value)) missing += 1;
    else headers[metadataPrefix + name] = encodeWords(value);
  }
  if (missing > 0) headers['x-amz-missing-meta'] = String(missing);
}
