import { S3Error } from '../../protocol/s3/s3-error.ts';
import { encryptionContext } from './encryption-headers.ts';
import type { PolicyContext, S3Call } from './operation.ts';

/**
 * For requests that belong to an upload under way: how its object will be encrypted, as if each of them said so. A policy that refuses
 * what is not encrypted would otherwise refuse every part, since parts come without these headers.
 */
export async function uploadContext({ objects, bucket, key, query }: S3Call): Promise<PolicyContext> {
  try {
    const encryption = await objects.uploadEncryption(bucket, key, query.get('uploadId') ?? '');
    return encryption === undefined ? {} : encryptionContext(encryption);
  } catch (error) {
    // A caller who may not write here must not learn which buckets and uploads there are: the operation itself says it.
    if (error instanceof S3Error && error.status === 404) return {};
    throw error;
  }
}
