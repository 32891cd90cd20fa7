import { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { S3Call, PolicyContext } from '../operation.ts';
import { integerParameter } from '../request.ts';
import type { ObjectEncryption } from '../../objects/object-layer.ts';
import { encryptionContext, givenKey, requestedEncryption } from '../encryption-headers.ts';

export const maxPartNumber = 10_000;

export function uploadIdOf(call: S3Call): string {
  const uploadId = call.query.get('uploadId') ?? '';
  if (uploadId === '') throw new S3Error('NoSuchUpload');
  return uploadId;
}

/** @throws S3Error InvalidArgument for anything but 1 to 10,000 */
export function partNumberOf(call: S3Call): number {
  const text = call.query.get('partNumber');
  if (text === undefined || text === '') {
    throw new S3Error('InvalidArgument', 'This operation needs partNumber, a whole number from 1 to 10000.', {
      details: { ArgumentName: 'partNumber' },
    });
  }
  return integerParameter(call.query, 'partNumber', { min: 1, max: maxPartNumber, absent: 0 });
}

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

/**
 * Of a request that repeats what was said of the encryption when its upload began, as some clients do: it must be the same. What an upload
 * is encrypted with is fixed by then.
 *
 * @throws S3Error InvalidArgument where it differs, InvalidRequest for another key of the client
 */
export async function checkRepeatedEncryption(call: S3Call): Promise<void> {
  const asked = requestedEncryption(call);
  if (asked === undefined) return;
  const { bucket, key, query } = call;
  let begun: ObjectEncryption | undefined;
  try {
    begun = await call.objects.uploadEncryption(bucket, key, query.get('uploadId') ?? '', givenKey(asked));
  } catch (error) {
    // The operation itself knows what an upload is answered that is not there any more.
    if (error instanceof S3Error && error.code === 'NoSuchUpload') return;
    throw error;
  }
  const isSame =
    begun?.scheme === asked.scheme &&
    (asked.scheme !== 'SSE-KMS' ||
      begun.scheme !== 'SSE-KMS' ||
      asked.keyName === undefined ||
      asked.keyName === begun.keyName);
  if (isSame) return;
  throw new S3Error('InvalidArgument', 'The encryption differs from the one with which the upload began.', {
    details: { ArgumentName: 'x-amz-server-side-encryption' },
  });
}
