import type { Expectation, RecordStore, Revision } from '../../store/record-store.ts';
import { recordKeys } from '../records/record-format.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { SealedKeys } from '../records/object-record.ts';
import type { CustomerKey } from '../../encryption/object-key.ts';
import type { EncryptionContext } from '../../encryption/key-source.ts';
import type { BucketEncryption, ObjectEncryption, RequestedEncryption } from '../contract/object-layer.ts';
import { findKeyUse, writeKeyUse, type KnownKeyUses } from '../records/key-use.ts';

interface KeyUseContext {
  readonly records: RecordStore;
  readonly clock: () => number;
  readonly random: (size: number) => Buffer;
  readonly keyUses: KnownKeyUses;
}

/** The maximum of key names in memory. Clients choose names, but only of keys that exist. */
const MAX_KNOWN = 10_000;

/**
 * Returns the expectation of a commit that its key is not being removed. Attempt 1 uses the revision that this thread has read before;
 * later attempts read it again. Throws `KMSNotFound` where the key is being removed.
 */
export async function guardKey(
  context: KeyUseContext,
  sealed: SealedKeys | undefined,
  attempt: number,
): Promise<readonly Expectation[]> {
  if (sealed === undefined || sealed.scheme === 'SSE-C') return [];
  const { keyName } = sealed;
  const known = attempt === 1 ? context.keyUses.get(keyName) : undefined;
  const revision = known ?? (await readUse(context, keyName));
  return [{ kind: 'revision', key: recordKeys.keyUse(keyName), revision }];
}

async function readUse({ records, clock, random, keyUses }: KeyUseContext, keyName: string): Promise<Revision> {
  for (;;) {
    const found = await findKeyUse(records, keyName);
    if (found === undefined) {
      // Concurrent first uses race to write this record, and all read the winner's.
      await writeKeyUse(records, keyName, undefined, { state: 'live', since: clock() }, random);
      continue;
    }
    if (found.use.state !== 'live') {
      keyUses.delete(keyName);
      throw new S3Error('KMSNotFound', `Invalid keyId: the key ${keyName} ${stateText[found.use.state]}`);
    }
    if (keyUses.size >= MAX_KNOWN) keyUses.clear();
    keyUses.set(keyName, found.revision);
    return found.revision;
  }
}

const stateText = {
  leaving: 'is being removed by an administrator; if the removal was interrupted, ask for it again.',
  gone: 'was removed by an administrator.',
} as const;

/** The encryption of a new object, with its key name or its key. */
export type ChosenEncryption =
  | {
      readonly scheme: 'SSE-S3' | 'SSE-KMS';
      readonly keyName: string;
      readonly context?: EncryptionContext;
      readonly bucketKey?: boolean;
    }
  | { readonly scheme: 'SSE-C'; readonly customerKey: CustomerKey };

/**
 * Returns the encryption of the request, else the default of the bucket, else SSE-KMS where the server encrypts everything. Undefined
 * means plain. Throws `AccessDenied` where the bucket blocks the requested encryption.
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
  // A request for SSE-KMS without a key name does not use the key of the bucket's default; AWS does the same.
  const bucketKey = wish.bucketKey ?? bucketDefault?.bucketKey;
  return {
    scheme: 'SSE-KMS',
    keyName: wish.keyName ?? defaultKey,
    ...(context && { context }),
    ...(bucketKey !== undefined && { bucketKey }),
  };
}

/**
 * Refuses to write an object with an encryption that the bucket blocks. Existing objects stay readable.
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
 * Reports if the ETag is the MD5 of the plaintext, which clients compare. Otherwise it is random, so that it reveals nothing about the
 * plaintext.
 */
export function hasPlainEtag(scheme: ObjectEncryption['scheme'] | undefined): boolean {
  return scheme === undefined || scheme === 'SSE-S3';
}

const BUCKET_NAME = 'coffer:bucket';

/**
 * Returns the context that a data key is bound to: the bucket, so that one data key serves many of its objects, and the context of the
 * client.
 */
export function dataKeyContext(bucket: string, context: EncryptionContext | undefined): EncryptionContext {
  return { ...context, [BUCKET_NAME]: bucket };
}
