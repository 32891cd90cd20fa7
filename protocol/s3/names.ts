import { isIPv4 } from 'node:net';
import { S3Error } from './s3-error.ts';

const longestKey = 1_024;

/** The path of the admin API and health checks: as a bucket it would be out of reach. */
const reservedBuckets = new Set(['minio']);

/**
 * Why a bucket name is refused; undefined when it is good.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
 */
export function bucketNameProblem(name: string): string | undefined {
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

/** The name that was found good last: most requests name the bucket of the one before. */
let lastGood: string | undefined;

/** Throws S3Error InvalidBucketName saying what is wrong. */
export function checkBucketName(name: string): void {
  if (name === lastGood) return;
  const problem = bucketNameProblem(name);
  if (problem === undefined) {
    lastGood = name;
    return;
  }
  const shown = name.slice(0, 128);
  throw new S3Error('InvalidBucketName', `The bucket name "${shown}" ${problem}.`, { details: { BucketName: shown } });
}

/**
 * Throws KeyTooLongError or InvalidArgument. Keys are literal: `../x`, `.` and `a//b` are good names, since they are keys of
 * records and never become paths. NUL is refused, and text that has no UTF-8 form.
 */
export function checkObjectKey(key: string): void {
  if (key === '') throw new S3Error('InvalidArgument', 'The object key must not be empty.');
  if (!key.isWellFormed()) throw new S3Error('InvalidArgument', 'The object key is not valid UTF-8.');
  if (key.includes('\0')) throw new S3Error('InvalidArgument', 'The object key must not hold a NUL character.');
  // A UTF-16 unit is at most three bytes: the count is needed only between.
  if (key.length <= longestKey / 3) return;
  const bytes = Buffer.byteLength(key, 'utf8');
  if (bytes <= longestKey) return;
  throw new S3Error('KeyTooLongError', `The object key has ${bytes} bytes; at most ${longestKey} are allowed.`, {
    details: { Size: String(bytes), MaxSizeAllowed: String(longestKey) },
  });
}

/**
 * Bucket and key of a path-style request path, percent-decoded once and checked. `/` has neither.
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

function decode(raw: string): string {
  if (/^[\x21-\x24\x26-\x7e]*$/.test(raw)) return raw;
  try {
    return decodeURIComponent(raw.replaceAll(/[\x80-\xff]/g, escapeByte));
  } catch {
    throw new S3Error('InvalidURI', 'The path holds a broken percent escape, or bytes that are not valid UTF-8.');
  }
}

/** node:http gives bytes that a client did not encode as one character each. */
function escapeByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}
