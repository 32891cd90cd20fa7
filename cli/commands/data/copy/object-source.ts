import type { IncomingHttpHeaders } from 'node:http';
import { displayName } from '../../../config/target.ts';
import type { EncryptionRules } from '../../../s3/encryption-rules.ts';
import { headObject } from '../../../s3/objects.ts';
import type { Context } from '../../context.ts';
import { type ByteSource, objectSource } from './byte-source.ts';
import type { FoundSource } from './find-sources.ts';

export type ObjectSource = Extract<FoundSource, { readonly kind: 'object' }>;

/** The name by which the flags of encryption find an object. */
export function nameOf({ target, key }: ObjectSource): string {
  return displayName(target, key);
}

/** Reads the headers of an object, with its checksum. */
export async function headOf(
  context: Context,
  source: ObjectSource,
  encryption: EncryptionRules,
): Promise<IncomingHttpHeaders> {
  const { key, versionId } = source;
  const { alias, bucket } = source.target;
  const headers = { ...encryption.forKey(nameOf(source)), 'x-amz-checksum-mode': 'ENABLED' };
  return (await headObject(await context.client(alias), { bucket, key, versionId }, { headers })).headers;
}

/** `onHeaders` receives the headers of each answer. */
export async function bytesOf(
  context: Context,
  source: ObjectSource,
  encryption: EncryptionRules,
  onHeaders?: (headers: IncomingHttpHeaders) => void,
): Promise<ByteSource> {
  const { alias, bucket } = source.target;
  const { key, versionId, etag, size } = source;
  const headers = encryption.forKey(nameOf(source));
  return objectSource(await context.client(alias), {
    bucket,
    key,
    versionId,
    etag,
    size,
    headers,
    ...(onHeaders && { onHeaders }),
  });
}
