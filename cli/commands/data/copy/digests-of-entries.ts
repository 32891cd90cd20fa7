import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { ResponseError } from '../../../../protocol/response-error.ts';
import { parseTarget } from '../../../config/target.ts';
import type { EncryptionRules } from '../../../s3/encryption-rules.ts';
import { isNotFound } from '../../../s3/error-of-status.ts';
import { headObject, type ObjectProperties } from '../../../s3/objects.ts';
import type { Context } from '../../context.ts';
import type { Entry } from '../entries/entry.ts';

/** The form of the ETag of an object that was stored by one request. */
const digest = /^[\da-f]{32}$/;

/**
 * Reports whether two objects of the same size have other bytes, by their ETags. An ETag is a digest of the bytes unless the object was stored in
 * parts, or is encrypted with a key of a key service or of the client; false then, as for files.
 */
export async function differsByDigest(
  context: Context,
  one: Entry,
  other: Entry,
  encryption: EncryptionRules,
): Promise<boolean> {
  if (!digest.test(one.etag) || !digest.test(other.etag) || one.etag === other.etag) return false;
  const digests = await Promise.all([one, other].map(async (entry) => hasDigest(context, entry, encryption)));
  return digests.every(Boolean);
}

/** Reports whether an ETag is the digest of the bytes of a file. */
export async function hasDigestOfFile(path: string, etag: string): Promise<boolean> {
  return digest.test(etag) && (await digestOf(path)).toString('hex') === etag;
}

/**
 * Reports whether a file has the bytes of an object of its size, by the ETag: the digest of the bytes, or of the digests of the parts. Undefined
 * where an ETag that differs tells nothing, and where the caller may not see what the object is.
 */
export async function hasBytesOf(
  context: Context,
  path: string,
  object: Entry,
  encryption: EncryptionRules,
): Promise<boolean | undefined> {
  if (await hasDigestOfFile(path, object.etag)) return true;
  if (await hasDigest(context, object, encryption)) return false;
  const parts = Number(/^[\da-f]{32}-(\d+)$/.exec(object.etag)?.[1]);
  if (Number.isNaN(parts)) return undefined;
  const first = await head(context, object, encryption, 1);
  if (first === undefined) return undefined;
  const { size } = first;
  // The last part alone may have another size.
  if (Math.ceil(object.size / size) !== parts) return undefined;
  const digests = createHash('md5');
  for (let start = 0; start < object.size; start += size) digests.update(await digestOf(path, start, start + size));
  if (`${digests.digest('hex')}-${parts}` === object.etag) return true;
  if (!isOfPlainBytes(first)) return undefined;
  const last = parts === 1 ? first : await head(context, object, encryption, parts);
  return last?.size === object.size - (parts - 1) * size ? false : undefined;
}

/** `end` is exclusive. */
async function digestOf(path: string, start = 0, end = Infinity): Promise<Buffer> {
  const md5 = createHash('md5');
  for await (const bytes of createReadStream(path, { start, end: end - 1 })) md5.update(bytes as Buffer);
  return md5.digest();
}

/** Reports whether the ETag of an object is known to be the digest of its bytes. */
async function hasDigest(context: Context, object: Entry, encryption: EncryptionRules): Promise<boolean> {
  if (!digest.test(object.etag) || object.bucket === '') return false;
  const found = await head(context, object, encryption);
  return found !== undefined && isOfPlainBytes(found);
}

/** Reports whether the digests of an ETag are those of the bytes, and not of what a key of a key service or of the client made of them. */
function isOfPlainBytes({ headers }: ObjectProperties): boolean {
  const scheme = String(headers['x-amz-server-side-encryption'] ?? '');
  return !scheme.startsWith('aws:kms') && headers['x-amz-server-side-encryption-customer-algorithm'] === undefined;
}

/** Undefined where the caller may not read the object, and where it is gone since it was listed. */
async function head(
  context: Context,
  { bucket, key, display }: Entry,
  encryption: EncryptionRules,
  partNumber?: number,
): Promise<ObjectProperties | undefined> {
  const target = parseTarget(display, await context.aliases());
  if (target.kind === 'local') throw new Error(`${display} is not on a server`);
  const headers = encryption.forKey(display);
  try {
    return await headObject(await context.client(target.alias), { bucket, key }, { headers, partNumber });
  } catch (error) {
    if (isNotFound(error) || (error instanceof ResponseError && error.status === 403)) return undefined;
    throw error;
  }
}
