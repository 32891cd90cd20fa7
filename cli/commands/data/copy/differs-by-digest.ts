import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { parseTarget } from '../../../config/target.ts';
import type { EncryptionRules } from '../../../s3/encryption-rules.ts';
import { headObject } from '../../../s3/objects.ts';
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
  if (!digest.test(etag)) return false;
  const md5 = createHash('md5');
  for await (const bytes of createReadStream(path)) md5.update(bytes as Buffer);
  return md5.digest('hex') === etag;
}

async function hasDigest(
  context: Context,
  { bucket, key, display }: Entry,
  encryption: EncryptionRules,
): Promise<boolean> {
  const target = parseTarget(display, await context.aliases());
  if (target.kind === 'local') return false;
  const client = await context.client(target.alias);
  const head = await headObject(client, { bucket, key }, { headers: encryption.forKey(display) });
  const scheme = String(head.headers['x-amz-server-side-encryption'] ?? '');
  return !scheme.startsWith('aws:kms') && head.headers['x-amz-server-side-encryption-customer-algorithm'] === undefined;
}
