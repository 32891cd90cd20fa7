import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { EncryptionContext } from '../encryption/key-source.ts';
import type { BucketEncryption, ObjectEncryption, RequestedEncryption } from './object-layer.ts';

/** How a new object is encrypted, its key named. */
export interface ChosenEncryption {
  readonly scheme: ObjectEncryption['scheme'];
  readonly keyName: string;
  readonly context?: EncryptionContext;
}

/** The request's wish, else the bucket's default, else SSE-KMS where the server encrypts everything. Undefined is plain. */
export function decideEncryption(given: {
  readonly requested: RequestedEncryption | undefined;
  readonly bucketDefault: BucketEncryption | undefined;
  readonly autoEncryption: boolean;
  readonly defaultKey: string;
}): ChosenEncryption | undefined {
  const wish: RequestedEncryption | undefined =
    given.requested ?? given.bucketDefault ?? (given.autoEncryption ? { scheme: 'SSE-KMS' } : undefined);
  if (wish === undefined) return undefined;
  if (wish.scheme === 'SSE-S3') return { scheme: 'SSE-S3', keyName: given.defaultKey };
  const { context } = wish;
  if (context !== undefined && BUCKET_NAME in context) {
    throw new S3Error(
      'InvalidArgument',
      `The encryption context must not have the name ${BUCKET_NAME}: the server uses it.`,
    );
  }
  return { scheme: 'SSE-KMS', keyName: wish.keyName ?? given.defaultKey, ...(context && { context }) };
}

const BUCKET_NAME = 'coffer:bucket';

/** What a data key is bound to: the bucket, so that one data key serves many objects of it, and what the client gave. */
export function dataKeyContext(bucket: string, context: EncryptionContext | undefined): EncryptionContext {
  return { ...context, [BUCKET_NAME]: bucket };
}
