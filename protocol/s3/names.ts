import { isIPv4 } from 'node:net';
import { S3Error } from './s3-error.ts';

const maxKeyBytes = 1_024;

/** The admin API and the health checks have this path, so no bucket may have the name. */
const reservedBuckets = new Set(['minio']);

/**
 * Says why a bucket name is not valid. Returns undefined for a valid name.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
 */
export function bucketNameError(name: string): string | undefined {
  if (name.length < 3 || name.length > 63) return 'must have 3 to 63 characters';
  if (!/^[a-z0-9.-]+$/.test(name)) return 'may hold only lower-case letters, digits, dots and hyphens';
  if (!/^[a-z0-9].*[a-z0-9]$/.test(name)) return 'must begin and end with a letter or digit';
  if (/\.\.|\.-|-\./.test(name)) return 'must not hold a dot beside a dot or hyphen';
  if (isIPv4(name)) return 'must not look like an IP address';
  if (name.startsWith('xn--') || name.startsWith('sthree-')) return 'must not begin with "xn--" or "sthree-"';
  if (name.endsWith('-s3alias') || name.endsWith('--ol-s3')) return 'must not end with "-s3alias" or "--ol-s3"';
  if (reservedBuckets.has(name)) return 'is reserved';
  return undefined;
}

/** Reports if a text has the form of a version ID: 32 hexadecimal digits, or `null`. */
export function isVersionId(text: string): boolean {
  return text === 'null' || /^[0-9a-f]{32}$/.test(text);
}

/** Reports if a version from another server may have this id: 1 to 255 characters of visible ASCII, as headers can carry them. */
export function isForeignVersionId(text: string): boolean {
  return /^[!-~]{1,255}$/.test(text) && orderOfMarker(text) === undefined;
}

/**
 * Returns the marker of a page that ends with a version from elsewhere: its place among the versions of the key, which is known also when the
 * version is gone.
 */
export function orderMarker(order: string): string {
  return `order-${order}`;
}

/** Returns the place that a marker names; undefined for the id of a version. */
export function orderOfMarker(marker: string): string | undefined {
  return /^order-([0-9a-f]{32})$/.exec(marker)?.[1];
}

/** Returns the id of a version as this server writes it: MinIO, which replicates to it, writes ids as UUIDs. */
export function plainVersionId(text: string): string {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text.replaceAll('-', '') : text;
}

/** The last valid name. Most requests name the bucket of the request before them. */
let lastGood: string | undefined;

/** Throws S3Error InvalidBucketName with the reason. */
export function checkBucketName(name: string): void {
  if (name === lastGood) return;
  const issue = bucketNameError(name);
  if (issue === undefined) {
    lastGood = name;
    return;
  }
  throw invalidBucketName(name, issue);
}

/** Buckets that older servers created may have these names. In AWS they are those of other kinds of buckets, and SDKs treat them so. */
const suffixesOfOtherBuckets = ['--x-s3', '--table-s3', '.mrap'];

/** Throws S3Error InvalidBucketName for the name of a new bucket which is that of another kind of bucket in AWS. */
export function checkNewBucketName(name: string): void {
  const suffix = suffixesOfOtherBuckets.find((one) => name.endsWith(one));
  if (suffix !== undefined) throw invalidBucketName(name, `must not end with "${suffix}"`);
}

function invalidBucketName(name: string, issue: string): S3Error {
  const shown = name.slice(0, 128);
  return new S3Error('InvalidBucketName', `The bucket name "${shown}" ${issue}.`, { details: { BucketName: shown } });
}

/**
 * Throws KeyTooLongError or InvalidArgument. A key is literal: `../x`, `.` and `a//b` are valid, because keys never become paths of files.
 * NUL and text without a UTF-8 form are not valid.
 */
export function checkObjectKey(key: string): void {
  if (key === '') throw new S3Error('InvalidArgument', 'The object key must not be empty.');
  if (!key.isWellFormed()) throw new S3Error('InvalidArgument', 'The object key is not valid UTF-8.');
  if (key.includes('\0')) throw new S3Error('InvalidArgument', 'The object key must not hold a NUL character.');
  // A UTF-16 unit takes at most three bytes, so a short key needs no count.
  if (key.length <= maxKeyBytes / 3) return;
  const bytes = Buffer.byteLength(key, 'utf8');
  if (bytes <= maxKeyBytes) return;
  throw new S3Error('KeyTooLongError', `The object key has ${bytes} bytes; at most ${maxKeyBytes} are allowed.`, {
    details: { Size: String(bytes), MaxSizeAllowed: String(maxKeyBytes) },
  });
}

/**
 * Splits a path-style request path into bucket and key, percent-decodes each once and checks both. `/` has neither.
 *
 * @throws S3Error InvalidURI, InvalidBucketName, KeyTooLongError, InvalidArgument
 */
export function parseResourcePath(rawPath: string): { readonly bucket?: string; readonly key?: string } {
  if (!rawPath.startsWith('/')) throw new S3Error('InvalidURI', `The path must begin with "/".`);
  const slash = rawPath.indexOf('/', 1);
  const bucket = decode(slash < 0 ? rawPath.slice(1) : rawPath.slice(1, slash));
  if (bucket === '') {
    if (rawPath === '/') return {};
    throw new S3Error('InvalidBucketName', 'The path names no bucket before the key.');
  }
  checkBucketName(bucket);
  const key = slash < 0 ? '' : decode(rawPath.slice(slash + 1));
  if (key === '') return { bucket };
  checkObjectKey(key);
  return { bucket, key };
}

/**
 * Returns the bucket that the host names, and the key that is the whole path, percent-decoded once. Checks both.
 *
 * @throws S3Error InvalidURI, InvalidBucketName, KeyTooLongError, InvalidArgument
 */
export function parseHostedPath(bucket: string, rawPath: string): { readonly bucket: string; readonly key?: string } {
  checkBucketName(bucket);
  const key = decode(rawPath.slice(1));
  if (key === '') return { bucket };
  checkObjectKey(key);
  return { bucket, key };
}

function decode(raw: string): string {
  if (/^[\x21-\x24\x26-\x7e]*$/.test(raw)) return raw;
  try {
    return decodeURIComponent(raw.replaceAll(/[\x80-\xff]/g, escapeByte));
  } catch {
    throw new S3Error('InvalidURI', 'The path holds a broken percent escape, or bytes that are not valid UTF-8.');
  }
}

/** node:http passes a byte that the client did not encode as one character. */
function escapeByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}
