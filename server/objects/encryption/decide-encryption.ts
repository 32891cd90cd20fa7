import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { CustomerKey } from '../../encryption/object-key.ts';
import type { EncryptionContext } from '../../encryption/key-source.ts';
import type { BucketEncryption, ObjectEncryption, RequestedEncryption } from '../object-layer.ts';

/** How a new object is encrypted, its key named or given. */
export type ChosenEncryption =
  | {
      readonly scheme: 'SSE-S3' | 'SSE-KMS';
      readonly keyName: string;
      readonly context?: EncryptionContext;
      readonly bucketKey?: boolean;
    }
  | { readonly scheme: 'SSE-C'; readonly customerKey: CustomerKey };

/**
 * The request's wish, else the bucket's default, else SSE-KMS where the server encrypts everything. Undefined is plain. Throws
 * `AccessDenied` where the bucket blocks what the request asks for.
 */
export function decideEncryption(given: {
  readonly requested: RequestedEncryption | undefined;
  readonly bucketDefault: BucketEncryption | undefined;
  readonly autoEncryption: boolean;
  readonly defaultKey: string;
}): ChosenEncryption | undefined {
  const { requested, bucketDefault, autoEncryption, defaultKey } = given;
  checkBlocked(requested?.scheme, bucketDefault);
  const byDefault = bucketDefault?.scheme === 'none' ? undefined : bucketDefault;
  const wish: RequestedEncryption | undefined =
    requested ?? byDefault ?? (autoEncryption ? { scheme: 'SSE-KMS' } : undefined);
  if (wish === undefined || wish.scheme === 'SSE-C') return wish;
  if (wish.scheme === 'SSE-S3') return { scheme: 'SSE-S3', keyName: wish.keyName ?? defaultKey };
  const { context } = wish;
  if (context !== undefined && BUCKET_NAME in context) {
    throw new S3Error(
      'InvalidArgument',
      `The encryption context must not have the name ${BUCKET_NAME}: the server uses it.`,
    );
  }
  // The key of the bucket's default is not that of a request which asks for SSE-KMS and names none; AWS does the same.
  const bucketKey = wish.bucketKey ?? bucketDefault?.bucketKey;
  return {
    scheme: 'SSE-KMS',
    keyName: wish.keyName ?? defaultKey,
    ...(context && { context }),
    ...(bucketKey !== undefined && { bucketKey }),
  };
}

/**
 * Refuses to write what the bucket blocks; what was written before can be read on.
 *
 * @throws S3Error `AccessDenied`
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/blocking-unblocking-s3-c-encryption-gpb.html
 */
export function checkBlocked(
  scheme: ObjectEncryption['scheme'] | undefined,
  encryption: BucketEncryption | undefined,
): void {
  if (scheme !== 'SSE-C' || encryption?.blocked?.includes('SSE-C') !== true) return;
  throw new S3Error(
    'AccessDenied',
    'The bucket takes no objects under keys of clients (SSE-C): its BlockedEncryptionTypes say so. Its owner changes that by PutBucketEncryption.',
  );
}

/**
 * Whether the ETag is the MD5 of the plaintext, which clients compare. Otherwise it is random: whoever has it, or guesses the
 * plaintext, learns nothing.
 */
export function hasPlainEtag(scheme: ObjectEncryption['scheme'] | undefined): boolean {
  return scheme === undefined || scheme === 'SSE-S3';
}

const BUCKET_NAME = 'coffer:bucket';

/** What a data key is bound to: the bucket, so that one data key serves many objects of it, and what the client gave. */
export function dataKeyContext(bucket: string, context: EncryptionContext | undefined): EncryptionContext {
  return { ...context, [BUCKET_NAME]: bucket };
}
